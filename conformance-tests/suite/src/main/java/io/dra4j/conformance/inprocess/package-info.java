// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * A driver in this JVM, made of a provider and the SDK's runtime: for the tests of vendors who build with the SDK. The
 * rest of the suite does not use the SDK.
 *
 * <p>Flow: the vendor's provider → {@link io.dra4j.conformance.inprocess.ProviderDriver} → the test context.
 */
@NullMarked
package io.dra4j.conformance.inprocess;

import org.jspecify.annotations.NullMarked;
