// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.selfcheck.AlteredDrivers.Expected;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.ProcessDriver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the suite on the driver of this package. */
final class Runner {

    /** Requirements that are tried with every driver, to see that it fails only where it should. */
    static final List<String> CONTROL_REQUIREMENTS = List.of(
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

    private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

    /** The file to which hooks of the settings write. */
    private static final Map<String, String> FAULT_FILE = Map.of("FAULT_FILE", "{ROOT}/faults");

    /** The same, and where another hook writes. */
    private static final Map<String, String> ENVIRONMENT =
            Map.of("FAULT_FILE", "{ROOT}/faults", "PROC_ROOT", "{ROOT}/proc");

    private static final Catalogue CATALOGUE = Catalogue.load();
    private static final String SETTINGS = settings();
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final YAMLMapper YAML = new YAMLMapper();

    private Runner() {}

    private static String settings() {
        try {
            return Files.readString(Path.of("src/test/resources/io/dra4j/selfcheck/settings.yaml"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Runs the suite.
     *
     * @param more YAML that is added to the settings
     * @param changed settings by JSON pointer
     */
    static RunOutcome run(String more, Map<String, JsonNode> changed, DriverAdapter driver) {
        var settings = SettingsReader.parse(SETTINGS + more + "\n", "settings.yaml", changed);
        return new Engine(settings, driver, CATALOGUE, Progress.NONE).run();
    }

    /** The same with the driver that the settings name. */
    static RunOutcome run(String more, Map<String, JsonNode> changed) {
        var settings = SettingsReader.parse(SETTINGS + more + "\n", "settings.yaml", changed);
        DriverAdapter driver = DriverAdapters.of(settings.driver());
        return new Engine(settings, driver, CATALOGUE, Progress.NONE).run();
    }

    /** Runs the suite on a mutant: the whole, or some requirements and the control requirements. */
    static RunOutcome run(Mutant mutant, boolean whole, long seed) throws IOException, InterruptedException {
        List<String> requirements = AlteredDrivers.expected(mutant.violations()).stream()
                .map(Expected::requirement)
                .toList();
        Map<String, JsonNode> changed =
                new HashMap<>(declaring(mutant.declares().toArray(String[]::new)));
        changed.put("/timeoutFactor", JSON.valueToTree(mutant.timeoutFactor()));
        changed.put("/seed", JSON.valueToTree(seed));
        changed.put("/apiServer/kubernetes", JSON.valueToTree(mutant.kubernetes()));
        return run(
                whole ? "" : withControls(requirements),
                changed,
                mutant.process() ? process(arguments(mutant)) : hosted(arguments(mutant), mutant.timeoutFactor()));
    }

    /** The driver declares what it always does, and more; its older release has no fault. */
    static Map<String, JsonNode> declaring(String... capabilities) throws IOException, InterruptedException {
        List<String> declared = new ArrayList<>(List.of("adm"));
        declared.addAll(List.of(capabilities));
        return Map.of(
                "/driver/declares", JSON.valueToTree(declared), "/driver/hooks/old", JSON.valueToTree(Programs.bare()));
    }

    /** Runs the suite on a conforming variant: in this JVM, or as a process if it needs one. */
    static RunOutcome run(Variant variant, String selection, long seed) throws IOException, InterruptedException {
        Map<String, JsonNode> more = Map.of("/seed", JSON.valueToTree(seed));
        if (variant.process() || variant.namespace()) {
            return run(variant, selection, more);
        }
        Map<String, JsonNode> changed = changed(variant);
        changed.putAll(more);
        return run(selection, changed, new HostedDriver(arguments(variant), ENVIRONMENT, START_TIMEOUT));
    }

    /** Runs the suite on a conforming variant as a process, with more settings. */
    static RunOutcome run(Variant variant, String selection, Map<String, JsonNode> more)
            throws IOException, InterruptedException {
        List<String> command = Programs.bare(arguments(variant).toArray(String[]::new));
        Map<String, JsonNode> changed = new HashMap<>();
        changed.put("/driver/process/command", JSON.valueToTree(command));
        changed.put("/driver/process/environment", JSON.valueToTree(ENVIRONMENT));
        changed.putAll(changed(variant));
        changed.putAll(more);
        return run(selection, changed);
    }

    private static Map<String, JsonNode> changed(Variant variant) throws IOException {
        Map<String, JsonNode> changed = new HashMap<>();
        changed.put("/driver/seamlessUpgrade", BooleanNode.valueOf(Build.CURRENT == Build.WHOLE));
        changed.put("/driver/declares", JSON.valueToTree(List.of("adm")));
        changed.putAll(settings(variant));
        return changed;
    }

    static Map<String, JsonNode> settings(Variant variant) throws IOException {
        Map<String, JsonNode> settings = new HashMap<>();
        YAML.readTree(variant.settings()).properties().forEach(each -> settings.put(each.getKey(), each.getValue()));
        return settings;
    }

    /** The driver in this JVM. */
    static HostedDriver hosted(List<String> arguments) {
        return hosted(arguments, 1);
    }

    private static HostedDriver hosted(List<String> arguments, double timeoutFactor) {
        long millis = Math.round(START_TIMEOUT.toMillis() * timeoutFactor);
        return new HostedDriver(arguments, FAULT_FILE, Duration.ofMillis(millis));
    }

    /** The driver as a process. */
    static ProcessDriver process(List<String> arguments) throws IOException, InterruptedException {
        return new ProcessDriver(Programs.bare(arguments.toArray(String[]::new)), FAULT_FILE, START_TIMEOUT);
    }

    static List<String> arguments(Mutant mutant) {
        return Stream.concat(Stream.of("--fault", mutant.id()), mutant.options().stream())
                .toList();
    }

    static List<String> arguments(Variant variant) {
        return Stream.concat(Stream.of("--variant", variant.id()), variant.options().stream())
                .toList();
    }

    /** Selects requirements. */
    static String only(List<String> requirements) {
        return "only: " + requirements;
    }

    /** Selects requirements and the control requirements. */
    static String withControls(List<String> requirements) {
        return only(Stream.concat(requirements.stream(), CONTROL_REQUIREMENTS.stream())
                .distinct()
                .toList());
    }

    /** Selects the core profiles. */
    static String core() {
        return "profiles: "
                + CATALOGUE.profiles().stream()
                        .filter(Profile::core)
                        .map(Profile::name)
                        .toList();
    }

    /** The results of a requirement: one, or one for each service. */
    static List<Result> results(RunOutcome outcome, String id) {
        return outcome.results().stream()
                .filter(result -> result.requirement().id().equals(id))
                .toList();
    }

    static String text(Result result) {
        return "%s %s: %.300s"
                .formatted(result.name(), result.verdict(), result.message().replace('\n', ' '));
    }
}
