// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.runtime.internal.cluster.ClaimCodec.PendingClaim;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The list of claims that wait, which is read as it comes. */
class ClaimListTest extends ClusterUnderTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String CLAIM = """
            {"metadata":{"name":"c","creationTimestamp":"2026-01-01T00:00:00Z"%s},
             "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}}\
            """;

    private static String claim(String moreMetadata) {
        return CLAIM.formatted(moreMetadata);
    }

    private static String list(String items) {
        return "{\"kind\":\"ResourceClaimList\",\"metadata\":{\"resourceVersion\":\"7\",\"items\":[1]},\"items\":"
                + items
                + ",\"more\":[{}]}";
    }

    private List<PendingClaim> pending(Duration limit) {
        List<PendingClaim> pending = new ArrayList<>();
        cluster.pendingClaims(pending::add, limit);
        return pending;
    }

    private boolean isForPod(String moreMetadata) {
        server.then(200, list("[" + claim(moreMetadata) + "]"));
        return pending(LIMIT).get(0).forPod();
    }

    @Test
    void isReadAtOnceFromTheWatchCache() throws Exception {
        server.then(200, list("[" + claim("") + "]"));

        assertThat(pending(LIMIT))
                .containsExactly(new PendingClaim(Set.of("gpu"), Instant.parse("2026-01-01T00:00:00Z"), false));
        ScriptedServer.Request request = server.requests.take();
        assertThat(request.path()).isEqualTo("/apis/resource.k8s.io/v1/resourceclaims");
        assertThat(request.query()).isEqualTo("resourceVersion=0");
    }

    @Test
    void mayBeEmptyOrLong() {
        server.then(200, list("[]")).then(200, list("null"));

        assertThat(pending(LIMIT)).isEmpty();
        assertThat(pending(LIMIT)).isEmpty();

        server.then(
                200,
                list(IntStream.range(0, 5000).mapToObj(i -> claim("")).collect(Collectors.joining(",", "[", "]"))));

        assertThat(pending(LIMIT)).hasSize(5000);
    }

    @Test
    void saysWhichClaimsWereMadeForAPod() {
        assertThat(isForPod(",\"annotations\":{\"resource.kubernetes.io/pod-claim-name\":\"gpu\"}"))
                .isTrue();
        assertThat(isForPod(",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\"}]"))
                .isTrue();
        assertThat(isForPod(",\"ownerReferences\":[{\"apiVersion\":\"acme/v1\",\"kind\":\"Pod\",\"name\":\"p\"}]"))
                .isFalse();
        assertThat(isForPod(",\"annotations\":{\"a\":\"b\"}")).isFalse();
    }

    @Test
    void thatIsRefusedNamesTheRight() {
        server.then(
                403,
                "{\"kind\":\"Status\",\"message\":\""
                        + MissingPermissions.message("list", "resourceclaims", "resource.k8s.io")
                                .replace("\"", "\\\"")
                        + "\"}");

        assertThatThrownBy(() -> pending(LIMIT))
                .isInstanceOf(ClusterException.Forbidden.class)
                .hasMessageContaining("403");
    }
}
