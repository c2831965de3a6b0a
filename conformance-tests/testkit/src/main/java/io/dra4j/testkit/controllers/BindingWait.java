// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Waits for the conditions that devices require before their pod is bound. */
record BindingWait(PodObjects objects) {
    private static final Duration TIMEOUT = Duration.ofSeconds(600);
    private static final String PLUGIN = "running PreBind plugin \"DynamicResources\": ";

    /**
     * The state of the devices of a pod.
     *
     * @param failure why the pod can't be bound with these devices
     * @param until when the wait ends without success
     */
    record State(boolean isReady, Optional<String> failure, Optional<Instant> until) {

        private static State failed(String why) {
            return new State(false, Optional.of(PLUGIN + why), Optional.empty());
        }
    }

    State state(Pod pod, List<ClaimView> claims, Instant now) {
        Optional<Instant> until = Optional.empty();
        for (ClaimView claim : claims) {
            for (JsonNode result : claim.results()) {
                JsonNode conditions = conditions(claim, result);
                Optional<JsonNode> failed = firstTrue(result.path("bindingFailureConditions"), conditions);
                if (failed.isPresent()) {
                    return State.failed("device binding failed: claim=%s, reason=%s, message=%s"
                            .formatted(
                                    claim.name(),
                                    failed.get().path("reason").asText(),
                                    failed.get().path("message").asText()));
                }
                if (!areTrue(result.path("bindingConditions"), conditions)) {
                    Instant end = allocated(claim, now).plus(TIMEOUT);
                    if (!now.isBefore(end)) {
                        return State.failed("device binding timeout: claim=" + claim.name());
                    }
                    until = Controller.earlier(until, Optional.of(end));
                }
            }
        }
        if (until.isPresent()) {
            objects.event(
                    pod,
                    "Normal",
                    "BindingConditionsPending",
                    "waiting for binding conditions of devices of its claims");
        }
        return new State(until.isEmpty(), Optional.empty(), until);
    }

    private static Instant allocated(ClaimView claim, Instant now) {
        String time = claim.json().at("/status/allocation/allocationTimestamp").asText();
        return time.isEmpty() ? now : Instant.parse(time);
    }

    private static JsonNode conditions(ClaimView claim, JsonNode result) {
        for (JsonNode device : claim.json().at("/status/devices")) {
            if (List.of("driver", "pool", "device", "shareID").stream()
                    .allMatch(key -> device.path(key).equals(result.path(key)))) {
                return device.path("conditions");
            }
        }
        return result.path("none");
    }

    private static boolean areTrue(JsonNode wanted, JsonNode conditions) {
        return wanted.valueStream().allMatch(type -> find(type, conditions).isPresent());
    }

    private static Optional<JsonNode> firstTrue(JsonNode wanted, JsonNode conditions) {
        return wanted.valueStream()
                .flatMap(type -> find(type, conditions).stream())
                .findFirst();
    }

    private static Optional<JsonNode> find(JsonNode type, JsonNode conditions) {
        return conditions
                .valueStream()
                .filter(condition -> condition.path("type").equals(type)
                        && condition.path("status").asText().equals("True"))
                .findFirst();
    }
}
