// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.PublishedChart;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** NVIDIA's driver in its image, on boards that do not exist, as the published chart runs it. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class NvidiaDriverImageIT {

    private static final PublishedChart CHART =
            new PublishedChart(Path.of("../../nvidia-driver/src/test/resources/published-chart.yaml"));

    private static final String[] PRESTART = {"bash", "/usr/bin/kubelet-plugin-prestart.sh"};

    /** It is content with the environment that the script has to give it. */
    private static final String SMI = """
            #!/usr/bin/bash
            [[ $LD_PRELOAD == /driver-root-parent/driver/lib64/libnvidia-ml.so.1 ]] || exit 8
            [[ -z ${NVIDIA_DRIVER_ROOT:-} ]] || exit 9
            """;

    @TempDir
    private static Path folder;

    private static Container container;

    @BeforeAll
    static void unpack() throws Exception {
        Built.assumeContainers();
        container = Container.unpack(Built.archive(Image.NVIDIA_DRIVER), folder.resolve("root"));
    }

    @Test
    void registersPublishesAndPreparesWithItsCache() {
        StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
        PublishedChart.Container gpus = CHART.container("gpus");
        Map<String, String> environment = gpus.onTestNode();
        environment.put("JAVA_OPTS", "-XX:AOTMode=on");
        environment.put("NVIDIA_DRIVER_ROOT", node.root().toString());
        environment.put("SYSFS_ROOT", node.sysfs().toString());
        environment.put("PROC_ROOT", node.proc().toString());
        environment.put("HTTP_ENDPOINT", ":{FREE_PORT}"); // of the host's network
        environment.put("HEALTHCHECK_PORT", "0");
        List<String> command = container.driver(
                node.folder().toString(),
                environment,
                gpus.command().stream()
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
    void waitsForTheDriverExplainsWhatIsMissingAndEndsOnceItWorks() throws Exception {
        Path node = Files.createDirectories(folder.resolve("run"));
        Process script = prestart(node);
        try (BufferedReader output = script.inputReader()) {
            assertThat(String.join("\n", untilItWaits(output)))
                    .contains("NVIDIA's driver is not there yet")
                    .contains("/run/nvidia/driver does not exist on the node")
                    .contains("No libnvidia-ml.so.1 in usr/lib64")
                    .contains("No nvidia-smi in opt/bin")
                    .contains("nvidia-driver-daemonset");
            Path root = node.resolve("driver");
            Path smi = install(root);

            assertThat(output.readLine()).startsWith("NVIDIA's driver is ready: /driver-root-p");

            assertThat(script.waitFor()).isZero();
            assertThat(smi).exists();
        } finally {
            script.destroyForcibly();
        }
    }

    @Test
    void endsAtOnceIfItIsToldToWhileItWaits() throws Exception {
        Process script = prestart(Files.createDirectories(folder.resolve("nothing")));
        try (BufferedReader output = script.inputReader()) {
            untilItWaits(output);

            script.destroy();

            assertThat(script.waitFor(5, TimeUnit.SECONDS)).isTrue();
            assertThat(script.exitValue()).isEqualTo(143);
        } finally {
            script.destroyForcibly();
        }
    }

    private static Process prestart(Path parent) throws IOException {
        return container.start(
                parent + "=/driver-root-parent", Map.of("NVIDIA_DRIVER_ROOT", "/run/nvidia/driver"), PRESTART);
    }

    private static List<String> untilItWaits(BufferedReader output) throws IOException {
        List<String> lines = new ArrayList<>();
        String line = output.readLine();
        while (line != null && !line.startsWith("Trying again")) {
            lines.add(line);
            line = output.readLine();
        }
        return lines;
    }

    private static Path install(Path root) throws IOException {
        Path library = root.resolve("lib64/libnvidia-ml.so.1");
        Files.createDirectories(library.getParent());
        Files.copy(Path.of(System.getProperty("dra4j.nvml"), "now/libnvidia-ml.so.1"), library);
        Path fresh = Files.writeString(root.resolve("nvidia-smi"), SMI);
        Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path smi = root.resolve("usr/bin/nvidia-smi");
        Files.createDirectories(smi.getParent());
        return Files.move(fresh, smi);
    }
}
