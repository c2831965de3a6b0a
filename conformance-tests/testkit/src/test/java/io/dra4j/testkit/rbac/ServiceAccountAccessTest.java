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
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        try (InputStream file = getClass().getResourceAsStream("driver.yaml")) {
            manifests = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
        }
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
    @CsvSource({
        "GET /apis/resource.k8s.io/v1/resourceslices",
        "GET /apis/resource.k8s.io/v1/resourceslices?watch=true",
        "GET /apis/resource.k8s.io/v1beta1/resourceslices/x",
        "POST /apis/resource.k8s.io/v1/resourceslices",
        "DELETE /apis/resource.k8s.io/v1/resourceslices/x",
        "GET /apis/resource.k8s.io/v1/namespaces/any/resourceclaims/c",
        "PUT /apis/resource.k8s.io/v1/namespaces/any/resourceclaims/c/status",
        "GET /api/v1/nodes/n",
        "PUT /apis/coordination.k8s.io/v1/namespaces/gpu-system/leases/mine",
        "GET /apis/coordination.k8s.io/v1/namespaces/gpu-system/leases?fieldSelector=metadata.name=mine",
        "GET /api",
        "GET /apis/resource.k8s.io/v1",
        "GET /version",
        "GET /openapi/v3/apis/resource.k8s.io/v1",
    })
    void whatARuleAllowsIsAllowed(String request) throws Exception {
        assertThat(refusal(access(), request)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    DELETE /apis/resource.k8s.io/v1/resourceslices|resourceslices.resource.k8s.io is forbidden: USER cannot deletecollection resource "resourceslices" in API group "resource.k8s.io" at the cluster scope
                    GET /apis/resource.k8s.io/v1/resourceclaims|resourceclaims.resource.k8s.io is forbidden: USER cannot list resource "resourceclaims" in API group "resource.k8s.io" at the cluster scope
                    GET /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims?watch=1|resourceclaims.resource.k8s.io is forbidden: USER cannot watch resource "resourceclaims" in API group "resource.k8s.io" in the namespace "ns"
                    PUT /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c|resourceclaims.resource.k8s.io "c" is forbidden: USER cannot update resource "resourceclaims" in API group "resource.k8s.io" in the namespace "ns"
                    PUT /apis/coordination.k8s.io/v1/namespaces/other/leases/mine|leases.coordination.k8s.io "mine" is forbidden: USER cannot update resource "leases" in API group "coordination.k8s.io" in the namespace "other"
                    POST /apis/coordination.k8s.io/v1/namespaces/gpu-system/leases|leases.coordination.k8s.io is forbidden: USER cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "gpu-system"
                    PATCH /api/v1/nodes/n|nodes "n" is forbidden: USER cannot patch resource "nodes" in API group "" at the cluster scope
                    GET /api/v1/namespaces/kube-system|namespaces "kube-system" is forbidden: USER cannot get resource "namespaces" in API group "" in the namespace "kube-system"
                    GET /metrics|forbidden: USER cannot get path "/metrics"
                    """)
    void whatNoRuleAllowsIsRefused(String request, String message) throws Exception {
        assertThat(refusal(access(), request)).contains(message.replace("USER", USER));
    }

    @Test
    void aStatusNeedsTheDriversOwnVerbSince136() throws Exception {
        manifests = manifests.replace("\"associated-node:update\", ", "");
        String update = "PUT /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status";

        assertThat(refusal(access(), update).orElseThrow())
                .contains("cannot associated-node:update resource \"resourceclaims/driver\"");
        assertThat(invalid().path("code").asInt()).isEqualTo(422);
        assertThat(invalid().path("reason").asText()).isEqualTo("Invalid");
        assertThat(invalid().path("message").asText())
                .startsWith("ResourceClaim.resource.k8s.io \"c\" is invalid: status.devices: Forbidden: ");
        assertThat(refusal(access(), update.replace("PUT", "PATCH"))).isEmpty();
        assertThat(refusal(access("gpu-system/gpu-driver", "1.35"), update)).isEmpty();

        ServiceAccountAccess real = access();
        real.serverIs("v1.35.2");
        assertThat(refusal(real, update)).isEmpty();
    }

    private JsonNode invalid() throws Exception {
        return access().refusal(
                        "PUT",
                        "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status",
                        Map.of(),
                        "node-1",
                        MissingNode::getInstance,
                        SLICE)
                .orElseThrow()
                .status();
    }

    /** Of a policy in which a text is replaced; ~ begins a line. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    own-node              | own-node                                                | 422 | API server refused a request
                    message: not its node | message: not its node, reason: Forbidden                | 403 | with binding 'of-drivers' denied request: not its node
                    variables.own ==      | object.nothing ==                                       | 422 | expression failed
                    variables.own ==      | authorizer ==                                           | 0   | own-node was not evaluated
                    matchConstraints:     | paramKind: {kind: A}~  matchConstraints:                | 0   | own-node was not evaluated
                    object.spec.nodeName  | object.x}~  failurePolicy: Ignore~  other: {b: c        | 0   | refused no request
                    [Deny]                | [Audit]                                                 | 0   | refused no request
                    [resourceslices]      | ['*/status']                                            | 0   | refused no request
                    [CREATE]              | ['*']                                                   | 422 | not its node
                    """)
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
