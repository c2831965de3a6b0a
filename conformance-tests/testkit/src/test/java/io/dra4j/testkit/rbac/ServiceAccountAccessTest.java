// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.settings.SettingsException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServiceAccountAccessTest {

    private static final String USER = "User \"system:serviceaccount:gpu-system:gpu-driver\"";
    private static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";

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
        return access.refusal(words[0], words[1], query).map(Refusal::message);
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
        return access().refusal("PUT", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status", Map.of())
                .orElseThrow()
                .status();
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
        Refusal refusal = access().refusal("PATCH", "/api/v1/nodes/n", Map.of()).orElseThrow();

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
