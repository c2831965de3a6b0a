// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The results of deleting a slice, changing another, deleting that too once the driver has updated it, and adding
 * foreign slices as well: a helper may take 30 s for each repair, so it is done once for all rules about it.
 *
 * @param afterDelete why the deleted slice was not created again; empty if it was
 * @param untilBack the time until the deleted slice was created again
 * @param wasFresh whether that says something about slices that the driver has not updated
 * @param wasChanged whether there was a slice to change
 * @param afterChange why the changed slice was not repaired; empty if it was
 * @param untilRepaired the time until the changed slice was repaired
 * @param wasUpdated whether the driver has updated a slice, which was deleted then
 * @param afterUpdate why that slice was not created again; empty if it was
 * @param untilAgain the time until that slice was created again
 * @param toOthers what the driver did to slices that are not its own; empty if nothing
 */
public record Disturbance(
        String afterDelete,
        Measured untilBack,
        boolean wasFresh,
        boolean wasChanged,
        String afterChange,
        Measured untilRepaired,
        boolean wasUpdated,
        String afterUpdate,
        Measured untilAgain,
        String toOthers) {

    public static Disturbance of(TestContext context) throws InterruptedException {
        return new Work(context, new Publishing(context).settled()).done();
    }

    private record Work(TestContext context, SeenPools before) {

        Disturbance done() throws InterruptedException {
            PlantedSlices others = new PlantedSlices(context);
            int number = context.proxy().lastNumber();
            others.sentinels(SeenPools.pool(before.slices().get(0)));
            try {
                if (context.driver().adapter().controlsProcess()) {
                    context.driver().restart();
                    publishing().idle();
                }
                return disturbed(others, number);
            } finally {
                others.remove();
                publishing().repair(before);
            }
        }

        private Disturbance disturbed(PlantedSlices others, int number) throws InterruptedException {
            List<JsonNode> slices = publishing().settled().slices();
            Optional<JsonNode> changed = withDevices(slices);
            Optional<JsonNode> deleted =
                    slices.stream().filter(s -> !isSame(s, changed)).findFirst();
            return deleted.isPresent()
                    ? both(changed, deleted.get(), others, number)
                    : oneAfterTheOther(slices.get(0), others, number);
        }

        private static Optional<JsonNode> withDevices(List<JsonNode> slices) {
            return slices.stream().filter(s -> !s.at("/spec/devices").isEmpty()).findFirst();
        }

        /** Both at the same time, if there are two. */
        private Disturbance both(Optional<JsonNode> changed, JsonNode deleted, PlantedSlices others, int number)
                throws InterruptedException {
            Return repaired = changed(changed);
            Return back = deleted(deleted, number);
            String differences = differences(repaired, back);
            String afterChange = changed.map(this::missing).orElse("");
            String afterDelete = missing(deleted);
            boolean known = !afterChange.isEmpty() || !afterDelete.isEmpty();
            back.fault = known ? afterDelete : differences;
            repaired.fault = afterChange;
            return updatedAndDeleted(back, changed, repaired, others, number);
        }

        /** The deletion first, which is about a slice that the driver has not updated. */
        private Disturbance oneAfterTheOther(JsonNode only, PlantedSlices others, int number)
                throws InterruptedException {
            Return back = deleted(only, number);
            back.fault = differences(back);
            publishing().repair(before);
            Optional<JsonNode> changed = withDevices(publishing().now().slices());
            Return repaired = changed(changed);
            if (changed.isPresent()) {
                differences(repaired);
                repaired.fault = missing(changed.get());
            }
            return updatedAndDeleted(back, changed, repaired, others, number);
        }

        private Disturbance updatedAndDeleted(
                Return back, Optional<JsonNode> changed, Return repaired, PlantedSlices others, int number)
                throws InterruptedException {
            Optional<JsonNode> updated = back.fault.isEmpty() && repaired.fault.isEmpty()
                    ? publishing().now().slices().stream()
                            .filter(slice -> isSame(slice, changed))
                            .findFirst()
                    : Optional.empty();
            Return again = new Return("time until the slice that was updated and deleted was back", updated, written());
            if (updated.isPresent()) {
                publishing().delete(updated.get());
                again.fault = differences(again);
            }
            boolean isFresh = back.fault.isEmpty() || !back.isUpdated;
            Return deleted = isFresh ? again : back;
            return new Disturbance(
                    about(back, "a slice was deleted"),
                    back.measured(limit()),
                    isFresh,
                    changed.isPresent(),
                    about(repaired, "a slice was changed"),
                    repaired.measured(limit()),
                    updated.isPresent() || !isFresh,
                    about(deleted, "a slice that the driver had updated was deleted"),
                    deleted.measured(limit()),
                    others.harm(number).orElse(""));
        }

        private Return changed(Optional<JsonNode> slice) {
            String written = written();
            slice.ifPresent(this::change);
            return new Return("time until the changed slice was repaired", slice, written);
        }

        private String written() {
            return publishing().lastWrite();
        }

        private Return deleted(JsonNode slice, int since) {
            boolean isUpdated = publishing().writesAfter(since).stream()
                    .anyMatch(write -> write.status() == 200 && write.path().endsWith("/" + SeenPools.name(slice)));
            String written = written();
            publishing().delete(slice);
            Return back = new Return("time until the deleted slice was back", Optional.of(slice), written);
            back.isUpdated = isUpdated;
            return back;
        }

        /** The devices of a slice that are in no slice now; empty if none. */
        private String missing(JsonNode slice) {
            List<String> there = names(publishing().now().slices());
            List<String> gone = new ArrayList<>(names(List.of(slice)));
            gone.removeAll(there);
            return gone.isEmpty() ? "" : "missing: " + SeenPools.few(gone);
        }

        private static List<String> names(List<JsonNode> slices) {
            return SeenPools.devicesOf(slices).stream()
                    .map(d -> d.path("name").asText())
                    .toList();
        }

        private static boolean isSame(JsonNode slice, Optional<JsonNode> other) {
            return other.isPresent() && SeenPools.name(other.get()).equals(SeenPools.name(slice));
        }

        private Publishing publishing() {
            return new Publishing(context);
        }

        /** Removes a device from a slice, as a manual edit does. */
        private void change(JsonNode slice) {
            ObjectNode edited = slice.deepCopy();
            ((ObjectNode) edited.path("metadata")).remove("managedFields");
            ((ArrayNode) edited.at("/spec/devices")).remove(0);
            context.transcript().note("another client edits slice " + SeenPools.name(slice));
            context.cluster().replace(Publishing.SLICES + "/" + SeenPools.name(slice), edited);
        }

        /** Waits until the pools are as before, and describes the differences if they are not. */
        private String differences(Return... returns) throws InterruptedException {
            Predicate<SeenPools> asBefore = Publishing.like(before);
            Predicate<SeenPools> seenByAll = seen -> {
                boolean over = asBefore.test(seen);
                List.of(returns).forEach(each -> each.look(seen, over));
                return over;
            };
            return publishing().await(seenByAll, limit()).isPresent()
                    ? ""
                    : publishing().now().difference(before);
        }

        private Duration limit() {
            return context.timeouts().cachedRepair();
        }

        private String about(Return seen, String what) {
            return seen.fault.isEmpty()
                    ? ""
                    : "%s by another client (%s), and %d s later the driver has not repaired it: %s"
                            .formatted(what, seen.written, limit().toSeconds(), seen.fault);
        }
    }

    /** The time until the devices of a slice are published again. */
    private static final class Return {
        private final String what;
        private final Set<String> devices;
        private final String written;
        private final long begin = System.nanoTime();
        private Duration took = Duration.ZERO;
        private String fault = "";
        private boolean isUpdated;

        Return(String what, Optional<JsonNode> slice, String written) {
            this.what = what;
            this.written = written;
            devices = slice.map(one -> Set.copyOf(Work.names(List.of(one)))).orElse(Set.of());
        }

        void look(SeenPools seen, boolean over) {
            boolean there = !devices.isEmpty() && Work.names(seen.slices()).containsAll(devices);
            if (took.isZero() && (over || there)) {
                took = Duration.ofNanos(System.nanoTime() - begin);
            }
        }

        Measured measured(Duration limit) {
            return Measured.time(what, fault.isEmpty() ? took : limit, limit, !fault.isEmpty());
        }
    }
}
