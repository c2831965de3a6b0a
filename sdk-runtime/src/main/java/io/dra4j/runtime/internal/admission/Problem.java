// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

/** A reason to refuse an object, and the field that it is about. */
record Problem(String field, String message) {}
