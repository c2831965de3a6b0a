// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** NVIDIA's driver is updated while ours runs, as a program: slices are right again soon. */
@Tag("slow")
class DriverUpdateIT {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String UPDATED = "560.35.3"; // as in an attribute
    private static final int IN_USE = 19;

    @TempDir
    private Path folder;

    private StandInNode node;

    private TestContext start(String... options) throws Exception {
        node = StandInNode.install(folder.resolve("node"), "h100-80");
        return DriverJar.context(DriverJar.command(folder), node, "update", options);
    }

    private boolean hasSession(TestContext context) throws Exception {
        return node.hasSession(context.driver().current().pid().orElseThrow());
    }

    private static String versions(TestContext context) {
        return context.devices().slices().stream()
                .flatMap(slice -> slice.at("/spec/devices").findValues("driverVersion").stream())
                .map(version -> version.get("version").asText())
                .distinct()
                .toList()
                .toString();
    }

    private static void awaitUpdated(TestContext context) throws Exception {
        Await.until(
                "slices of the new version",
                SOON,
                () -> versions(context).equals(List.of(UPDATED).toString()));
    }

    @Test
    void anIdleStaticNodeBlocksNothing() throws Exception {
        try (TestContext context = start()) {
            Await.until("no session", SOON, () -> !hasSession(context));
            assertThat(node.unload()).isZero();
            node.update("560.35.03");

            node.load("560.35.03");

            awaitUpdated(context);
        }
    }

    @Test
    void aClaimIsWatchedForAsLongAsItHoldsAGpu() throws Exception {
        try (TestContext context = start()) {
            PublishedDevice device = context.devices().one();
            KubeletClaim claim = context.claims().allocate(device);
            context.calls().prepared(claim);
            Await.until("a session for events", SOON, () -> hasSession(context));
            assertThat(node.unload()).isEqualTo(IN_USE);

            context.calls().unprepared(claim);

            Await.until("no session", SOON, () -> !hasSession(context));
        }
    }

    @Test
    void aDynamicNodeGetsANewSession() throws Exception {
        try (TestContext context = start("--dynamic-mig")) {
            Await.until("a session for events", SOON, () -> hasSession(context));
            node.state().replacing(18, 18);
            node.update("560.35.03");

            node.load("560.35.03");

            awaitUpdated(context);
            KubeletClaim claim = context.claims().allocate(context.devices().one());
            context.calls().prepared(claim);
            context.calls().unprepared(claim);
        }
    }
}
