// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds what scheduler, controller and kubelet wrote on a pod. */
final class SchedulerWords {
    private static final Set<String> OF_OTHERS =
            Set.of(
                    "FailedResourceClaimCreation",
                    "FailedPrepareDynamicResources",
                    "BindingConditionsPending");

    private SchedulerWords() {}

    /** The condition, or else the Event, of the scheduler, and the last Events of the others. */
    static List<String> of(JsonNode pod, List<JsonNode> events) {
        List<String> words = new ArrayList<>();
        Optional<JsonNode> condition =
                pod.at("/status/conditions")
                        .valueStream()
                        .filter(one -> one.path("type").asText().equals("PodScheduled"))
                        .filter(one -> one.path("status").asText().equals("False"))
                        .findFirst();
        if (condition.isPresent()) {
            words.add(reasonOf(condition.get()));
        } else {
            last(events, Set.of("FailedScheduling")).ifPresent(one -> words.add(reasonOf(one)));
        }
        boolean silent = words.isEmpty() && pod.at("/spec/nodeName").asText().isEmpty();
        if (silent) {
            words.add("Nothing, neither a condition nor an Event: it has not tried this pod.");
        }
        last(events, OF_OTHERS).ifPresent(one -> words.add(reasonOf(one)));
        return words;
    }

    private static String reasonOf(JsonNode one) {
        return one.path("reason").asText() + ": " + one.path("message").asText();
    }

    private static Optional<JsonNode> last(List<JsonNode> events, Set<String> reasons) {
        return events.stream()
                .filter(one -> reasons.contains(one.path("reason").asText()))
                .max(Comparator.comparing(SchedulerWords::time));
    }

    private static String time(JsonNode event) {
        String last = event.path("lastTimestamp").asText("");
        return last.isEmpty() || last.equals("null") ? event.path("eventTime").asText() : last;
    }
}
