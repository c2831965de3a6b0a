// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.model.DeviceId;
import java.util.List;
import java.util.Map;

/**
 * The devices that one check refused for a request.
 *
 * @param check that failed first
 * @param devices with what was in the way of each, in the order in which they were tried
 */
public record RefusedDevices(Obstacle.Check check, Map<DeviceId, Obstacle> devices) {

    /** The same obstacle may be in the way of several devices; each is here once. */
    public List<String> reasons() {
        return devices.values().stream().map(Obstacle::text).distinct().toList();
    }
}
