// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static io.dra4j.testkit.apiserver.FeatureGate.DRA_DEVICE_TAINTS;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.KubernetesVersion;
import io.dra4j.testkit.kubelet.HealthWatch;
import io.dra4j.testkit.kubelet.HealthWatch.Device;
import io.dra4j.testkit.kubelet.HealthWatch.Report;
import io.dra4j.testkit.kubelet.HealthWatch.Version;
import io.dra4j.testkit.kubelet.KubeletEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the kubelet hears of devices that fail while the driver runs. */
class HealthIT {

    private static DevicesUnderTest gpus;

    @BeforeAll
    static void start() throws Exception {
        gpus =
                new DevicesUnderTest(
                        EmbeddedApiServer.builder()
                                .version(KubernetesVersion.V1_36)
                                .featureGate(DRA_DEVICE_TAINTS, true),
                        "--num-devices=3",
                        "--unhealthy-taint=NoSchedule");
    }

    @BeforeEach
    void mend() throws Exception {
        gpus.faults();
        gpus.awaitPublished(
                devices ->
                        devices.size() == 3
                                && devices.values().stream().noneMatch(d -> d.has("taints")));
    }

    @AfterAll
    static void stop() {
        gpus.close();
    }

    private static HealthWatch watch(Version version) {
        return gpus.driver.kubelet.watchHealth(DRIVER, version);
    }

    private static Report await(HealthWatch watch, Predicate<Report> wanted) throws Exception {
        return watch.await(wanted, PATIENCE)
                .orElseThrow(() -> new AssertionError(watch.reports() + "\n" + watch.end()));
    }

    private static Report awaitAllHealthy(HealthWatch watch) throws Exception {
        return await(
                watch,
                report -> report.devices().stream().allMatch(d -> d.state().equals("HEALTHY")));
    }

    private static Set<String> published() {
        return gpus.published().keySet();
    }

    private static Set<String> names(Report report) {
        return report.devices().stream().map(Device::device).collect(Collectors.toSet());
    }

    @ParameterizedTest(name = "DRA-HLT-01 {0}")
    @EnumSource(Version.class)
    @Tag("DRA-HLT-01")
    void theCompleteListComesSoonAfterTheStreamOpens(Version version) throws Exception {
        Instant opened = Instant.now();
        try (HealthWatch watch = watch(version)) {
            Report first = await(watch, report -> true);
            Duration after = Duration.between(opened, first.received());

            assertThat(names(watch.reports().get(0))).isEqualTo(published());
            assertThat(after).isLessThan(Duration.ofSeconds(5));
            System.out.printf("DRA-HLT-01 %s: list after %d ms%n", version, after.toMillis());
        }
    }

    @ParameterizedTest(name = "DRA-HLT-02 {0}")
    @EnumSource(Version.class)
    @Tag("DRA-HLT-02")
    void aChangeIsSentAndEveryMessageIsComplete(Version version) throws Exception {
        try (HealthWatch watch = watch(version)) {
            awaitAllHealthy(watch);
            Instant broken = Instant.now();
            gpus.faults("gpu-1 unhealthy fell off the bus", "gpu-2 unknown");
            Report bad = await(watch, report -> report.state("gpu-1").equals("UNHEALTHY"));
            assertThat(bad.state("gpu-0")).isEqualTo("HEALTHY");
            assertThat(bad.state("gpu-2")).isEqualTo("UNKNOWN");
            assertThat(bad.devices())
                    .filteredOn(device -> device.device().equals("gpu-1"))
                    .extracting(Device::message)
                    .containsExactly("fell off the bus");
            gpus.faults("gpu-1 NoExecute ecc-error");
            await(
                    watch,
                    report ->
                            report.devices().stream()
                                    .anyMatch(device -> device.message().equals("ecc-error")));
            gpus.faults();
            awaitAllHealthy(watch);

            assertThat(watch.reports())
                    .allSatisfy(report -> assertThat(names(report)).isEqualTo(published()));
            System.out.printf(
                    "DRA-HLT-02 %s: heard %d ms after the fault%n",
                    version, Duration.between(broken, bad.received()).toMillis());
        }
    }

