// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.dra4j.charttest.DriverContainer;
import io.dra4j.charttest.Manifests;
import io.dra4j.images.Container.Ended;
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

/** The example driver in its image, with nothing of the build machine. */
@Timeout(value = 20, unit = TimeUnit.MINUTES) // emulated, a start takes a minute
class FakeDriverImageIT {

    /** An option that the cache was not made with. */
    private static final String OTHER_HEADERS = "-XX:+UseCompactObjectHeaders";

    /** Words of a JVM about a class or a library that is not there. */
    static final String[] LACKING = {
        "NoClassDefFoundError", "ClassNotFoundException", "UnsatisfiedLinkError", "no such file"
    };

    /** Of a class, as the JVM logs it. */
    private static final String SOURCE = " source: ";

    private static final int GENERATED = 53; // 44, or 62 if method handles get code of their own

    private static final Manifests CHART =
            Manifests.read(Path.of("../../example-fake-driver/src/test/resources/published-chart.yaml"));

    @TempDir
    private static Path folder;

    private static Container container;

    @BeforeAll
    static void unpack() throws Exception {
        container = Built.driver(Image.FAKE_DRIVER, folder.resolve("root"));
    }

    @Test
    void registersPublishesAndPreparesWithItsCacheAsThePublishedChartRunsIt() {
        DriverContainer plugin = DriverContainer.named(CHART, "plugin");
        Map<String, String> environment = plugin.onTestNode();
        environment.put("JAVA_OPTS", container.cacheOnly() + " -Xlog:class+load:stderr");
        environment.put("METRICS_PORT", "0"); // of the host's network
        environment.put("HEALTHCHECK_PORT", "0");
        List<String> words = new ArrayList<>(plugin.commandLine());
        words.addAll(List.of("-v", "5")); // to see what is missing; at 6 gRPC names classes that it can do without
        List<String> command = container.driver("", environment, words);

        String log = DriverLife.run("gpu.example.com", command, context -> {});

        assertThat(log).contains("Claim prepared");
        assertThat(log.lines().filter(line -> !line.contains(SOURCE)).collect(Collectors.joining("\n")))
                .doesNotContainIgnoringCase(LACKING);
        assertThat(log.lines().filter(line -> line.contains("LambdaForm$") && line.contains(SOURCE + "__")))
                .as("code generated for method handles")
                .hasSizeBetween(1, container.cacheOnly().isEmpty() ? Integer.MAX_VALUE : GENERATED);
    }

    @Test
    void runsWithoutItsCacheIfTheJvmRefusesIt() throws Exception {
        assumeFalse(container.cacheOnly().isEmpty(), "this image has no AOT cache");
        List<String> command =
                container.driver("", Map.of("JAVA_OPTS", OTHER_HEADERS), List.of(container.entryPoint()));

        String log = DriverLife.run("gpu.example.com", command, context -> {});

        assertThat(log).containsIgnoringCase("aot");
        Ended refused = container.run(
                Map.of("JAVA_OPTS", OTHER_HEADERS + " " + container.cacheOnly()), container.entryPoint(), "--version");
        assertThat(refused.status()).as(refused.output()).isNotZero();
    }

    @Test
    void isCalledAsTheCommunitysDriver() throws Exception {
        Ended ended = container.run(Map.of(), "bash", "-c", "dra-example-kubeletplugin --version");

        assertThat(ended.status()).isZero();
        assertThat(ended.output()).startsWith("dra4j-example-fake-driver ").doesNotContain("(unp");
    }

    @Test
    void hasTheControllerToo() throws Exception {
        Ended ended = container.run(
                Map.of("JAVA_OPTS", container.cacheOnly()), "bash", "-c", "dra-example-controller --help");

        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output()).contains("--enable-plugin");
    }
}
