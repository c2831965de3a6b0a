// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Outcome;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverTrouble;
import io.dra4j.testkit.driver.ProcessDriver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

/** Lets the suite try a driver of the table, and says what it got wrong about it. */
final class MutantJudge {

    /** Requirements that are tried with every mutant, to see that it fails only where it should. */
    static final List<String> CANARIES =
            List.of(
                    "DRA-REG-04",
                    "DRA-INFO-01",
                    "DRA-INFO-04",
                    "DRA-PREP-01",
                    "DRA-PREP-05",
                    "DRA-PREP-15",
                    "DRA-UNP-01",
                    "DRA-UNP-03",
                    "DRA-CDI-02",
                    "DRA-CDI-06");

    private static final Map<String, String> ENVIRONMENT = Map.of("FAULT_FILE", "{ROOT}/faults");

    private static final String MISSED = "not caught: ";

    /** A part of a MUST can be a SHOULD; the message tells which was broken. */
    private static final Set<Verdict> BROKEN = Set.of(Verdict.FAIL, Verdict.WARN, Verdict.INFO);

    private final Catalogue catalogue = Catalogue.load();
    private final String settings = settings();

    static String settings() {
        try (InputStream file = MutantJudge.class.getResourceAsStream("settings.yaml")) {
            return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns what the suite got wrong about the mutant as a process, a line each; nothing if it
     * was caught by what it is mapped to, and by nothing else of that and the canaries.
     *
     * @param whole whether the whole suite tries it, and not only these
     */
    List<String> complaints(Mutant mutant, boolean whole) throws Exception {
        return complaints(mutant, only(mutant, whole), process(mutant));
    }

    /**
     * The same of the bare driver in this JVM. What is not caught here may be what a process alone
     * has, so one in a process is judged then, by what it is mapped to and the canaries.
     */
    List<String> hostedComplaints(Mutant mutant, boolean whole) throws Exception {
        List<String> doubts = complaints(mutant, only(mutant, whole), hosted(mutant));
        if (doubts.isEmpty() || !doubts.stream().allMatch(doubt -> doubt.startsWith(MISSED))) {
            return doubts;
        }
        System.out.println("Not caught in this JVM: " + mutant + ": " + doubts);
        return complaints(mutant, false);
    }

    /** What the suite is told to try; everything if it is empty. */
    private static List<String> only(Mutant mutant, boolean whole) {
        return whole ? List.of() : few(mutant);
    }

    static List<String> few(Mutant mutant) {
        return Stream.concat(mutant.requirements().stream(), CANARIES.stream()).toList();
    }

    static HostedDriver hosted(Mutant mutant) {
        return new HostedDriver(mutant.arguments(), ENVIRONMENT);
    }

    static ProcessDriver process(Mutant mutant) throws IOException, InterruptedException {
        return new ProcessDriver(mutant.command(), ENVIRONMENT, Duration.ofSeconds(30));
    }

    private List<String> complaints(Mutant mutant, List<String> only, DriverAdapter driver)
            throws Exception {
        List<Result> results;
        try {
            results = run(mutant, only, driver).results();
        } catch (DriverTrouble | CompletionException | UncheckedIOException e) {
            return List.of("the suite ended: " + e);
        }
        List<String> complaints = new ArrayList<>();
        mutant.requirements().forEach(id -> complaints.addAll(missed(mutant, id, results)));
        results.stream()
                .filter(result -> isUnexpected(mutant, result))
                .map(MutantJudge::text)
                .forEach(complaints::add);
        return complaints;
    }

    /** Runs what a list has; the whole suite if it is empty. */
    Outcome run(Mutant mutant, List<String> only, DriverAdapter driver) throws Exception {
        return new Engine(
                        SettingsReader.parse(
                                settings + "only: " + only + "\n", "settings.yaml", flags(mutant)),
                        driver,
                        catalogue,
                        Progress.NONE)
                .run();
    }

    /** The release before is the driver without faults. */
    private static Map<String, JsonNode> flags(Mutant mutant)
            throws IOException, InterruptedException {
        ArrayNode declares = new ObjectMapper().createArrayNode().add("adm");
        mutant.declares().forEach(declares::add);
        ArrayNode old = new ObjectMapper().createArrayNode();
        BareProgram.command().forEach(old::add);
        return Map.of("/driver/declares", declares, "/driver/hooks/old", old);
    }

    private static List<String> missed(Mutant mutant, String id, List<Result> results) {
        List<Result> own = results.stream().filter(r -> r.requirement().id().equals(id)).toList();
        String said = mutant.messages().get(id);
        if (own.stream()
                .anyMatch(r -> BROKEN.contains(r.verdict()) && r.message().contains(said))) {
            return List.of();
        }
        return own.isEmpty()
                ? List.of("not tried: " + id)
                : own.stream().map(result -> MISSED + text(result)).toList();
    }

    private static boolean isUnexpected(Mutant mutant, Result result) {
        String id = result.requirement().id();
        return result.verdict() == Verdict.SUITE_ERROR
                || (result.verdict() == Verdict.FAIL
                        && !mutant.requirements().contains(id)
                        && !mutant.collateral().contains(id));
    }

    static String text(Result result) {
        String message = result.message().replace('\n', ' ');
        return result.name()
                + " "
                + result.verdict()
                + ": "
                + message.substring(0, Math.min(300, message.length()));
    }
}
