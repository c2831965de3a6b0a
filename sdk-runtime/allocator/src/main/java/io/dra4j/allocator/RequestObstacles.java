// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.DeviceId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The obstacles of a request, or of one of its subrequests.
 *
 * @param claim its namespace and name
 * @param request its name, followed by a slash and the subrequest's name if there is one
 * @param wanted the number of devices
 * @param most the largest number that could be allocated together
 * @param devices the first failed check by device, in the order in which they were tried
 */
public record RequestObstacles(String claim, String request, long wanted, int most, Map<DeviceId, Obstacle> devices) {
    private static final int NAMED = 3;

    /** Returns the numbers, and which devices could not be allocated and why, as a part of a sentence. */
    public String text() {
        Map<String, List<String>> why = new LinkedHashMap<>();
        devices.forEach((id, obstacle) ->
                why.computeIfAbsent(obstacle.text(), text -> new ArrayList<>()).add(id.device()));
        StringBuilder text =
                new StringBuilder("request %s wants %d device(s), but can have %d".formatted(request, wanted, most));
        why.forEach((reason, names) -> text.append("; ")
                .append(String.join(", ", names.subList(0, Math.min(NAMED, names.size()))))
                .append(names.size() > NAMED ? " and %d more: ".formatted(names.size() - NAMED) : ": ")
                .append(reason));
        return text.toString();
    }
}
