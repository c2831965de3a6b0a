// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs that end because a part of the suite fails, or in which much is blocked or blamed. */
class FailingRunIT {

    /** Has room for two test contexts. */
    private record TwoPlaces(HostedDriver driver, Queue<Path> roots, RuntimeException noThird)
            implements DriverAdapter {

        @Override
        public Place place(String node, String driverName) {
            if (roots.size() == 2) {
                throw noThird;
            }
            Place place = driver.place(node, driverName);
            roots.add(place.root());
            return place;
        }

        @Override
        public Duration startTimeout() {
            return driver.startTimeout();
        }

        @Override
        public Instance start(Place place, Map<String, String> more) {
            return driver.start(place, more);
        }
    }

    /** No requirement has a verdict, and the message has the line of the log that tells why. */
    @ParameterizedTest
    @CsvSource({
        "M-230, 'The driver gpu.example.com has not registered within 3 s; the kubelet saw no socket; its last line: I1123 01:02:03.000004       1 main.go:7] No device detected, retrying in 1m0s'",
        "M-231, The driver ended with exit status 2; it logged: panic: no PCIe root"
    })
    void aDriverThatMakesNoSocketIsNotJudged(String fault, String message) {
        HostedDriver driver = new HostedDriver(List.of("--fault", fault), Map.of(), Duration.ofSeconds(3));

        assertThatThrownBy(() -> Runner.run("", Map.of(), driver))
                .isInstanceOf(DriverUnusable.class)
                .hasMessage(message);
    }