    /** Also what becomes of a device of which the driver hears no more. */
    @Test
    @Tag("DRA-HLT-03")
    void entriesAreDatedInSecondsOfThePastAndRefreshedBeforeTheyTimeOut() throws Exception {
        try (HealthWatch watch = watch(Version.V1)) {
            awaitAllHealthy(watch);
            int before = watch.reports().size();
            gpus.faults("gpu-2 silent");
            await(watch, report -> report.state("gpu-2").equals("UNKNOWN"));
            List<Report> all =
                    watch.awaitAll(reports -> reports.size() >= before + 2, PATIENCE).orElseThrow();

            assertThat(all).allSatisfy(HealthIT::isDatedWell);
            Duration longest = longestGap(all);
            assertThat(longest).isLessThan(Duration.ofSeconds(30));
            assertThat(all.get(all.size() - 1).state("gpu-0")).isEqualTo("HEALTHY");
            System.out.printf(
                    "DRA-HLT-03: %d messages, at most %d ms apart, of 30 s%n",
                    all.size(), longest.toMillis());
        }
    }

    private static void isDatedWell(Report report) {
        long now = report.received().getEpochSecond();
        assertThat(report.devices())
                .allSatisfy(
                        device -> {
                            assertThat(device.lastUpdated()).isBetween(now - 20, now);
                            assertThat(device.timeoutSeconds()).isEqualTo(30);
                        });
    }

    private static Duration longestGap(List<Report> reports) {
        Duration longest = Duration.ZERO;
        for (int i = 1; i < reports.size(); i++) {
            Duration gap =
                    Duration.between(reports.get(i - 1).received(), reports.get(i).received());
            longest = gap.compareTo(longest) > 0 ? gap : longest;
        }
        return longest;
    }

    @Test
    @Tag("DRA-HLT-04")
    void manyStreamsWorkBesideEachOtherAndLeaveNothingWhenTheyEnd() throws Exception {
        reopen(10); // threads and buffers of the first streams stay for later ones
        List<KubeletEvent> endsBefore = endsOfTheKubeletsOwnStream();
        long filesBefore = count("fd");
        long threadsBefore = count("task");
        List<HealthWatch> three =
                List.of(watch(Version.V1), watch(Version.V1ALPHA1), watch(Version.V1));
        for (HealthWatch watch : three) {
            awaitAllHealthy(watch);
        }

        reopen(100);

        gpus.faults("gpu-0 unhealthy");
        for (HealthWatch watch : three) {
            await(watch, report -> report.state("gpu-0").equals("UNHEALTHY"));
            assertThat(watch.end()).isEmpty();
            watch.close();
            assertThat(watch.awaitEnd(PATIENCE)).isTrue();
        }
        assertThat(endsOfTheKubeletsOwnStream()).isEqualTo(endsBefore);
        long files = count("fd");
        long threads = count("task");
        assertThat(files).isLessThan(filesBefore + 10);
        assertThat(threads).isLessThan(threadsBefore + 10);
        System.out.printf(
                "DRA-HLT-04: 3 + 100 streams: file descriptors %d -> %d, threads %d -> %d%n",
                filesBefore, files, threadsBefore, threads);
    }

