// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds what scheduler, controller and kubelet wrote on a pod. */
final class SchedulerWords {
    private static final Map<String, String> OF_OTHERS = Map.of(
            "FailedResourceClaimCreation",
            "kube-controller-manager",
            "FailedPrepareDynamicResources",
            "the kubelet",
            "BindingConditionsPending",
            "the scheduler");

    /** Parts of the reasons that an explanation covers itself. */
    private static final List<String> LOOKED_AT =
            List.of("claim", "resource pool", "affinity/selector", "were unschedulable");

    private static final Pattern NODES_ARE_AVAILABLE =
            Pattern.compile("^Unschedulable: .*?nodes are available: (.*?)\\.(?: |$)");

    private SchedulerWords() {}

    /** The condition, or else the Event, of the scheduler, and the last Events of the others. */
    static List<String> of(JsonNode pod, List<JsonNode> events) {
        List<String> words = new ArrayList<>();
        Optional<JsonNode> condition = pod.at("/status/conditions")
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
        last(events, OF_OTHERS.keySet())
                .ifPresent(one -> words.add(
                        "And %s: %s".formatted(OF_OTHERS.get(one.path("reason").asText()), reasonOf(one))));
        return words;
    }

    /** The reasons of a scheduler that do not concern claims, such as {@code Insufficient cpu}. */
    static List<String> reasonsBesidesClaims(List<String> words) {
        return words.stream()
                .map(NODES_ARE_AVAILABLE::matcher)
                .filter(Matcher::find)
                .flatMap(found -> Arrays.stream(found.group(1).split(", ")))
                .map(one -> one.replaceFirst("^\\d+ ", ""))
                .filter(one -> LOOKED_AT.stream().noneMatch(one::contains))
                .toList();
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
