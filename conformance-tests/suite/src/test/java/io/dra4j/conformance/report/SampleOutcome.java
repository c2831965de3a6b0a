// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Evidence;
import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.testkit.ReferenceFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;

/** Outcomes made by hand: an ordinary one of the whole catalogue, and one result after another. */
final class SampleOutcome {

    static final Catalogue CATALOGUE = Catalogue.load();
    static final Instant STARTED = Instant.parse("2026-11-21T16:00:00Z");

    private static final List<String> CALLS = List.of(
            "16:00:01.204 GetInfo → OK in 3 ms: DRAPlugin gpu.example.com [v1, v1beta1]",
            "16:00:01.310 v1 NodePrepareResources {claim-1 of default, uid 8f6c7d3e-1c2f-4a5b} → OK in 21 ms: r0 → pool node-1, device gpu-0, [gpu.example.com/claim=8f6c7d3e-1c2f-4a5b-gpu-0]",
            "16:00:01.402 v1 NodeUnprepareResources {claim-1} → OK in 9 ms");
    private static final String REQUESTS = """
            TIME          METHOD  PATH                                                       STATUS
            16:00:01.312  GET     /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/claim-1  200
            16:00:01.500  PUT     /apis/resource.k8s.io/v1/resourceslices/node-1-gpu.example.com-x7k  200
            """;
    private static final Evidence EVIDENCE = new Evidence(
            CALLS,
            REQUESTS,
            "gpu.example.com-claim_8f6c7d3e.json 0600 412 bytes\n",
            "I1121 16:00:01.204 driver.go:88] registered\nI1121 prepared claim-1\n");

    static final Measured GIVEN_UP = Measured.time(
            "time from the start to the registration", Duration.ofSeconds(30), Duration.ofSeconds(30), true);
    static final Measured QUICK =
            Measured.time("slowest prepare", Duration.ofMillis(12), Duration.ofSeconds(45), false);
    static final Measured CLOSE = Measured.time(
            "time until the deleted slice was back", Duration.ofMillis(60_100), Duration.ofSeconds(90), false);

    private static final Set<String> FEW = Set.of(
            "DRA-REG-01",
            "DRA-PREP-03v1",
            "DRA-PREP-17v1",
            "DRA-PREP-18v1",
            "DRA-PREP-35v1",
            "DRA-CDI-05v1",
            "DRA-HLT-01",
            "DRA-RST-06",
            "DRA-SLICE-08",
            "DRA-SLICE-09",
            "DRA-UNP-06v1");

    private SampleOutcome() {}

    /** The whole catalogue: most passes, and each other verdict here and there. */
    static RunOutcome ordinary() {
        List<Result> results = new ArrayList<>();
        for (Requirement requirement : CATALOGUE.requirements()) {
            for (String variant : requirement.perService() ? List.of("v1", "v1beta1") : List.of("")) {
                results.add(ordinary(requirement, variant));
            }
        }
        return outcome(results);
    }

    /** One result of each kind, of the ordinary ones. */
    static RunOutcome few() {
        return outcome(ordinary().results().stream()
                .filter(one -> FEW.contains(one.requirement().id() + one.variant()))
                .toList());
    }

    /**
     * Compares a text with a file of resources; {@code -Dreference.update=true} writes it there.
     *
     * @param file its name
     */
    static void assertIs(String file, String text) throws IOException {
        Path resource = Path.of("src/test/resources/io/dra4j/conformance/report", file);
        new ReferenceFile(resource).assertIs(text);
    }

