// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The list of claims that wait, which is read as it comes; calls.txt has those that are short. */
class ClaimListTest extends ClusterUnderTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String CLAIM = "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\"}}";

    @Test
    void mayBeLong() {
        List<Object> pending = new ArrayList<>();
        server.then(200, "{\"items\":[" + String.join(",", Collections.nCopies(5000, CLAIM)) + "]}");

        cluster.pendingClaims(pending::add, LIMIT);

        assertThat(pending).hasSize(5000);
    }

    @Test
    void thatIsRefusedNamesTheRight() {
        server.then(
                403,
                "{\"kind\":\"Status\",\"message\":\""
                        + MissingPermissions.message("list", "resourceclaims", "resource.k8s.io")
                                .replace("\"", "\\\"")
                        + "\"}");

        assertThatThrownBy(() -> cluster.pendingClaims(pending -> {}, LIMIT))
                .isInstanceOf(ClusterException.Forbidden.class)
                .hasMessageContaining("403");
    }
}
