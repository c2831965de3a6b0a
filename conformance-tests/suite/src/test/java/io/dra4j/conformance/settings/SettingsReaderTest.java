// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsReaderTest {

    private static final String LEAST = "driver: {name: a, process: {command: [b]}}";

    private static Settings parse(String text) {
        return SettingsReader.parse(text, "x.yaml", Map.of());
    }

    @Test
    void whatIsLeftOutIsFilledIn() {
        Settings settings = parse(LEAST);

        assertThat(settings.apiServer().isEmbedded()).isTrue();
        assertThat(settings.timeoutFactor()).isEqualTo(1);
        assertThat(settings.report()).isEqualTo("dra-conformance-report");
        assertThat(settings.driver().kind()).isEqualTo(TestedDriver.Kind.PROCESS);
        assertThat(settings.driver().startTimeout()).hasSeconds(30);
    }

    @Test
    void aUrlOfMetricsWithoutAFreePortIsOneOfASingleInstance() {
        String metrics = LEAST.replace("name:", "metrics: 'http://localhost:%s/metrics', name:");

        assertThat(parse(metrics.formatted("{FREE_PORT}")).driver().hasFixedPort())
                .isFalse();
        assertThat(parse(metrics.formatted("8080")).driver().hasFixedPort()).isTrue();
        assertThat(parse(LEAST).driver().hasFixedPort()).isFalse();
    }

    @Test
    void flagsWinOverTheFile() {
        Settings settings = SettingsReader.parse(
                LEAST,
                "x.yaml",
                Map.of(
                        "/driver/name", TextNode.valueOf("c"),
                        "/apiServer/kubernetes", TextNode.valueOf("1.34")));

        assertThat(settings.driver().name()).isEqualTo("c");
        assertThat(settings.apiServer().kubernetes()).isEqualTo("1.34");
    }

    /** LEAST are settings that are right, and DRIVER their driver without its end; ~ is the end of a line. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    ``                                             | x.yaml: driver is missing: what is to be tested
                    - a                                            | x.yaml: the settings are not a mapping of names to values
                    driver: [                                      | line
                    driver: {name: a}                              | driver.process.command is missing
                    DRIVER, configs: {valid: [null]}}              | x.yaml: an entry of driver.configs.valid has no value: give it one, or remove it
                    DRIVER, configs: {invalid: [null]}}            | x.yaml: an entry of driver.configs.invalid has no value: give it one, or remove it
                    DRIVER, hooks: {plugmany: x}}                  | x.yaml: driver.hooks: plugmany is unknown; the nearest is plug-many
                    DRIVER, declares: [adm, metadata]}             | x.yaml: driver.declares: metadata is unknown; the nearest is meta
                    DRIVER, configs: {precedence: lst}}            | x.yaml: driver.configs.precedence: lst is unknown; the nearest is last
                    DRIVER, hooks: {fault: }}                      | x.yaml: driver.hooks.fault has no value: give it one, or remove it
                    DRIVER, startTimeoutSeconds: -1}               | driver.startTimeoutSeconds must be at least 1, not -1
                    DRIVER, metrics: localhost:80/metrics}         | driver.metrics must be a URL such as ; , not localhost:80/metrics
                    DRIVER, configs: {valid: [{parameters: {a: 1}, effect: X=1}, {parameters: {a: 2}, effect: X=1}]}} | driver.configs.valid: ; two configurations have the same effect
                    DRIVER, configs: {valid: [{parameters: {a: 1}, effect: "(X=1)?"}]}} | driver.configs.valid: ; matches everything
                    DRIVER, configs: {valid: [{parameters: {a: 1}, effect: "X=["}]}}    | driver.configs.valid: ; is not a regular expression
                    LEAST~colour: red                              | x.yaml: ; colour
                    LEAST~timeoutFactor: many                      | timeoutFactor
                    LEAST~timeoutFactor: -1                        | timeoutFactor must be between 0 and 100, not -1.0
                    LEAST~seed: 1~seed: 2                          | seed
                    LEAST~only: [DRA-REG-01, null]                 | x.yaml: an entry of only has no value: give it one, or remove it
                    LEAST~apiServer: {kubernetes: 1.33}            | x.yaml: The rules of Kubernetes 1.33 are not known; choose one of 1.34,
                    LEAST~apiServer: {featureGates: {DRANothing: true}} | x.yaml: ; no feature gate DRANothing
                    LEAST~apiServer: {kubernetes: 1.38, featureGates: {DRADeviceTaints: false}} | x.yaml: ; 1.38 has locked feature gate DRADeviceTaints
                    LEAST~apiServer: {kubeconfig: k, featureGates: {DRADeviceTaints: true}} | x.yaml: ; names a real one, k: set the gates where that
                    """)
    void errorsNameTheFileAndThePlace(String settings, String words) {
        String text = settings.replace("LEAST", LEAST)
                .replace("DRIVER", LEAST.substring(0, LEAST.length() - 1))
                .replace('~', '\n');

        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(SettingsException.class)
                .hasMessageStartingWith(words.startsWith("x.yaml: ") ? "x.yaml: " : "")
                .hasMessageContainingAll(words.split(" ; "));
    }

    @Test
    void aFlagBelowWhatIsNoMappingIsAnError() {
        assertThatThrownBy(() ->
                        SettingsReader.parse("driver: a", "x.yaml", Map.of("/driver/name", TextNode.valueOf("c"))))
                .hasMessage("x.yaml: driver is not a mapping of names to values");
    }

    @Test
    void theReleaseOfTheEmbeddedServerIsNotLookedAtWithARealOne() {
        String real = "\napiServer: {kubeconfig: k, kubernetes: newest, serviceAccount: a/b, manifests: [x]}";

        assertThatThrownBy(() -> parse(LEAST + real).access()).hasMessageContaining("apiServer.manifests");
    }

    @Test
    void anOldKeyIsReadUnlessItsCurrentOneIsThereToo() {
        Map<String, JsonNode> flag = Map.of("/timeoutFactor", IntNode.valueOf(3));

        assertThat(parse(LEAST + "\npatience: 2").timeoutFactor()).isEqualTo(2);
        assertThat(parse(LEAST + "\ndeviations: f").knownFailures()).isEqualTo("f");
        assertThat(SettingsReader.parse(LEAST + "\npatience: 2", "x", flag).timeoutFactor())
                .isEqualTo(3);
        assertThatThrownBy(() -> parse(LEAST + "\npatience: 2\ntimeoutFactor: 2"))
                .hasMessageStartingWith("x.yaml: patience is the old name of timeoutFactor");
    }

    @Test
    void aHookThatIsATextIsForTheShell() {
        assertThat(parse("driver: {name: a, process: {command: [b]}, hooks: {plug: echo 1 > f, unplug: [c]}}")
                        .driver()
                        .hooks())
                .containsEntry("plug", List.of("sh", "-c", "echo 1 > f"))
                .containsEntry("unplug", List.of("c"));
    }

    @Test
    void whatIsWrittenIsReadAsTheSame() {
        Settings settings = parse("""
                        driver:
                          name: a
                          kind: external
                          external: {node: n, registry: /r, cdi: /c}
                          hooks: {plug: [sh, -c, "true"]}
                          configs:
                            valid: [{parameters: {kind: A}, effect: "env A=1"}]
                            invalid: [{kind: B}]
                          emptyWhenUnprepared: ["{ROOT}/claims/*"]
                          claims: [claims.yaml, {kind: DeviceClass, metadata: {name: a}}]
                        timeoutFactor: 2.5
                        skip: [DRA-PREP-01]
                        """);

        assertThat(parse(SettingsReader.text(settings))).isEqualTo(settings);
    }

    @Test
    void theExampleOfInitIsUnderstood() throws Exception {
        try (var file = Settings.class.getResourceAsStream("/io/dra4j/conformance/init.yaml")) {
            Settings settings = parse(new String(file.readAllBytes()));

            assertThat(settings.driver().name()).isEqualTo("gpu.example.com");
        }
    }
}