    private static Result ordinary(Requirement requirement, String variant) {
        String id = requirement.id() + variant;
        if (!requirement.untested().isEmpty()) {
            return result(requirement, variant, Verdict.UNTESTED, requirement.untested());
        }
        BiFunction<Verdict, String, Result> with = (verdict, message) -> result(requirement, variant, verdict, message);
        return switch (id) {
            case "DRA-PREP-03v1" ->
                with.apply(
                        Verdict.FAIL,
                        "Request \"r0\" of claim default/claim-1 has device gpu-1, which was allocated to request \"r1\".\nexpected r0 → gpu-0\n     found r0 → gpu-0, gpu-1");
            case "DRA-RST-06" ->
                measured(
                        with.apply(Verdict.FAIL, "The driver ended with status 2 after its state was truncated."),
                        GIVEN_UP);
            case "DRA-SLICE-08" -> measured(with.apply(Verdict.PASS, ""), QUICK, CLOSE);
            case "DRA-PREP-18v1", "DRA-PREP-18v1beta1" ->
                with.apply(Verdict.WARN, "Device gpu-0 is prepared for claim-1, and claim-2 got it as well.");
            case "DRA-CDI-05v1" ->
                with.apply(
                        Verdict.DEVIATION,
                        "A half-written spec was seen.\nA known failure until 2027-01-31: the rename comes with release 2 (https://example.com/issues/5)");
            case "DRA-PREP-17v1" -> with.apply(Verdict.INFO, "The driver answers with an error.");
            case "DRA-UNP-06v1", "DRA-UNP-06v1beta1" -> with.apply(Verdict.BLOCKED, "DRA-RST-06 does not hold.");
            case "DRA-SLICE-09" -> with.apply(Verdict.SUITE_ERROR, "The proxy did not answer.");
            default ->
                requirement.profile().matches("health|taints|partitionable|device-.*")
                        ? with.apply(Verdict.NOT_APPLICABLE, "The driver publishes nothing of the kind.")
                        : with.apply(Verdict.PASS, "");
        };
    }

    private static Result result(Requirement requirement, String variant, Verdict verdict, String message) {
        boolean ran = switch (verdict) {
            case PASS, FAIL, WARN, INFO, DEVIATION, SUITE_ERROR -> true;
            case NOT_APPLICABLE, BLOCKED, UNTESTED, SKIPPED -> false;
        };
        return new Result(
                requirement,
                variant,
                verdict,
                message,
                ran ? Duration.ofMillis(137) : Duration.ZERO,
                ran ? EVIDENCE : Evidence.NONE);
    }

    private static Result measured(Result result, Measured... measurements) {
        return new Result(
                result.requirement(),
                result.variant(),
                result.verdict(),
                result.message(),
                result.took(),
                result.evidence(),
                List.of(measurements),
                result.blockedBy());
    }

    /** A result of the catalogue's {@code index}-th requirement. */
    static Result result(int index, String variant, Verdict verdict, String message) {
        return result(CATALOGUE.requirements().get(index), variant, verdict, message);
    }

    /** The same result with all texts replaced. */
    static Result saying(String text, Result result) {
        return new Result(
                result.requirement(),
                result.variant(),
                result.verdict(),
                text,
                result.took(),
                new Evidence(List.of(text, text), text, text, text));
    }

    /** The few, about which there is a remark. */
    static RunOutcome noted(String note) {
        RunOutcome few = few();
        return new RunOutcome(few.header(), few.profiles(), few.results(), List.of(note));
    }

    static RunOutcome outcome(List<Result> results) {
        return outcome(results, "gpu.example.com", "driver:\n  name: gpu.example.com\n");
    }

    static RunOutcome outcome(List<Result> results, String driver, String settings) {
        Header header = new Header(
                "0.1.0",
                CATALOGUE.version(),
                42,
                new KubernetesServer("1.36", "embedded", Map.of("DRADeviceTaints", false)),
                "process",
                driver,
                List.of("v1", "v1beta1"),
                Map.of(
                        "organization", "Example Corporation",
                        "project", "example-gpu-driver",
                        "url", "https://example.com/gpu-driver",
                        "version", "1.4.0",
                        "language", "go"),
                List.of("proc", "api", "cdi", "dev1", "dev2", "roll"),
                List.of("proc", "roll"),
                1,
                false,
                STARTED,
                Duration.ofSeconds(193),
                settings);
        return new RunOutcome(header, CATALOGUE.profiles(), results);
    }
}
