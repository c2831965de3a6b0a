// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.HeldDevice;

/**
 * A claim that has a device.
 *
 * @param claim its namespace and name
 */
public record Holder(String claim, HeldDevice device) {}
