// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What others do to the driver's slices, once: it is put right within 2 s. */
class SliceRepairIT {

    private static final int DEVICES = 130;
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private DevicesUnderTest gpus;
    private SliceTraffic others;
    private SeenPool before;

    @BeforeEach
    void start() throws Exception {
        gpus = new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES);
        others = new SliceTraffic(gpus.driver.api);
        before = gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.awaitWatching(0);
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    @FunctionalInterface
    private interface Disturbance {
        void happen() throws Exception;
    }

    /** Disturbs, waits for the repair, and looks into the log for how long it took. */
    private List<RecordedRequest> repaired(String what, Disturbance disturbance) throws Exception {
        int number = gpus.driver.proxy.lastNumber();
        Predicate<RecordedRequest> repairs =
                Requests.writes("resourceslices").and(Requests.after(number));
        Instant done = Instant.now();
        disturbance.happen();
        gpus.awaitPool(this::isAsBefore);

        List<RecordedRequest> writes =
                gpus
                        .driver
                        .proxy
                        .awaitAll(LIMIT, all -> all.stream().allMatch(this::isOver))
                        .stream()
                        .filter(repairs)
                        .toList();
        Instant last = Objects.requireNonNull(writes.get(writes.size() - 1).ended());
        Duration took = Duration.between(done, last);
        System.out.printf(
                "%s: repaired after %d ms with %d writes%n%s%n",
                what, took.toMillis(), writes.size(), gpus.driver.proxy.log());
        assertThat(took).as(gpus.driver.proxy.log()).isLessThan(LIMIT);
        return writes;
    }

    private boolean isOver(RecordedRequest request) {
        return request.watch() || request.ended() != null;
    }

    private boolean isAsBefore(SeenPool pool) {
        return pool.settled(DEVICES)
                && pool.slices().size() == before.slices().size()
                && devices(pool).equals(devices(before));
    }

    private static Set<JsonNode> devices(SeenPool pool) {
        Set<JsonNode> all = new HashSet<>();
        pool.slices().forEach(slice -> slice.at("/spec/devices").forEach(all::add));
        return all;
    }

    @Test
    @Tag("DRA-SLICE-08")
    void aSliceDeletedByHandIsBackWithinTwoSeconds() throws Exception {
        JsonNode victim = before.sliceOf("gpu-70");

        repaired("DRA-SLICE-08", () -> others.delete(victim));

        for (String untouched : List.of("gpu-0", "gpu-129")) {
            assertThat(gpus.pool().sliceOf(untouched).at("/metadata/uid"))
                    .as("%s stays in its slice", untouched)
                    .isEqualTo(before.sliceOf(untouched).at("/metadata/uid"));
        }
    }

    @Test
    @Tag("DRA-SLICE-09")
    void aSliceWithAnAlteredDeviceIsPutRightWithinTwoSeconds() throws Exception {
        JsonNode victim = before.sliceOf("gpu-0");

        List<RecordedRequest> writes =
                repaired(
                        "DRA-SLICE-09, PATCH",
                        () ->
                                others.patch(
                                        victim,
                                        """
                                        [{"op":"remove","path":"/spec/devices/0"},
                                         {"op":"replace",
                                          "path":"/spec/devices/1/attributes/model/string",
                                          "value":"another model"}]
                                        """));

        assertThat(writes).as("one slice was wrong").hasSize(1);
    }

    @Test
    @Tag("DRA-SLICE-09")
    void aSliceWithoutDevicesIsPutRightWithinTwoSeconds() throws Exception {
        JsonNode emptied = before.sliceOf("gpu-129").deepCopy();
        ((ObjectNode) emptied.path("spec")).putArray("devices");

        List<RecordedRequest> writes = repaired("DRA-SLICE-09, PUT", () -> others.put(emptied));

        assertThat(writes).as("one slice was wrong").hasSize(1);
    }

    @Test
    @Tag("DRA-SLICE-10")
    void aWipeOfTheKubeletIsRepairedWithinTwoSeconds() throws Exception {
        List<RecordedRequest> writes = repaired("DRA-SLICE-10", others::wipe);

        assertThat(writes)
                .as("a create for each slice")
                .hasSameSizeAs(before.slices())
                .allMatch(r -> r.method().equals("POST") && r.status() == 201);
    }
}