    /** The other execution group waits for requirements of the one that has failed. */
    @Test
    @Timeout(300)
    void endsAndLeavesNothing() {
        Queue<Path> roots = new ConcurrentLinkedQueue<>();

        assertThatThrownBy(() -> ofFour(roots, new IllegalStateException("no third place")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no third place");

        assertThat(roots).hasSize(2).allSatisfy(r -> assertThat(r).doesNotExist());
    }

    /** A disk is full, or an API server refuses a request: what was seen of the driver is still reported. */
    @Test
    @Timeout(300)
    void reportsTheRestWithoutATestContext() {
        RuntimeException full = new UncheckedIOException(new IOException("full"));

        assertThat(ofFour(new ConcurrentLinkedQueue<>(), full).results())
                .extracting(Runner::text)
                .anyMatch(text -> text.contains(" PASS: "))
                .anyMatch(text -> text.endsWith(" SUITE_ERROR: no test context can be set up: " + full));
    }

    private static RunOutcome ofFour(Queue<Path> roots, RuntimeException noThird) {
        return Runner.run(
                "only: [DRA-PREP-01, DRA-SLICE-01, DRA-SLICE-19, DRA-RST-01]",
                Map.of(),
                new TwoPlaces(Runner.hosted(List.of()), roots, noThird));
    }

    /**
     * Drivers whose devices no claim can have, and what is reported of all that is then not seen: that
     * it is blocked, whether it was asked for alone or not.
     *
     * <p>The start time of a driver is 60 s; here it is a tenth of that. Those who publish late, or
     * have no devices and declare it, are H-18, H-8 and H-19 of {@link ConformingVariantsIT}.
     */
    @Nested
    @Tag("nightly")
    class WithoutUsableDevices {

        private static final Duration LIMIT = Duration.ofSeconds(90);
        private static final String ONLY = "only: [DRA-PREP-01, DRA-PREP-10, DRA-CDI-01]";

        @TempDir
        Path folder;

        private static RunOutcome outcome(String fault, String more, Map<String, JsonNode> given) {
            Map<String, JsonNode> flags = new HashMap<>(Map.of("/driver/seamlessUpgrade", BooleanNode.FALSE));
            flags.putAll(given);
            RunOutcome outcome =
                    Runner.run("timeoutFactor: 0.1\n" + more, flags, Runner.hosted(List.of("--fault", fault)));
            assertThat(outcome.header().took()).isLessThan(LIMIT);
            return outcome;
        }

        private static Result result(RunOutcome outcome, String id) {
            return Runner.results(outcome, id).get(0);
        }

        /** The failed requirement is checked though it was not selected, and those selected are blocked. */
        private static void failsAndBlocks(RunOutcome outcome, String failed, String... words) {
            assertThat(result(outcome, failed).verdict()).isEqualTo(Verdict.FAIL);
            assertThat(result(outcome, failed).message()).contains(words);
            assertThat(result(outcome, "DRA-PREP-01").verdict()).isEqualTo(Verdict.BLOCKED);
            assertThat(result(outcome, "DRA-PREP-01").message()).startsWith("needs " + failed + ": ");
            assertThat(result(outcome, "DRA-PREP-10").verdict()).isEqualTo(Verdict.BLOCKED);
            assertThat(result(outcome, "DRA-CDI-01").verdict()).isEqualTo(Verdict.BLOCKED);
            assertThat(outcome.exitCode()).isEqualTo(1);
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        M-137 | DRA-SLICE-01 | the driver publishes no slice that its node can use | but none that writes a slice
                        M-70b | DRA-SLICE-01 | the API server refused its POST with 422 Invalid: | attributes
                        M-71a | DRA-SLICE-03 | the pools have not settled: slice | resourceSliceCount
                        M-138 | DRA-SLICE-01 | the API server refused its POST with 415 UnsupportedMediaType | ''
                        """)
        void aPoolThatIsNotUsableFailsWithTheReason(String fault, String failed, String reason, String more) {
            failsAndBlocks(outcome(fault, ONLY, Map.of()), failed, reason, more);
        }

        @Test
        void inAWholeRunNothingIsNotApplicableForLackOfDevices() {
            RunOutcome outcome = outcome("M-137", "", Map.of());

            failsAndBlocks(outcome, "DRA-SLICE-01", "the driver publishes no slice", "6 s after it registered");
            assertThat(outcome.notes())
                    .contains("the driver logged: E1123 01:02:03.000004       1 main.go:7] no devices were found");
            assertThat(outcome.results())
                    .filteredOn(result -> result.verdict() == Verdict.NOT_APPLICABLE)
                    .extracting(Result::message)
                    .isNotEmpty()
                    .allSatisfy(message -> assertThat(message).containsPattern("declare|older release|settings"));
        }

        @Test
        void rightsThatTheDriverLacksAreNamed() throws Exception {
            try (EmbeddedApiServer api = EmbeddedApiServer.builder().start();
                    ApiProxy strict = ApiProxy.before(api.url())) {
                strict.inject(Fault.status(403, "Forbidden").on(Requests.writes("resourceslices")));
                Path kubeconfig = strict.writeKubeconfig(folder.resolve("kubeconfig"));

                failsAndBlocks(
                        outcome("", ONLY, Map.of("/apiServer/kubeconfig", TextNode.valueOf(kubeconfig.toString()))),
                        "DRA-SLICE-01",
                        "the API server refused its POST with 403 Forbidden");
            }
        }

        @Test
        void aDriverWithoutSeamlessUpgradesIsTestedForAllElse() {
            RunOutcome outcome = outcome(
                    "M-139",
                    "only: [DRA-INFO-03, DRA-INFO-05, DRA-PREP-01, DRA-UNP-01, DRA-CDI-02, DRA-UPG-01]",
                    Map.of("/driver/seamlessUpgrade", BooleanNode.TRUE));

            assertThat(result(outcome, "DRA-INFO-03").verdict()).isEqualTo(Verdict.FAIL);
            assertThat(result(outcome, "DRA-INFO-03").message())
                    .contains("a second instance", "another instance of the driver may be running");
            for (String other : List.of("INFO-05", "PREP-01", "UNP-01", "CDI-02")) {
                assertThat(result(outcome, "DRA-" + other).verdict()).isEqualTo(Verdict.PASS);
            }
            assertThat(result(outcome, "DRA-UPG-01").verdict()).isEqualTo(Verdict.FAIL);
            assertThat(outcome.exitCode()).isEqualTo(1);
        }
    }

    /** Files of claims that an unprepare leaves, where the settings name them. */
    @Nested
    class WithFilesLeft {

        private static final String GLOB = "{KUBELET_PLUGINS_DIRECTORY_PATH}/gpu.example.com/metadata/*";

        private static RunOutcome run(List<String> arguments, String... globs) {
            ArrayNode setting = JsonNodeFactory.instance.arrayNode();
            List.of(globs).forEach(setting::add);
            return Runner.run(
                    "only: [DRA-UNP-04, DRA-UNP-09]",
                    Map.of("/driver/emptyWhenUnprepared", setting),
                    Runner.hosted(arguments));
        }

        private static List<String> bad(RunOutcome outcome) {
            return outcome.results().stream()
                    .filter(result -> result.verdict() != Verdict.PASS)
                    .map(Result::message)
                    .toList();
        }

        @Test
        void aDriverThatLeavesThemIsBlamed() {
            List<String> bad = bad(run(List.of("--fault", "M-118a", "--gpu-device-metadata"), GLOB));

            assertThat(bad)
                    .hasSize(4) // each of two requirements, for each of two services
                    .allMatch(message -> message.contains("driver.emptyWhenUnprepared"))
                    .allMatch(message -> message.contains("/gpu.example.com/metadata/"));
        }

        @Test
        void oneThatRemovesThemAndOneWithoutSuchADirectoryAreNot() {
            assertThat(bad(run(List.of("--gpu-device-metadata"), GLOB, "/no/such/folder/*")))
                    .isEmpty();
        }
    }
}
