// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A status that another client changes between its reading and its update. */
class StatusConflictTest extends ClusterUnderTest {

    private static final String NO_PATCH =
            "{\"message\":\"cannot patch resource \\\"resourceclaims/status\\\" in API group \\\"resource.k8s.io\\\"\"}";
    private static final String ENTRY = "{\"driver\":\"gpu.example.com\",\"pool\":\"p\",\"device\":\"d\",\"data\":1}";

    private static String claim(int version) {
        return "{\"metadata\":{\"uid\":\"uid-1\",\"resourceVersion\":\"%d\"}}".formatted(version);
    }

    private void apply() {
        cluster.claimStatuses().apply(new ClaimRef("default", "c", "uid-1"), "d/node-a", List.of(ENTRY));
    }

    @Test
    void isReadAgainAfterAConflict() {
        server.then(403, NO_PATCH).then(200, claim(1)).then(409, "{}");
        server.then(200, claim(2)).then(200, "{}");

        apply();

        assertThat(server.requests)
                .extracting(request -> request.method())
                .containsExactly("PATCH", "GET", "PUT", "GET", "PUT");
        ScriptedServer.Request last = List.copyOf(server.requests).get(4);
        assertThat(last.body()).contains("\"resourceVersion\":\"2\"", ENTRY);
        assertThat(last.query()).isEqualTo("fieldManager=d/node-a");
    }

    @Test
    void isGivenUpAfterFiveConflicts() {
        server.then(403, NO_PATCH);
        for (int i = 0; i < 6; i++) {
            server.then(200, claim(i)).then(409, "{}");
        }

        assertThatThrownBy(this::apply)
                .isInstanceOfSatisfying(
                        ClusterException.class, e -> assertThat(e.status()).isEqualTo(409));
        assertThat(server.requests).hasSize(11);
    }
}
