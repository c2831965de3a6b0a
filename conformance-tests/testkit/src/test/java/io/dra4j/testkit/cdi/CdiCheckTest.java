// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cdi;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Valid and invalid CDI specs and names. */
class CdiCheckTest {

    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

    private static JsonNode spec(String text) {
        try {
            return YAML.readTree(text);
        } catch (IOException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** A spec of one device with these edits. */
    private static JsonNode edits(String edits) {
        return spec("{cdiVersion: 1.1.0, kind: v.example.com/gpu, devices: [{name: a, containerEdits: %s}]}"
                .formatted(edits));
    }

    private static List<String> problems(String spec) {
        return CdiCheck.problems(spec(spec));
    }

    @Nested
    class ASpec {

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "{env: [A=b]}",
                    "{env: ['A=b=c', 'B=']}",
                    "{deviceNodes: [{path: /dev/a, hostPath: /dev/b, type: c, major: 1, minor: 3,"
                            + " fileMode: 438, permissions: rwm, uid: 0, gid: 4294967295}]}",
                    "{mounts: [{hostPath: /a, containerPath: /b, options: [ro], type: bind}]}",
                    "{mounts: [{hostPath: tmpfs, containerPath: /b, type: tmpfs}]}",
                    "{hooks: [{hookName: createContainer, path: /bin/x, args: [x], env: [A=b]," + " timeout: 3}]}",
                    "{netDevices: [{hostInterfaceName: eth1, name: net0}]}",
                    "{intelRdt: {closID: a, schemata: ['L3:0=f'], enableMonitoring: true}}",
                    "{additionalGids: [44], env: null}"
                })
        void ofAnyKnownEditsIsValid(String edits) {
            assertThat(CdiCheck.problems(edits(edits))).isEmpty();
        }

        @Test
        void mayBeYamlWithAnnotationsAndCommonEdits() {
            assertThat(problems("""
                                    cdiVersion: 0.6.0
                                    kind: v.example.com/gpu.x
                                    annotations: {a: b}
                                    containerEdits: {env: [X=y]}
                                    devices:
                                    - name: 0:1
                                      annotations: {c: d}
                                      containerEdits: {env: [A=b]}
                                    """)).isEmpty();
        }

        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/testkit/cdi/with-bad-edits-is-invalid.csv",
                delimiter = '|',
                quoteCharacter = '\'')
        void withBadEditsIsInvalid(String edits, String problem) {
            assertThat(CdiCheck.problems(edits(edits)))
                    .singleElement()
                    .asString()
                    .contains("devices[0].containerEdits")
                    .contains(problem);
        }

        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/testkit/cdi/without-its-parts-is-invalid.csv",
                delimiter = '|',
                quoteCharacter = '\'')
        void withoutItsPartsIsInvalid(String spec, String problem) {
            assertThat(problems(spec)).singleElement().asString().contains(problem);
        }

        @Test
        void isAnObject() {
            assertThat(problems("[]")).containsExactly("must be an object, not []");
            assertThat(problems("")).hasSize(1);
        }
    }

    @Nested
    class AName {

        @ParameterizedTest
        @ValueSource(strings = {"v.example.com/gpu=0", "a/b=c", "k8s.v-1/c_1.x=claim-1:0_a.b", "V/G=A"})
        void isVendorClassAndDevice(String id) {
            assertThat(CdiName.problem(id)).isEmpty();
        }

        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/testkit/cdi/of-another-form-is-refused.csv",
                quoteCharacter = '\'')
        void ofAnotherFormIsRefused(String id, String problem) {
            assertThat(CdiName.problem(id))
                    .hasValueSatisfying(p -> assertThat(p).contains(problem));
        }
    }

    @Nested
    class AVersion {

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
            {kind: v/c, containerEdits: {env: [A=b]}}                                            | 0.3.0
            {kind: v/c, containerEdits: {mounts: [{hostPath: /a, containerPath: /b, type: bind}]}} | 0.4.0
            {kind: v/c, containerEdits: {deviceNodes: [{path: /a, hostPath: /b}]}}               | 0.5.0
            {kind: v/c, containerEdits: {intelRdt: {closID: a}}}                                 | 0.7.0
            {kind: v/c, containerEdits: {intelRdt: {schemata: ['a']}}}                           | 1.1.0
            {kind: v/c, containerEdits: {intelRdt: {enableMonitoring: true}}}                    | 1.1.0
            {kind: v/c, containerEdits: {netDevices: [{name: a, hostInterfaceName: b}]}}         | 1.1.0
            {kind: v/c, containerEdits: {additionalGids: [1]}}      | 0.7.0
            {kind: v/c, devices: [{name: a, containerEdits: {additionalGids: [1]}}]} | 0.7.0
            {kind: v/c, devices: [{name: 0a}]}                      | 0.5.0
            {kind: v/c.d, devices: [{name: a}]}                     | 0.6.0
            {kind: v.example.com/c, devices: [{name: a}]}           | 0.3.0
            {kind: v/c, annotations: {a: b}, devices: [{name: a}]}  | 0.6.0
            {kind: v/c, devices: [{name: 0a, annotations: {a: b}}]} | 0.6.0
            """)
        void isNeededByTheFieldsOfTheSpec(String spec, String version) {
            assertThat(CdiVersion.least(spec(spec)).version()).isEqualTo(version);
        }

        @ParameterizedTest
        @CsvSource({
            "0.3.0, 1.1.0, too low: hostPath of a node needs 0.5.0",
            "0.9.0, 1.1.0, unknown",
            "v0.5.0, 1.1.0, unknown",
            "1.0.0, 0.8.0, newer than 0.8.0",
            "0.5.0, 0.5.0, ",
            "1.1.0, 1.1.0, "
        })
        void liesBetweenWhatTheFieldsNeedAndWhatTheRuntimeReads(String version, String newest, String problem) {
            JsonNode spec =
                    spec("{cdiVersion: %s, kind: v/c, containerEdits: {deviceNodes: [{path: /a, hostPath: /b}]}}"
                            .formatted(version));
            assertThat(CdiVersion.problem(spec, newest).orElse(""))
                    .contains(problem == null ? "" : problem)
                    .matches(text -> problem != null || text.isEmpty());
        }
    }
}
