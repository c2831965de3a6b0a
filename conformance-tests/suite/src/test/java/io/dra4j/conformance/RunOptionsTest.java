// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.ConformanceMain.RunOptions;
import io.dra4j.conformance.play.PlaySettings;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.testkit.settings.SettingsException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** The options of run and of play. */
class RunOptionsTest {

    private static final Pattern PLACE = Pattern.compile("\\[([A-Za-z.]+)]");

    private static Settings settings(String... flags) {
        CommandLine line = new CommandLine(new RunOptions());
        line.parseArgs(flags);
        return TestedDriverOptions.settings(line.getCommandSpec());
    }

    @Test
    void everySettingHasAFlagThatNamesIt() {
        Set<String> named = new TreeSet<>();
        new CommandLine(new RunOptions()).getCommandSpec().args().forEach(arg -> {
            Matcher place = PLACE.matcher(String.join(" ", arg.description()));
            while (place.find()) {
                named.add(place.group(1));
            }
        });

        assertThat(named).isEqualTo(leaves("", Settings.class));
    }

    @Test
    void everyFlagIsExplainedBesideItsPlace() {
        assertThat(new CommandLine(new RunOptions()).getCommandSpec().args())
                .hasSizeGreaterThan(30)
                .allSatisfy(arg -> assertThat(PLACE.matcher(String.join(" ", arg.description()))
                                .replaceAll("")
                                .strip())
                        .as(arg.toString())
                        .hasSizeGreaterThan(10));
    }

    @Test
    void aMeasurementTakesNoFlagsThatItDoesNotHeed() {
        Set<String> flags = ConformanceMain.commandLine()
                .getSubcommands()
                .get("bench")
                .getCommandSpec()
                .optionsMap()
                .keySet();

        assertThat(flags)
                .contains("--config", "--driver-name", "--kubeconfig", "--rounds")
                .doesNotContain("--only", "--strict", "--report", "--known-failures");
    }

    @Test
    void oldFlagsAreReadButNotShown() {
        Settings settings =
                settings("--driver-name=a", "--patience=3", "--deviations=f.yaml", "--k8s=v1.38", "--", "b");

        assertThat(settings.timeoutFactor()).isEqualTo(3);
        assertThat(settings.knownFailures()).isEqualTo("f.yaml");
        assertThat(settings.apiServer().kubernetes()).isEqualTo("1.38");
        assertThat(new CommandLine(new RunOptions()).getUsageMessage())
                .contains("--timeout-factor", "--known-failures", "--kubernetes", "1.34 to 1.38")
                .doesNotContain("patience", "deviation", "--k8s");
        assertThatThrownBy(() -> settings("--driver-name=a", "--timeout-factor=2", "--patience=3", "--", "b"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("are both given");
    }

    private static Set<String> leaves(String path, Class<?> type) {
        Set<String> leaves = new TreeSet<>();
        for (RecordComponent component : type.getRecordComponents()) {
            String name = path + component.getName();
            if (component.getType().isRecord()) {
                leaves.addAll(leaves(name + ".", component.getType()));
            } else {
                leaves.add(name);
            }
        }
        return leaves;
    }

    @Test
    void flagsAloneAreEnough() {
        Settings settings = settings(
                "--driver-name=gpu.example.com",
                "--hook=plug=touch {ROOT}/more",
                "--only=DRA-PREP-01,prep-02",
                "--skip=PREP-03",
                "--valid-config={\"parameters\": {\"kind\": \"A\"}, \"effect\": \"env A\"}",
                "--invalid-config={\"kind\": \"B\"}",
                "--implementation=language=go",
                "--timeout-factor=3",
                "--",
                "driver",
                "--verbose");

        assertThat(settings.driver().process().command()).containsExactly("driver", "--verbose");
        assertThat(settings.driver().hooks().get("plug")).containsExactly("sh", "-c", "touch {ROOT}/more");
        assertThat(settings.only()).containsExactly("DRA-PREP-01", "DRA-PREP-02");
        assertThat(settings.skip()).containsExactly("DRA-PREP-03");
        assertThat(settings.driver().configs().valid().get(0).effect()).isEqualTo("env A");
        assertThat(settings.driver().configs().invalid())
                .extracting(JsonNode::toString)
                .isEqualTo(List.of("{\"kind\":\"B\"}"));
        assertThat(settings.implementation()).containsEntry("language", "go");
        assertThat(settings.timeoutFactor()).isEqualTo(3);
        assertThatThrownBy(() -> settings("--driver-name=a", "--invalid-config={", "--", "b"))
                .isInstanceOf(SettingsException.class)
                .hasMessageStartingWith("--invalid-config is not JSON");
    }

    @Nested
    class OfPlay {

        private final PlayMain main = new PlayMain();

        private List<PlaySettings.Driver> drivers(String... words) {
            List<String> all = new ArrayList<>(List.of("--manifests=demo"));
            all.addAll(List.of(words));
            new CommandLine(main).parseArgs(all.toArray(String[]::new));
            return main.drivers();
        }

        @Test
        void givesEachDriverTheCommandOfItsPlace() {
            assertThat(drivers("--driver-name=a", "--driver-name=b", "--", "run", "-x", "--", "b"))
                    .extracting(driver -> driver.name() + driver.process().command())
                    .containsExactly("a[run, -x]", "b[b]");
        }

        @ParameterizedTest
        @CsvSource({"--step-timeout=7, 7", "--patience=7, 7", "--keep, 30"})
        void aStepHasATimeout(String flag, long seconds) {
            drivers("--driver-name=a", flag, "--", "run");

            assertThat(main.stepTimeout()).hasSeconds(seconds);
        }

        @Test
        void refusesATimeoutUnderBothNames() {
            drivers("--driver-name=a", "--step-timeout=7", "--patience=8", "--", "run");

            assertThatThrownBy(() -> main.stepTimeout())
                    .isInstanceOf(ParameterException.class)
                    .hasMessageContaining("--step-timeout");
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "--driver-name=a --driver-name=b -- run-a",
                    "--driver-name=a -- run-a -- run-b",
                    "--driver-name=a --driver-name=b -- run-a --",
                })
        void refusesADriverWithoutACommandAndACommandWithoutADriver(String words) {
            assertThatThrownBy(() -> drivers(words.split(" ")))
                    .isInstanceOf(ParameterException.class)
                    .hasMessageContaining("give each driver one, after --");
        }
    }
}
