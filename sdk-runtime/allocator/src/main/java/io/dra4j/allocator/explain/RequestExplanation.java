// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Obstacle.Check;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.model.DeviceId;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The obstacles of a request, by check.
 *
 * @param claim its namespace and name
 * @param request its name, with the subrequest's behind a slash
 * @param wanted the number of devices
 * @param most the largest number that could be had together
 * @param refused the devices by the check that failed, in the order of the checks
 */
public record RequestExplanation(
        String claim, String request, long wanted, int most, List<RefusedDevices> refused) {

    static RequestExplanation of(RequestObstacles obstacles) {
        Map<Check, Map<DeviceId, Obstacle>> byCheck = new EnumMap<>(Check.class);
        obstacles
                .devices()
                .forEach(
                        (device, obstacle) ->
                                byCheck.computeIfAbsent(
                                                obstacle.check(), check -> new LinkedHashMap<>())
                                        .put(device, obstacle));
        List<RefusedDevices> refused = new ArrayList<>();
        byCheck.forEach((check, devices) -> refused.add(new RefusedDevices(check, devices)));
        return new RequestExplanation(
                obstacles.claim(),
                obstacles.request(),
                obstacles.wanted(),
                obstacles.most(),
                List.copyOf(refused));
    }

    /** The devices that passed the most checks, with what was in their way in the end. */
    public Map<DeviceId, Obstacle> nearest() {
        return refused.isEmpty() ? Map.of() : refused.get(refused.size() - 1).devices();
    }
}
