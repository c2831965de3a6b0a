// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.DeviceId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A record, for each request and device, of the first check that failed. */
final class Trace {
    private final Map<Integer, Map<DeviceId, Obstacle>> refused = new HashMap<>();
    private final Map<Integer, Integer> most = new HashMap<>();

    /** Records why a device was rejected; having been picked for another request counts least. */
    void refused(Plan plan, Candidate candidate, Obstacle obstacle) {
        refused.computeIfAbsent(plan.index(), index -> new LinkedHashMap<>())
                .merge(candidate.id(), obstacle, (first, later) -> first instanceof Obstacle.Picked ? later : first);
    }

    /** Records how many devices a request had at the same time. */
    void reached(Plan plan, int count) {
        most.merge(plan.index(), count, Math::max);
    }

    /** Returns the obstacles of the requests that the search reached. */
    List<RequestObstacles> requests(List<Plan> plans) {
        List<RequestObstacles> all = new ArrayList<>();
        for (Plan plan : plans) {
            Integer reached = most.get(plan.index());
            if (reached != null) {
                all.add(new RequestObstacles(
                        plan.claim().fullName(),
                        plan.resultName(),
                        plan.count(),
                        reached,
                        refused.getOrDefault(plan.index(), Map.of())));
            }
        }
        return all;
    }
}
