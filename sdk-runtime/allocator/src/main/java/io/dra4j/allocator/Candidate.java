// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.cel.DeviceVariable;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Slice;

/**
 * A device of a pool that a node sees.
 *
 * @param index the position in the order in which devices are tried
 * @param device the device, with the taints of DeviceTaintRules
 */
record Candidate(int index, Pool pool, Slice slice, Device device, DeviceId id, DeviceVariable variable) {}
