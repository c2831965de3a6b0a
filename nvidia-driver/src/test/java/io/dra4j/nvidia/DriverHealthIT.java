// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The health of GPUs as a program reports it, in a storm of errors. */
@Tag("slow")
class DriverHealthIT {

    private static final int EVENTS = 10_000;
    private static final int FAILED = 3; // the first GPUs of eight

    /** The errors of each failed GPU. */
    private static final List<List<Long>> XIDS = List.of(List.of(48L, 94L), List.of(63L, 95L), List.of(79L, 119L));

    private static final int LAST = FAILED;
    private static final Duration TAINTED = Duration.ofSeconds(60); // a second on an idle machine
    private static final Duration CLEARED = Duration.ofSeconds(60);
    private static final Duration STORM = Duration.ofSeconds(4);
    private static final int SOME = 4; // intervals between writes
    private static final int LATE = 2; // seconds that the first of them may come late on a busy machine
    private static final int MOST_LINES = 100;

    @TempDir
    private Path folder;

    private static Map<String, String> effects(TestContext context) {
        Map<String, String> effects = new TreeMap<>();
        for (PublishedDevice device : context.devices().all()) {
            for (JsonNode taint : device.json().path("taints")) {
                effects.merge(device.name(), taint.path("effect").asText(), (a, b) -> a + "," + b);
            }
        }
        return effects;
    }

    /** Waits until the devices have these effects, by what the driver requests. */
    private static void awaitEffects(TestContext context, Map<String, String> wanted, Instant from, Duration limit)
            throws InterruptedException {
        Map<String, String> seen = effects(context);
        while (!seen.equals(wanted)) {
            assertThat(Instant.now()).as("%s are to be %s", seen, wanted).isBefore(from.plus(limit));
            LockSupport.parkNanos(10_000_000); // another process gives no event
            seen = effects(context);
        }
    }

    private static void storm(NodeState hardware) {
        long pause = STORM.toNanos() / EVENTS;
        Random random = new Random(1);
        for (int event = 0; event < EVENTS; event++) {
            List<Long> xids = XIDS.get(event % FAILED);
            hardware.xid(event % FAILED, -1, xids.get(random.nextInt(xids.size())));
            LockSupport.parkNanos(pause);
        }
    }

    private static Map<String, String> withLast(Map<String, String> effects) {
        Map<String, String> all = new TreeMap<>(effects);
        all.put("gpu-" + LAST, "NoSchedule");
        return all;
    }

    private static Predicate<RecordedRequest> sliceWrites(int after) {
        return Requests.writes("resourceslices").and(Requests.after(after));
    }

    /** Each slice is written once a second at most; the first of some writes may come late. */
    private static void assertPaced(TestContext context, int after) {
        Map<String, List<Instant>> writes = context.proxy().requests(sliceWrites(after)).stream()
                .collect(Collectors.groupingBy(
                        RecordedRequest::name, Collectors.mapping(RecordedRequest::at, Collectors.toList())));
        assertThat(writes).isNotEmpty();
        for (List<Instant> times : writes.values()) {
            for (int first = 0; first + SOME < times.size(); first++) {
                assertThat(Duration.between(times.get(first), times.get(first + SOME)))
                        .as("%d intervals from write %d of %s", SOME, first, times)
                        .isGreaterThan(Duration.ofSeconds(SOME - LATE));
            }
        }
    }

    private static void awaitHealth(OpenHealthStream stream, String failed) throws InterruptedException {
        assertThat(stream.await(
                        report -> report.state("gpu-0").equals(failed)
                                && report.state("gpu-2").equals(failed)
                                && report.state("gpu-4").equals("HEALTHY")
                                && report.state("gpu-7").equals("HEALTHY"),
                        CLEARED))
                .as("the failed GPUs are %s", failed)
                .isPresent();
    }

    @Test
    void taintsTheRightDevicesAndIsOverSoonAfterTheRecovery() throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
        NodeState hardware = node.state();
        List<String> command = new ArrayList<>(DriverJar.command(folder));
        command.addAll(List.of("--health-watch=always", "--xid-effects=79=NoExecute"));
        try (TestContext context = DriverJar.context(command, node, "storm");
                OpenHealthStream stream =
                        context.kubelet().watchHealth(context.place().driver(), OpenHealthStream.Version.V1ALPHA1)) {
            awaitHealth(stream, "HEALTHY");
            int before = context.proxy().lastNumber();
            for (int gpu = 0; gpu < FAILED; gpu++) {
                hardware.set(gpu, "recovery", 1);
            }

            Map<String, String> tainted = Map.of("gpu-0", "NoSchedule", "gpu-1", "NoSchedule", "gpu-2", "NoExecute");
            Thread storm = new Thread(() -> storm(hardware), "storm");
            Instant begin = Instant.now();
            storm.start();

            awaitEffects(context, tainted, begin, TAINTED);
            awaitHealth(stream, "UNHEALTHY");
            storm.join();
            hardware.set(LAST, "recovery", 1);
            hardware.xid(LAST, -1, 46); // then all others have been handled
            awaitEffects(context, withLast(tainted), Instant.now(), TAINTED);

            Instant recovered = Instant.now();
            for (int gpu = 0; gpu <= LAST; gpu++) {
                hardware.set(gpu, "recovery", 0);
            }

            awaitEffects(context, Map.of(), recovered, CLEARED);
            awaitHealth(stream, "HEALTHY");
            assertPaced(context, before);
            assertThat(Files.readAllLines(context.place().log())).hasSizeLessThan(MOST_LINES);
        }
    }
}