    private static void reopen(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            Version version = i % 2 == 0 ? Version.V1 : Version.V1ALPHA1;
            try (HealthWatch watch = watch(version)) {
                await(watch, report -> report.devices().size() == 3);
            }
        }
    }

    private static long count(String what) throws IOException {
        Path folder = Path.of("/proc", Long.toString(gpus.driver.pid()), what);
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.count();
        }
    }

    private static List<KubeletEvent> endsOfTheKubeletsOwnStream() {
        return gpus.driver.kubelet.events().stream()
                .filter(event -> event.kind() == KubeletEvent.Kind.HEALTH_ENDED)
                .toList();
    }

    @Test
    @Tag("DRA-HLT-05")
    void namesArePublishedOnesMessagesShortAndNothingIsThereTwice() throws Exception {
        gpus.faults("gpu-0 unhealthy " + "höt ".repeat(1000), "gpu-1 absent");
        gpus.awaitPublished(devices -> devices.size() == 2);
        try (HealthWatch watch = watch(Version.V1)) {
            Report report = await(watch, r -> r.state("gpu-0").equals("UNHEALTHY"));

            assertThat(report.devices())
                    .extracting(device -> device.pool() + "/" + device.device())
                    .containsExactlyInAnyOrder("node-1/gpu-0", "node-1/gpu-2");
            assertThat(report.devices().get(0).message().getBytes(StandardCharsets.UTF_8))
                    .hasSizeBetween(1020, 1024);
        }
    }

    @Test
    @Tag("DRA-INFO-05")
    void theVersionsThatAreServedAreDeclaredAfterThoseOfTheDriver() {
        assertThat(gpus.driver.kubelet.plugin(DRIVER).orElseThrow().versions())
                .containsExactly(
                        "v1.DRAPlugin",
                        "v1beta1.DRAPlugin",
                        Version.V1.wireName(),
                        Version.V1ALPHA1.wireName());
    }

    @Test
    @Tag("DRA-TAINT-02")
    void anUnhealthyDeviceIsTaintedUntilItIsHealthyAgain() throws Exception {
        int number = gpus.driver.proxy.lastNumber();
        gpus.faults("gpu-0 unhealthy dead");
        JsonNode taint = awaitTaint("gpu-0");
        assertThat(taint.path("key").asText()).isEqualTo(DRIVER + "/unhealthy");
        assertThat(taint.path("effect").asText()).isEqualTo("NoSchedule");

        try (HealthWatch watch = watch(Version.V1)) {
            gpus.faults("gpu-0 unknown");
            await(watch, report -> report.state("gpu-0").equals("UNKNOWN"));
        }
        gpus.faults("gpu-0 unknown", "gpu-1 unhealthy"); // what gpu-0 brings is over by then
        awaitTaint("gpu-1");
        assertThat(gpus.published().get("gpu-0").at("/taints/0")).isEqualTo(taint);

        mend();
        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).hasSize(3);
    }

    private JsonNode awaitTaint(String device) throws Exception {
        return gpus.awaitPublished(devices -> devices.get(device).path("taints").size() == 1)
                .get(device)
                .at("/taints/0");
    }

    @Test
    @Tag("DRA-TAINT-01")
    @Tag("DRA-SHUT-01")
    void aDriverThatStopsEndsItsStreamsAndItsSuccessorLeavesTheTaint() throws Exception {
        gpus.faults("gpu-0 unhealthy dead");
        JsonNode taint = awaitTaint("gpu-0");
        int number = gpus.driver.proxy.lastNumber();
        List<HealthWatch> open = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            open.add(watch(Version.V1));
            await(open.get(i), report -> true);
        }

        Instant asked = Instant.now();
        assertThat(gpus.driver.terminate()).isZero();
        Duration took = Duration.between(asked, Instant.now());
        assertThat(took).isLessThan(Duration.ofSeconds(10));
        for (HealthWatch watch : open) {
            assertThat(watch.awaitEnd(PATIENCE)).isTrue();
            assertThat(watch.end()).contains("OK");
        }
        System.out.printf(
                "DRA-SHUT-01: SIGTERM to exit with 4 open streams: %d ms%n", took.toMillis());

        gpus.restart();
        gpus.faults("gpu-0 unhealthy dead", "gpu-1 unhealthy");
        awaitTaint("gpu-1");
        assertThat(gpus.published().get("gpu-0").at("/taints/0")).isEqualTo(taint);
        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).hasSize(1);
    }

    @Test
    @Tag("DRA-HLT-06")
    void aDriverWithoutTheServiceSaysSoAtOnceAndLogsNothing() throws Exception {
        try (DriverUnderTest driver = new DriverUnderTest()) {
            driver.start();
            driver.awaitRegistered();
            assertThat(driver.kubelet.plugin(DRIVER).orElseThrow().versions())
                    .containsExactly("v1.DRAPlugin", "v1beta1.DRAPlugin");
            unimplemented(driver);
            driver.api.store().await("resourceslices", slices -> slices.size() == 1, PATIENCE);
            String before = driver.log();

            long slowest = 0;
            for (int i = 0; i < 20; i++) {
                slowest = Math.max(slowest, unimplemented(driver));
            }

            assertThat(Duration.ofNanos(slowest)).isLessThan(Duration.ofSeconds(3));
            assertThat(driver.log().substring(before.length())).doesNotContain("ealth", "NIMPL");
            System.out.printf(
                    "DRA-HLT-06: 40 calls, the slowest answered UNIMPLEMENTED after %d ms%n",
                    Duration.ofNanos(slowest).toMillis());
        }
    }

    private static long unimplemented(DriverUnderTest driver) throws Exception {
        long begun = System.nanoTime();
        for (Version version : Version.values()) {
            try (HealthWatch watch = driver.kubelet.watchHealth(DRIVER, version)) {
                assertThat(watch.awaitEnd(PATIENCE)).isTrue();
                assertThat(watch.end()).contains("UNIMPLEMENTED");
                assertThat(watch.reports()).isEmpty();
            }
        }
        return System.nanoTime() - begun;
    }
}
