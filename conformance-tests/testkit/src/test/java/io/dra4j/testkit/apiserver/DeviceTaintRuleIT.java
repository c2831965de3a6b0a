// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.Json;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DeviceTaintRules: one store, and up to three versions that it is seen in. */
@Timeout(60)
class DeviceTaintRuleIT {
    private static final String GROUP = "/apis/resource.k8s.io/";

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder()
            .version(KubernetesVersion.V1_37)
            .preReleaseVersions()
            .start();

    private final HttpProbe http = new HttpProbe(server);

    private static String rules(String version) {
        return GROUP + version + "/devicetaintrules";
    }

    private static String rule(String version) {
        return HttpProbe.json(
                "{'apiVersion':'resource.k8s.io/%s','kind':'DeviceTaintRule','metadata':{'name':'r'},'spec':{'deviceSelector':{'pool':'p'},'taint':{'key':'k','effect':'NoSchedule'}}}"
                        .formatted(version));
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v1beta2", "v1alpha3"})
    void eachVersionShowsWhatAnyOfThemWrote(String written) throws Exception {
        http.post(rules(written), rule(written));

        for (String version : List.of("v1", "v1beta2", "v1alpha3")) {
            String apiVersion = "resource.k8s.io/" + version;
            for (String accept : List.of(HttpProbe.JSON, HttpProbe.PROTOBUF)) {
                JsonNode one = http.get(rules(version) + "/r", accept).body();
                JsonNode list = http.get(rules(version), accept).body();

                assertThat(one.path("apiVersion").asText()).isEqualTo(apiVersion);
                assertThat(list.path("apiVersion").asText()).isEqualTo(apiVersion);
                assertThat(one.at("/spec/deviceSelector/pool").asText()).isEqualTo("p");
                assertThat(list.at("/items/0/spec")).isEqualTo(one.path("spec"));
            }
            try (HttpProbe.Stream watch = http.watch(rules(version) + "?watch=true")) {
                assertThat(Json.text(watch.next(), "object", "apiVersion")).isEqualTo(apiVersion);
            }
            JsonNode openApi = http.get("/openapi/v3" + GROUP + version).body();
            assertThat(openApi.path("paths").has(rules(version))).isTrue();
        }
    }
}
