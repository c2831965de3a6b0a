// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Drivers whose devices no claim can have, and what is reported of all that is then not seen: that
 * it is blocked, whether it was asked for alone or not.
 *
 * <p>The start time of a driver is 60 s; here it is a tenth of that. Those who publish late, or
 * have no devices and declare it, are H-18, H-8 and H-19 of {@link ConformingVariantsIT}.
 */
@Tag("nightly")
class UnpublishedDriverIT {

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final String ONLY = "only: [DRA-PREP-01, DRA-PREP-10, DRA-CDI-01]";

    @TempDir
    Path folder;

    private static RunOutcome outcome(String fault, String more, Map<String, JsonNode> given) {
        Map<String, JsonNode> flags = new HashMap<>(Map.of("/driver/seamlessUpgrade", BooleanNode.FALSE));
        flags.putAll(given);
        RunOutcome outcome = Runner.run("timeoutFactor: 0.1\n" + more, flags, Runner.hosted(List.of("--fault", fault)));
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

    @Test
    void aDriverThatPublishesNothingFailsWithItsLog() {
        RunOutcome outcome = outcome("M-137", ONLY, Map.of());

        failsAndBlocks(
                outcome,
                "DRA-SLICE-01",
                "the driver publishes no slice that its node can use",
                "6 s after it registered",
                "but none that writes a slice");
        assertThat(outcome.notes())
                .contains("the driver logged: E1123 01:02:03.000004       1 main.go:7] no devices were found");
    }

    @Test
    void inAWholeRunNothingIsNotApplicableForLackOfDevices() {
        RunOutcome outcome = outcome("M-137", "", Map.of());

        failsAndBlocks(outcome, "DRA-SLICE-01", "the driver publishes no slice");
        assertThat(outcome.results())
                .filteredOn(result -> result.verdict() == Verdict.NOT_APPLICABLE)
                .extracting(Result::message)
                .isNotEmpty()
                .allSatisfy(message -> assertThat(message).containsPattern("declare|older release|settings"));
    }

    @Test
    void aPoolThatIsInvalidAsAWholeFailsWithTheAnswersOfTheApiServer() {
        failsAndBlocks(
                outcome("M-70b", ONLY, Map.of()),
                "DRA-SLICE-01",
                "the API server refused its POST with 422 Invalid: ",
                "attributes");
    }

    @Test
    void aPoolThatIsNeverCompleteFailsAnotherRequirement() {
        failsAndBlocks(
                outcome("M-71a", ONLY, Map.of()),
                "DRA-SLICE-03",
                "the pools have not settled: slice",
                "resourceSliceCount");
    }

    @Test
    void anEncodingThatTheApiServerRefusesIsNamed() {
        failsAndBlocks(
                outcome("M-138", ONLY, Map.of()),
                "DRA-SLICE-01",
                "the API server refused its POST with 415 UnsupportedMediaType");
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

    @Test
    void anEndpointThatNoKubeletCanCallBlocksAllThatNeedsIt() {
        RunOutcome outcome = outcome("M-109a", "only: [DRA-INFO-03, DRA-PREP-01]", Map.of());

        assertThat(result(outcome, "DRA-INFO-03").verdict()).isEqualTo(Verdict.FAIL);
        assertThat(result(outcome, "DRA-PREP-01").verdict()).isEqualTo(Verdict.BLOCKED);
    }
}
