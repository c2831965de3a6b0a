// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.images.Container.Ended;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The drivers in their images, with nothing of the build machine, as the published charts run them. */
@Timeout(value = 20, unit = TimeUnit.MINUTES) // emulated, a start takes a minute
class DriverImagesIT {

    /** An option that the cache was not made with. */
    private static final String OTHER_HEADERS = "-XX:+UseCompactObjectHeaders";

    /** Words of a JVM about a class or a library that is not there. */
    static final String[] LACKING = {
        "NoClassDefFoundError", "ClassNotFoundException", "UnsatisfiedLinkError", "no such file"
    };

    /** Of a class, as the JVM logs it. */
    private static final String SOURCE = " source: ";

    private static final int GENERATED = 53; // 44, or 62 if method handles get code of their own

    @TempDir
    private static Path folder;

    private static Container fake;
    private static Container nvidia;

    @BeforeAll
    static void unpack() throws Exception {
        fake = Built.driver(Image.FAKE_DRIVER, folder.resolve("fake"));
        nvidia = Built.driver(Image.NVIDIA_DRIVER, folder.resolve("nvidia"));
    }

    private static DriverContainer chart(String module, String container) {
        return DriverContainer.named(
                Manifests.read(Path.of("../..", module, "src/test/resources/published-chart.yaml")), container);
    }

    @Test
    void theFakeDriverRegistersPublishesAndPreparesWithItsCache() {
        DriverContainer plugin = chart("example-fake-driver", "plugin");
        Map<String, String> environment = plugin.onTestNode();
        environment.put("JAVA_OPTS", fake.cacheOnly() + " -Xlog:class+load:stderr");
        environment.put("METRICS_PORT", "0"); // of the host's network
        environment.put("HEALTHCHECK_PORT", "0");
        List<String> words = new ArrayList<>(plugin.commandLine());
        words.addAll(List.of("-v", "5")); // to see what is missing; at 6 gRPC names classes that it can do without
        List<String> command = fake.driver("", environment, words);

        String log = DriverLife.run("gpu.example.com", command, context -> {});

        assertThat(log).contains("Claim prepared");
        assertThat(log.lines().filter(line -> !line.contains(SOURCE)).collect(Collectors.joining("\n")))
                .doesNotContainIgnoringCase(LACKING);
        assertThat(log.lines().filter(line -> line.contains("LambdaForm$") && line.contains(SOURCE + "__")))
                .as("code generated for method handles")
                .hasSizeBetween(1, fake.cacheOnly().isEmpty() ? Integer.MAX_VALUE : GENERATED);
    }

    @Test
    void theFakeDriverRunsWithoutItsCacheIfTheJvmRefusesIt() throws Exception {
        assumeFalse(fake.cacheOnly().isEmpty(), "this image has no AOT cache");
        List<String> command = fake.driver("", Map.of("JAVA_OPTS", OTHER_HEADERS), List.of(fake.entryPoint()));

        String log = DriverLife.run("gpu.example.com", command, context -> {});

        assertThat(log).containsIgnoringCase("aot");
        Ended refused =
                fake.run(Map.of("JAVA_OPTS", OTHER_HEADERS + " " + fake.cacheOnly()), fake.entryPoint(), "--version");
        assertThat(refused.status()).as(refused.output()).isNotZero();
    }

    @Test
    void nvidiasDriverRegistersPublishesAndPreparesWithItsCacheOnBoardsThatDoNotExist() {
        StandInNode node = StandInNode.install(folder.resolve("node"), "h100-80");
        if (!Built.machine().equals(Machine.current())) {
            node.useLibraryOf(Built.machine().architecture());
        }
        DriverContainer gpus = chart("nvidia-driver", "gpus");
        Map<String, String> environment = gpus.onTestNode();
        environment.put("JAVA_OPTS", nvidia.cacheOnly());
        environment.put("NVIDIA_DRIVER_ROOT", node.root().toString());
        environment.put("SYSFS_ROOT", node.sysfs().toString());
        environment.put("PROC_ROOT", node.proc().toString());
        environment.put("HTTP_ENDPOINT", ":{FREE_PORT}"); // of the host's network
        environment.put("HEALTHCHECK_PORT", "0");
        List<String> command = nvidia.driver(
                node.folder().toString(),
                environment,
                gpus.commandLine().stream()
                        .map(word -> word.replace("-v 4", "-v 5")) // to see what is missing
                        .toList());

        String log = DriverLife.run("gpu.nvidia.com", command, DriverImagesIT::assertHook);

        assertThat(log).contains("gpu.nvidia.com").doesNotContainIgnoringCase(LACKING);
    }

    /** The hook program comes from the driver's jar, and runs from the driver's directory. */
    private static void assertHook(TestContext context) {
        Path hook = context.place().plugins().resolve("gpu.nvidia.com/nvidia-cdi-hook");
        try {
            Process process = nvidia.start(context.place().root().toString(), Map.of(), hook.toString());
            assertThat(new String(process.getInputStream().readAllBytes())).startsWith("nvidia-cdi-hook: no command");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The arguments of a shell are one word; the last program is the init container of NVIDIA's chart, without a driver. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    fake   | bash -c dra-example-kubeletplugin --version | 0  | dra4j-example-fake-driver (?!.*\\(unp).*\\n
                    fake   | bash -c dra-example-controller --help       | 0  | .*--enable-plugin.*
                    fake   | dra-example-webhook --device-profile=gpu --help | 0 | .*--tls-cert-file.*
                    nvidia | webhook --help                              | 0  | .*--tls-cert-file.*
                    nvidia | compute-domain-kubelet-plugin -v 4          | 69 | compute-domain-kubelet-plugin is not in this image: (?=.*resources.computeDomains.enabled=false).*resources.gpus.enabled=false.*
                    nvidia | `sh -c sleep 60 & kill $! && ls /usr/bin | grep -c gpu-kubelet && cat /etc/group` | 0 | 1\\nroot:x:0:\\n
                    nvidia | bash /usr/bin/kubelet-plugin-prestart.sh    | 0  | [^\\n]*the driver itself waits for NVIDIA's driver[^\\n]*\\n
                    """)
    void havePrograms(String image, String command, int status, String output) throws Exception {
        Container container = image.equals("fake") ? fake : nvidia;

        Ended ended = container.run(Map.of("JAVA_OPTS", container.cacheOnly()), command.split(" ", 3));

        assertThat(ended.output()).matches("(?s)" + output);
        assertThat(ended.status()).isEqualTo(status);
    }
}
