// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.MountNamespace;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.driver.ProcessSettings;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The life of a driver on a node of the test kit: registered, published, a claim, SIGTERM. */
final class DriverLife {

    private static final Duration LONG_ENOUGH = Duration.ofSeconds(12);
    private static final int SEVERAL = 8;
    private static final Duration START = Duration.ofMinutes(2);

    /** A JVM that records what it loads writes that at its end, for seconds: hence the factor. */
    private static final String SETTINGS = "{driver: {name: %s, process: {command: [given]}}, timeoutFactor: 6}";

    private DriverLife() {}

    /**
     * Runs a driver, and returns its log.
     *
     * @param prepared looks at the node while the claim is prepared
     * @throws ImageBuildException if it does not end with status 0
     */
    static String run(String driver, List<String> command, Consumer<TestContext> prepared) {
        return run(driver, new ProcessDriver(command, Map.of(), START), true, prepared);
    }

    /**
     * As in a pod: by a service account and TLS, where this process may make mount namespaces. A driver that finds no
     * device on this machine prepares no claim.
     */
    static void runInCluster(String driver, List<String> command) {
        boolean inCluster = MountNamespace.missing().isEmpty();
        ProcessSettings settings = new ProcessSettings(command, Map.of(), false, inCluster, List.of());
        run(driver, new ProcessDriver(settings, List.of(), START), false, DriverLife::repeat);
    }

    /** Calls of one claim and of several, until what is done every ten seconds was done, too. */
    private static void repeat(TestContext context) {
        KubeletClaim[] claims = context.devices().usable().stream()
                .skip(1) // has a claim already
                .limit(SEVERAL)
                .map(context.claims()::allocate)
                .toArray(KubeletClaim[]::new);
        long begin = System.nanoTime();
        for (int size = 1; System.nanoTime() - begin < LONG_ENOUGH.toNanos(); size = claims.length + 1 - size) {
            KubeletClaim[] some = Arrays.copyOf(claims, Math.min(size, claims.length));
            context.calls().prepare(some);
            context.calls().unprepare(some);
        }
    }

    private static String run(
            String driver, ProcessDriver process, boolean hasDevices, Consumer<TestContext> prepared) {
        try (TestContext context = TestContext.open(
                SettingsReader.parse(SETTINGS.formatted(driver), "images", Map.of()), process, "images")) {
            context.driver().start();
            context.awaitPools();
            if (hasDevices || !context.devices().usable().isEmpty()) {
                KubeletClaim claim = context.preparedClaim(context.devices().one());
                prepared.accept(context);
                context.calls().unprepared(claim);
            }
            int status = context.driver().terminate();
            String log = context.driver().log();
            if (status != 0) {
                throw new ImageBuildException(
                        "The driver %s ended with status %d after SIGTERM: %s".formatted(driver, status, log));
            }
            return log;
        }
    }
}
