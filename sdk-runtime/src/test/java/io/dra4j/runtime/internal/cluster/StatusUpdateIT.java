// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A driver that may update statuses, and not patch them. */
class StatusUpdateIT {

    private static final String RIGHTS = "src/test/resources/io/dra4j/runtime/internal/cluster/rights.yaml";
    private static final String CLAIM = """
            {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
             "metadata":{"name":"c","namespace":"default"},
             "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}},
             "status":{"allocation":{"devices":{"results":[
               {"request":"r","driver":"gpu.example.com","pool":"node","device":"gpu-0"},
               {"request":"r","driver":"gpu.example.com","pool":"node","device":"gpu-1"},
               {"request":"r","driver":"nic.example.com","pool":"node","device":"nic-0"}]}}}}
            """;
    private static final String READY = condition("Ready");
    private static final String BOUND = condition("Bound");

    @TempDir
    private Path folder;

    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start();

    @AutoClose
    private final ApiProxy proxy = ApiProxy.before(server.url());

    @AutoClose
    private Cluster driver;

    private ClaimRef claim;

    private static String condition(String type) {
        return ("{'type':'%s','status':'True','reason':'R','message':'','lastTransitionTime':'2026-11-24T00:00:00Z'}")
                .formatted(type)
                .replace('\'', '"');
    }

    private static String gpu(int number, String fields) {
        return "{\"driver\":\"gpu.example.com\",\"pool\":\"node\",\"device\":\"gpu-%d\"%s}".formatted(number, fields);
    }

    @BeforeEach
    void connect() throws Exception {
        proxy.allowOnly(new ServiceAccountAccess("s/d", List.of(RIGHTS), "gpu.example.com", "1.36"), "");
        driver = Cluster.connect(
                proxy.writeKubeconfig(folder.resolve("kubeconfig")), "gpu.example.com", "node", Meters.none());
        claim = new ClaimRef("default", "c", create());
    }

    private String create() {
        return server.store().put(Json.parse(CLAIM)).at("/metadata/uid").asText();
    }

    private void apply(String manager, String... entries) {
        driver.claimStatuses().apply(claim, manager, List.of(entries));
    }

    /** Applies an entry as a client that may patch. */
    private void applyUnlimited(String manager, String entry) throws Exception {
        Path kubeconfig = server.writeKubeconfig(folder.resolve("other"));
        try (Cluster other = Cluster.connect(kubeconfig, "other", "node", Meters.none())) {
            other.claimStatuses().apply(claim, manager, List.of(entry));
        }
    }

    private JsonNode stored() {
        return server.store()
                .find("resourceclaims", "default", "c")
                .orElseThrow()
                .at("/status/devices");
    }

    @Test
    void ownsItsPartAloneAsWithServerSideApply() throws Exception {
        applyUnlimited(
                "nic.example.com/node",
                "{\"driver\":\"nic.example.com\",\"pool\":\"node\",\"device\":\"nic-0\",\"data\":{\"n\":1}}");

        apply("m", gpu(0, ",\"data\":{\"a\":1},\"conditions\":[" + READY + "]"), gpu(1, ",\"data\":{}"));
        apply("binding", gpu(0, ",\"conditions\":[" + BOUND + "]"));
        assertThat(stored()).hasSize(3);
        assertThat(stored().findValuesAsText("type")).containsExactly("Ready", "Bound");

        apply("m", gpu(0, ",\"conditions\":[" + READY + "]"));
        assertThat(stored()).hasSize(2);
        assertThat(stored().findValuesAsText("type")).containsExactlyInAnyOrder("Ready", "Bound");
        assertThat(stored().findValues("data")).hasToString("[{\"n\":1}]");

        apply("m");
        assertThat(stored().findValuesAsText("type")).containsExactly("Bound");
        apply("binding");
        assertThat(stored()).hasSize(1);
        assertThat(stored().at("/0/driver").asText()).isEqualTo("nic.example.com");
    }

    @Test
    void aConditionThatAnotherWantsTooStays() throws Exception {
        apply("m", gpu(0, ",\"conditions\":[" + READY + "]"));
        applyUnlimited("other", gpu(0, ",\"conditions\":[" + READY + "]"));

        apply("m");

        assertThat(stored().findValuesAsText("type")).containsExactly("Ready");
    }

    @Test
    void aPatchIsNotTriedAgainAtOnce() {
        apply("m", gpu(0, ",\"data\":{\"a\":1}"));
        apply("m", gpu(0, ",\"data\":{\"a\":2}"));
        apply("m", gpu(0, ",\"data\":{\"a\":2}"));

        assertThat(proxy.requests())
                .extracting(request -> request.method())
                .containsExactly("PATCH", "GET", "PUT", "GET", "PUT", "GET");
        assertThat(stored().at("/0/data/a").asInt()).isEqualTo(2);
    }

    @Test
    void aClaimThatWasCreatedAgainIsLeftAlone() {
        server.store().delete("resourceclaims", "default", "c");
        create();

        assertThatThrownBy(() -> apply("m", gpu(0, ",\"data\":{\"a\":1}")))
                .isInstanceOf(ClusterException.NotFound.class);
        assertThat(stored()).isEmpty();
    }
}
