// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** NVIDIA's driver in its image, on boards that do not exist, as the published chart runs it. */
@Timeout(value = 20, unit = TimeUnit.MINUTES) // emulated, a start takes a minute
class NvidiaDriverImageIT {

    private static final Manifests CHART =
            Manifests.read(Path.of("../../nvidia-driver/src/test/resources/published-chart.yaml"));

    @TempDir
    private static Path folder;

    private static Container container;

    @BeforeAll
    static void unpack() throws Exception {
        container = Built.driver(Image.NVIDIA_DRIVER, folder.resolve("root"));
    }

    @Test
    void registersPublishesAndPreparesWithItsCache() {
        StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
        if (!Built.machine().equals(Machine.current())) {
            node.useLibraryOf(Built.machine().architecture());
        }
        DriverContainer gpus = DriverContainer.named(CHART, "gpus");
        Map<String, String> environment = gpus.onTestNode();
        environment.put("JAVA_OPTS", container.cacheOnly());
        environment.put("NVIDIA_DRIVER_ROOT", node.root().toString());
        environment.put("SYSFS_ROOT", node.sysfs().toString());
        environment.put("PROC_ROOT", node.proc().toString());
        environment.put("HTTP_ENDPOINT", ":{FREE_PORT}"); // of the host's network
        environment.put("HEALTHCHECK_PORT", "0");
        List<String> command = container.driver(
                node.folder().toString(),
                environment,
                gpus.commandLine().stream()
                        .map(word -> word.replace("-v 4", "-v 5")) // to see what is missing
                        .toList());

        String log = DriverLife.run("gpu.nvidia.com", command, NvidiaDriverImageIT::assertHook);

        assertThat(log).contains("gpu.nvidia.com").doesNotContainIgnoringCase(FakeDriverImageIT.LACKING);
    }

    /** The hook program comes from the driver's jar, and runs from the driver's directory. */
    private static void assertHook(TestContext context) {
        Path hook = context.place().plugins().resolve("gpu.nvidia.com/nvidia-cdi-hook");
        try {
            Process process = container.start(context.place().root().toString(), Map.of(), hook.toString());
            assertThat(new String(process.getInputStream().readAllBytes())).startsWith("nvidia-cdi-hook: no command");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void hasTheProgramsOfNvidiasChart() throws Exception {
        Container.Ended webhook = container.run(Map.of(), "webhook", "--help");
        Container.Ended domains = container.run(Map.of(), "compute-domain-kubelet-plugin", "-v", "4");

        assertThat(webhook.output()).contains("--tls-cert-file");
        assertThat(webhook.status()).isZero();
        assertThat(domains.output())
                .startsWith("compute-domain-kubelet-plugin is not in this image: ")
                .contains("resources.computeDomains.enabled=false", "resources.gpus.enabled=false");
        assertThat(domains.status()).isEqualTo(69);
    }

    @Test
    void hasTheShellAndTheProgramsThatAdminsCall() throws Exception {
        Container.Ended ended = container.run(
                Map.of(), "sh", "-c", "sleep 60 & kill $! && ls /usr/bin | grep -c gpu-kubelet && cat /etc/group");

        assertThat(ended.output()).isEqualTo("1\nroot:x:0:\n");
        assertThat(ended.status()).isZero();
    }

    /** The init container of NVIDIA's chart, on a node without a driver. */
    @Test
    void theInitContainerEndsAndSaysWhy() throws Exception {
        Container.Ended ended = container.run(Map.of(), "bash", "/usr/bin/kubelet-plugin-prestart.sh");

        assertThat(ended.output()).hasLineCount(1).contains("the driver itself waits for NVIDIA's driver");
        assertThat(ended.status()).isZero();
    }
}
