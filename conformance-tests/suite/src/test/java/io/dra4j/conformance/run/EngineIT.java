// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.DriverArchive;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.ProcessDriver;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The engine with the fake driver as a process. */
@Tag("slow")
class EngineIT {

    private static final boolean FULL = Boolean.getBoolean("dra4j.full");
    private static final boolean NIGHTLY = Boolean.getBoolean("dra4j.nightly");

    /** More than a minute by contract: every night. */
    private static final Set<String> LONG_BY_CONTRACT = Set.of("DRA-SLICE-06", "DRA-SLICE-14");

    /** Many starts of a driver each: in a full build. */
    private static final Set<String> MANY_STARTS =
            Set.of("DRA-SLICE-07", "DRA-SHUT-01", "DRA-UPG-01", "DRA-UPG-04", "DRA-RST-10");

    private static Outcome run(String settings) throws Exception {
        List<String> command = new ArrayList<>(DriverArchive.get().command());
        command.add("--num-devices=40");
        return new Engine(
                        SettingsReader.parse(settings, "the test", Map.of()),
                        new ProcessDriver(command, Map.of(), Duration.ofSeconds(60)),
                        Catalogue.load(),
                        Progress.NONE)
                .run();
    }

    private static String fakeDriver() throws IOException {
        try (InputStream file = EngineIT.class.getResourceAsStream("fake-driver.yaml")) {
            return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void everyRuleHoldsForTheFakeDriver() throws Exception {
        String only =
                new RuleBook()
                        .ids().stream()
                                .filter(
                                        id ->
                                                (NIGHTLY || !LONG_BY_CONTRACT.contains(id))
                                                        && (FULL || !MANY_STARTS.contains(id)))
                                .collect(Collectors.joining(", "));
        if (System.getProperty("only") != null) {
            only = System.getProperty("only");
        }
        List<Result> broken = broken(only);
        if (!broken.isEmpty()) { // limits of a second are hard to keep beside all lanes: alone, too
            broken = broken(ids(broken));
        }
        assertThat(broken).isEmpty();
    }

    private static List<Result> broken(String only) throws Exception {
        Outcome outcome = run(fakeDriver() + "\nonly: [%s]\n".formatted(only));
        System.out.println(
                outcome.results().stream()
                        .map(
                                r ->
                                        r.name()
                                                + " "
                                                + r.verdict()
                                                + " "
                                                + r.took().toMillis()
                                                + " ms "
                                                + r.message())
                        .collect(Collectors.joining("\n")));
        return outcome.results().stream()
                .filter(
                        result ->
                                !List.of(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED)
                                        .contains(result.verdict()))
                .toList();
    }

    private static String ids(List<Result> results) {
        return results.stream()
                .map(result -> result.requirement().id())
                .distinct()
                .collect(Collectors.joining(", "));
    }
}
