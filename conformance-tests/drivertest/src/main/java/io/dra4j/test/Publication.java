// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The slices of a driver, and the Events in which it explains missing ones. */
record Publication(TestNode node, String driver, Duration limit) {

    private static final String SLICES = "resourceslices";

    /** The time in which an invalid pool may become valid, if a provider is about to correct it. */
    private static final Duration CORRECTION = Duration.ofSeconds(5);

    /**
     * Waits until the driver's slices satisfy a condition, but only for a few seconds if it reports an invalid pool.
     *
     * @param goal what is wanted, for messages
     * @throws AssertionError on a timeout, with what the driver said
     */
    List<JsonNode> await(String goal, Predicate<List<JsonNode>> wanted) {
        Predicate<List<JsonNode>> own = slices -> wanted.test(own(slices));
        try {
            node.awaitSlices(slices -> own.test(slices) || hasInvalidDevices(), limit);
            return own(objects().await(SLICES, own, CORRECTION));
        } catch (AssertionError e) {
            throw new AssertionError("%s\nThe driver said: %s\nIts slices: %s".formatted(goal, said(), slices()), e);
        }
    }

    /** Returns the current slices. */
    List<JsonNode> slices() {
        return own(objects().list(SLICES));
    }

    private List<JsonNode> own(List<JsonNode> slices) {
        return slices.stream()
                .filter(slice -> slice.at("/spec/driver").asText().equals(driver))
                .toList();
    }

    private boolean hasInvalidDevices() {
        return events().stream()
                .map(event -> event.path("reason").asText())
                .anyMatch(List.of("InvalidPool", "InvalidDevices")::contains);
    }

    private String said() {
        String events = events().stream()
                .map(event -> event.path("reason").asText() + ": " + message(event))
                .collect(Collectors.joining("\n"));
        return events.isEmpty() ? "nothing: there is no Event" : events;
    }

    private static String message(JsonNode event) {
        return event.path("message").asText();
    }

    private List<JsonNode> events() {
        return objects().list("events").stream()
                .filter(event -> event.path("reportingComponent").asText().equals(driver))
                .toList();
    }

    private ClusterObjects objects() {
        return node.api().store();
    }
}
