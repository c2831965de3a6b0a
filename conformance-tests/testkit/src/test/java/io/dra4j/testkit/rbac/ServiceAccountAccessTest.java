// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class ServiceAccountAccessTest {

    private static final String USER = "User \"system:serviceaccount:gpu-system:gpu-driver\"";
    private static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";

    private static final Supplier<JsonNode> SLICE = () -> {
        ObjectNode slice = JsonNodeFactory.instance.objectNode();
        slice.putObject("spec").put("nodeName", "node-2");
        return slice;
    };

    private static final Supplier<JsonNode> SLICES_TO_DELETE = () -> {
        ObjectNode list = JsonNodeFactory.instance.objectNode();
        list.putArray("items").add(SLICE.get());
        return list;
    };

    @TempDir
    private Path folder;

    private String manifests;

    private static String read(String file) throws IOException {
        return Files.readString(Path.of("src/test/resources/io/dra4j/testkit/rbac", file));
    }

    @BeforeEach
    void read() throws Exception {
        manifests = read("driver.yaml");
    }

    private ServiceAccountAccess access(String account, String release) throws Exception {
        Files.writeString(folder.resolve("driver.yaml"), manifests);
        return new ServiceAccountAccess(account, List.of(folder.toString()), "gpu.example.com", release);
    }

    private ServiceAccountAccess access() throws Exception {
        return access("gpu-system/gpu-driver", "1.36");
    }

    private static Optional<Refusal> refusal(ServiceAccountAccess access, String request) {
        String[] words = request.split("[ ?]", 3);
        Map<String, String> query =
                words.length < 3 ? Map.of() : Map.of(words[2].split("=", 2)[0], words[2].split("=", 2)[1]);
        return access.refusal(
                words[0],
                words[1],
                query,
                "node-1",
                words[0].equals("DELETE") ? SLICES_TO_DELETE : MissingNode::getInstance,
                SLICE);
    }

    @Scenarios("access-scenarios.txt")
    void requestsNeedARule(String scenario) throws Exception {
        ServiceAccountAccess access = access();
        Optional<Refusal> refusal = Optional.empty();
        for (String line : scenario.split("\n")) {
            String rest = line.substring(line.indexOf(' ') + 1);
            switch (line.substring(0, line.indexOf(' '))) {
                case "#" -> {} // its title
                case "replace", "remove" -> {
                    String[] texts = rest.split(" => ");
                    manifests = manifests.replace(texts[0], texts.length > 1 ? texts[1] : "");
                    access = access();
                }
                case "policy" -> manifests += read(rest);
                case "as" -> access = access(rest.split(" ")[0], rest.split(" ")[1]);
                case "server" -> access.serverIs(rest);
                case "allowed" -> assertThat(refusal(access, rest)).isEmpty();
                case "refused" -> {
                    String[] parts = rest.split(" : ", 2);
                    refusal = refusal(access, parts[0]);
                    assertThat(refusal).isPresent();
                    if (parts.length > 1) {
                        assertThat(refusal.get().message()).isEqualTo(parts[1].replace("USER", USER));
                    }
                }
                case "part" -> assertThat(refusal.orElseThrow().message()).contains(rest);
                case "status" ->
                    assertThat(refusal.orElseThrow().status().toString()).contains(rest);
                case "note" ->
                    assertThat(access.notes()).singleElement().asString().contains(rest);
                case "first-note" -> assertThat(access.notes().get(0)).startsWith(rest);
                case "unknown" ->
                    assertThatThrownBy(() -> access("gpu-system/other", "1.36"))
                            .isInstanceOf(SettingsException.class)
                            .hasMessageContaining(rest);
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    /** Of a policy in which a text is replaced; ~ begins a line. */
    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/rbac/an-admission-policy-refuses-as-an-api-server-does.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void anAdmissionPolicyRefusesAsAnApiServerDoes(String text, String other, int code, String note) throws Exception {
        manifests += read("policy.yaml").replace(text, other.replace("~", "\n"));
        ServiceAccountAccess access = access();
        Optional<Refusal> refusal = access.refusal("POST", SLICES, Map.of(), "node-1", MissingNode::getInstance, SLICE);

        assertThat(refusal.map(Refusal::code).orElse(0)).isEqualTo(code);
        refusal.ifPresent(one -> assertThat(one.message())
                .startsWith("resourceslices.resource.k8s.io \"Unknown\" is forbidden: ValidatingAdmissionPolicy "));
        assertThat(access.notes().toString()).contains(note);
        assertThat(access.refusal("POST", SLICES, Map.of(), "node-2", MissingNode::getInstance, SLICE)
                        .isPresent())
                .isEqualTo(note.equals("expression failed"));
    }
}
