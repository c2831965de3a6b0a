// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.cluster.Cluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What came of it when somebody deleted a slice, changed another, and had slices of his own beside:
 * a helper may take 30 s for each repair, so it is done once for all rules about it.
 *
 * @param afterDelete how the deleted slice was not made again; empty if it was
 * @param wasChanged whether there was a slice to change
 * @param afterChange how the changed slice was not repaired; empty if it was
 * @param toOthers what the driver did to slices that are not its own; empty if nothing
 */
record Disturbance(String afterDelete, boolean wasChanged, String afterChange, String toOthers) {

    static Disturbance of(Bench bench) {
        try {
            return new Work(bench, new Publishing(bench).settled()).done();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private record Work(Bench bench, SeenPools before) {

        Disturbance done() throws InterruptedException {
            PlantedSlices others = new PlantedSlices(bench);
            int number = bench.proxy().lastNumber();
            others.canaries(SeenPools.pool(before.slices().get(0)));
            try {
                if (bench.driver().adapter().controlsProcess()) {
                    bench.driver().restart();
                    publishing().settled();
                }
                return disturbed(others, number);
            } finally {
                others.remove();
                publishing().mend(before);
            }
        }

        private Disturbance disturbed(PlantedSlices others, int number)
                throws InterruptedException {
            List<JsonNode> slices = publishing().settled().slices();
            Optional<JsonNode> changed =
                    slices.stream().filter(s -> !s.at("/spec/devices").isEmpty()).findFirst();
            changed.ifPresent(this::change);
            Optional<JsonNode> deleted =
                    slices.stream().filter(s -> !isSame(s, changed)).findFirst();
            deleted.ifPresent(publishing()::delete); // both at once, if there are two
            String both = trouble();
            String afterChange = changed.map(this::missing).orElse("");
            String afterDelete = deleted.map(this::missing).orElse("");
            if (deleted.isEmpty()) {
                publishing().delete(publishing().now().slices().get(0));
                afterDelete = trouble();
            } else if (afterChange.isEmpty() && afterDelete.isEmpty()) {
                afterDelete = both;
            }
            return new Disturbance(
                    about(afterDelete, "a slice was deleted"),
                    changed.isPresent(),
                    about(afterChange, "a slice was changed"),
                    others.harm(number).orElse(""));
        }

        /** The devices of a slice that are in no slice now; empty if none. */
        private String missing(JsonNode slice) {
            List<String> there = names(publishing().now().slices());
            List<String> gone = new ArrayList<>(names(List.of(slice)));
            gone.removeAll(there);
            return gone.isEmpty() ? "" : "missing: " + SeenPools.few(gone);
        }

        private static List<String> names(List<JsonNode> slices) {
            return slices.stream()
                    .flatMap(slice -> Cluster.elements(slice.at("/spec/devices")).stream())
                    .map(device -> device.path("name").asText())
                    .toList();
        }

        private static boolean isSame(JsonNode slice, Optional<JsonNode> other) {
            return other.isPresent() && SeenPools.name(other.get()).equals(SeenPools.name(slice));
        }

        private Publishing publishing() {
            return new Publishing(bench);
        }

        /** Takes a device out of a slice, as a hand that edits it does. */
        private void change(JsonNode slice) {
            ObjectNode edited = slice.deepCopy();
            ((ObjectNode) edited.path("metadata")).remove("managedFields");
            ((ArrayNode) edited.at("/spec/devices")).remove(0);
            bench.transcript().note("somebody else edits slice " + SeenPools.name(slice));
            bench.cluster().replace(Publishing.SLICES + "/" + SeenPools.name(slice), edited);
        }

        private String trouble() throws InterruptedException {
            Duration patience = bench.patience().repair();
            return publishing().await(Publishing.like(before), patience).isPresent()
                    ? ""
                    : publishing().now().difference(before);
        }

        private String about(String trouble, String what) {
            return trouble.isEmpty()
                    ? ""
                    : "%s by somebody else, and %d s later the driver has not put it right: %s"
                            .formatted(what, bench.patience().repair().toSeconds(), trouble);
        }
    }
}
