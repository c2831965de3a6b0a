// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.DeviceProvider;
import io.dra4j.charttest.InstalledChart;
import io.dra4j.charttest.Manifests;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.InProcessDriver;
import io.dra4j.testkit.driver.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** A node whose fake driver has all its parts, and the rights of manifests. */
final class RightsNode implements AutoCloseable {

    static final String DRIVER = "gpu.example.com";

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final long LOOK_NANOS = 20_000_000;

    private final InstalledChart chart;

    RightsNode(Manifests manifests, Path folder) {
        chart = new InstalledChart(DRIVER, manifests, folder, new InProcessDriver(this::run));
    }

    private DraDriver run(Place place) throws IOException {
        DeviceProvider gpus = new FakeGpuProvider(DRIVER, place.node(), 2);
        DeviceProvider all =
                new FaultyDevices(new BoundDevices(new ReportingGpus(gpus, true, false)), faults(), DRIVER);
        DraDriver driver = DraDriver.builder(DRIVER, place.node(), all)
                .kubeconfig(place.kubeconfig())
                .cdiRoot(place.cdi())
                .kubeletPluginsDirectory(place.plugins())
                .kubeletRegistrarDirectory(place.registry())
                .readinessCheck(BoundDevices::ready)
                .healthService()
                .build();
        driver.start();
        return driver;
    }

    /** Starts the driver, and waits until the kubelet has registered it. */
    void start() throws InterruptedException {
        chart.start();
    }

    List<String> refused() {
        return chart.refused();
    }

    TestNode node() {
        return chart.node();
    }

    /** The file that says which devices have failed. */
    Path faults() throws IOException {
        Path file = node().place().root().resolve("faults");
        if (!Files.exists(file)) {
            Files.createFile(file);
        }
        return file;
    }

    /** Waits for what gives no event to the test. */
    void await(Callable<Boolean> condition) throws Exception {
        Instant end = Instant.now().plus(LIMIT);
        while (!condition.call()) {
            assertThat(Instant.now()).as(node().proxy().log()).isBefore(end);
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    @Override
    public void close() {
        chart.close();
    }
}
