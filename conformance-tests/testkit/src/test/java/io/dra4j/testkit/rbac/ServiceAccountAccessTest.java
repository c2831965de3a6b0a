// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.settings.SettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
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

    private static final String POLICY = """
            ---
            kind: ValidatingAdmissionPolicy
            metadata: {name: own-node}
            spec:
              matchConstraints:
                resourceRules: [{apiGroups: [resource.k8s.io], resources: [resourceslices], operations: [CREATE]}]
              variables:
                - {name: unused, expression: oldObject.spec.nodeName}
                - {name: own, expression: 'request.userInfo.extra[?"authentication.kubernetes.io/node-name"][0].orValue("")'}
              validations:
                - {expression: variables.own == object.spec.nodeName, message: not its node}
            ---
            kind: ValidatingAdmissionPolicyBinding
            metadata: {name: of-drivers}
            spec: {policyName: own-node, validationActions: [Deny]}
            """;

    @TempDir
    private Path folder;

    private String manifests;

    @BeforeEach
    void read() throws Exception {
        manifests = Files.readString(Path.of("src/test/resources/io/dra4j/testkit/rbac/driver.yaml"));
    }

    private ServiceAccountAccess access(String account, String release) throws Exception {
        Files.writeString(folder.resolve("driver.yaml"), manifests);
        return new ServiceAccountAccess(account, List.of(folder.toString()), "gpu.example.com", release);
    }

    private ServiceAccountAccess access() throws Exception {
        return access("gpu-system/gpu-driver", "1.36");
    }

    private static Optional<String> refusal(ServiceAccountAccess access, String request) {
        String[] words = request.split("[ ?]", 3);
        Map<String, String> query =
                words.length < 3 ? Map.of() : Map.of(words[2].split("=", 2)[0], words[2].split("=", 2)[1]);
        return access.refusal(words[0], words[1], query, "node-1", MissingNode::getInstance, SLICE)
                .map(Refusal::message);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/rbac/what-a-rule-allows-is-allowed.csv",
            quoteCharacter = '\'')
    void whatARuleAllowsIsAllowed(String request) throws Exception {
        assertThat(refusal(access(), request)).isEmpty();
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/rbac/what-no-rule-allows-is-refused.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void whatNoRuleAllowsIsRefused(String request, String message) throws Exception {
        assertThat(refusal(access(), request)).contains(message.replace("USER", USER));
    }

    @Test
    void aStatusNeedsTheDriversOwnVerbSince136() throws Exception {
        manifests = manifests.replace("\"associated-node:update\", ", "");
        String update = "PUT /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status";

        assertThat(refusal(access(), update).orElseThrow())
                .contains("cannot associated-node:update resource \"resourceclaims/driver\"");
        JsonNode invalid = access().refusal(
                        "PUT", update.substring(4), Map.of(), "node-1", MissingNode::getInstance, SLICE)
                .orElseThrow()
                .status();
        assertThat(invalid.path("code").asInt()).isEqualTo(422);
        assertThat(invalid.path("reason").asText()).isEqualTo("Invalid");
        assertThat(invalid.path("message").asText())
                .startsWith("ResourceClaim.resource.k8s.io \"c\" is invalid: status.devices: Forbidden: ");
        assertThat(refusal(access(), update.replace("PUT", "PATCH"))).isEmpty();
        assertThat(refusal(access("gpu-system/gpu-driver", "1.35"), update)).isEmpty();

        ServiceAccountAccess real = access();
        real.serverIs("v1.35.2");
        assertThat(refusal(real, update)).isEmpty();
    }

    /** Of a policy in which a text is replaced; ~ begins a line. */
    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/rbac/an-admission-policy-refuses-as-an-api-server-does.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void anAdmissionPolicyRefusesAsAnApiServerDoes(String text, String other, int code, String note) throws Exception {
        manifests += POLICY.replace(text, other.replace("~", "\n"));
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

    @Test
    void starsAllowAll() throws Exception {
        manifests = manifests
                .replace("resources: [nodes], verbs: [get]", "resources: ['*'], verbs: ['*']")
                .replace("resources: [resourceclaims/status]", "resources: ['*/status']");

        assertThat(refusal(access(), "DELETE /api/v1/nodes/n")).isEmpty();
        assertThat(refusal(access(), "PUT /apis/resource.k8s.io/v1/devices/n/status"))
                .isEmpty();
        assertThat(refusal(access(), "PUT /apis/resource.k8s.io/v1/devices/n/scale"))
                .isPresent();
    }

    @Test
    void notesNameTheMissingRule() throws Exception {
        ServiceAccountAccess access = access();
        assertThat(access.notes())
                .containsExactly(
                        "RBAC: the API server refused no request of the ServiceAccount gpu-system/gpu-driver.");

        refusal(access, "DELETE " + SLICES);
        refusal(access, "DELETE " + SLICES);

        assertThat(access.notes())
                .singleElement()
                .asString()
                .contains("refused 2 requests of the driver (403): resourceslices.resource.k8s.io is")
                .contains("add {apiGroups: [\"resource.k8s.io\"], resources: [\"resourceslices\"],"
                        + " verbs: [\"deletecollection\"]} to a ClusterRole");
    }

    @Test
    void aRoleThatIsNowhereIsNamed() throws Exception {
        manifests = manifests.replace("kind: ClusterRole, name: gpu-driver", "kind: ClusterRole, name: view");

        ServiceAccountAccess access = access();

        assertThat(refusal(access, "GET " + SLICES)).isPresent();
        assertThat(access.notes().get(0)).startsWith("RBAC: ClusterRole view is bound to");
    }

    @Test
    void theStatusIsThatOfAnApiServer() throws Exception {
        Refusal refusal = access().refusal(
                        "PATCH", "/api/v1/nodes/n", Map.of(), "node-1", MissingNode::getInstance, SLICE)
                .orElseThrow();

        assertThat(refusal.status().path("reason").asText()).isEqualTo("Forbidden");
        assertThat(refusal.status().path("code").asInt()).isEqualTo(403);
        assertThat(refusal.status().path("details").toString()).isEqualTo("{\"name\":\"n\",\"kind\":\"nodes\"}");
    }

    @Test
    void aServiceAccountThatIsNowhereIsAnError() {
        assertThatThrownBy(() -> access("gpu-system/other", "1.36"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("gpu-system/other is not in the 6 manifests")
                .hasMessageContaining("there: gpu-system/gpu-driver");
    }
}
