// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As many devices as a node can ever have. */
class SliceScaleIT {

    private static final int DEVICES = 4096;
    private static final int SLICES = DEVICES / 64;

    @Test
    @Tag("DRA-SLICE-02")
    @Tag("DRA-SLICE-07")
    void thousandsOfTaintedDevicesCostOneWriteForAChangeAndNoneForARestart() throws Exception {
        try (DevicesUnderTest gpus =
                new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES)) {
            gpus.awaitPool(p -> p.settled(DEVICES));
            int tainting = report(gpus, "published", 0, SLICES);

            gpus.faults(taints("hot"));
            SeenPool before =
                    gpus.awaitPool(
                            p ->
                                    p.settled(DEVICES)
                                            && p.faults().values().stream()
                                                    .allMatch("hot"::equals));
            int changing = report(gpus, "tainted, all at once", tainting, SLICES);

            gpus.faults(taints("odd"));
            SeenPool after =
                    gpus.awaitPool(
                            p -> p.settled(DEVICES) && p.faults().get("gpu-2048").equals("odd"));
            int restarting = report(gpus, "one device changed", changing, 1);
            assertOneSliceDiffers(before, after);

            gpus.restartGracefully();
            gpus.faults(taints("hot"));
            gpus.awaitPool(p -> p.settled(DEVICES) && p.faults().get("gpu-2048").equals("hot"));
            report(gpus, "restarted (0), and one device changed", restarting, 1);
        }
    }

    private static void assertOneSliceDiffers(SeenPool before, SeenPool after) {
        Map<String, String> same = after.versions();
        same.entrySet().retainAll(before.versions().entrySet());
        assertThat(same).hasSize(SLICES - 1);
        assertThat(after.generation()).isEqualTo(before.generation());
    }

    private static String[] taints(String reasonOfOne) {
        return IntStream.range(0, DEVICES)
                .mapToObj(n -> "gpu-" + n + " NoSchedule " + (n == 2048 ? reasonOfOne : "hot"))
                .toArray(String[]::new);
    }

    /** Prints and checks the writes since a request; returns the number of the last request. */
    private static int report(DevicesUnderTest gpus, String what, int since, int expected) {
        List<RecordedRequest> writes = gpus.writesAfter(since);
        List<RecordedRequest> all = gpus.driver.proxy.requests(Requests.after(since));
        Instant first = writes.get(0).at();
        Instant last = writes.get(writes.size() - 1).at();
        System.out.printf(
                "%d devices %s: %d writes of %d requests, within %d ms%n",
                DEVICES, what, writes.size(), all.size(), Duration.between(first, last).toMillis());
        assertThat(writes).as(gpus.driver.proxy.log()).hasSize(expected);
        return gpus.driver.proxy.lastNumber();
    }
}
