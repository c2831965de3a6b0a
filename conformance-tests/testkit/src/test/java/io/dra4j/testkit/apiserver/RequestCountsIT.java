// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.HttpProbe.Stream;
import io.dra4j.testkit.apiserver.model.Traffic;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The numbers of requests, over real HTTP. */
class RequestCountsIT {
    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder().start();

    private final HttpProbe http = new HttpProbe(server);

    @Test
    void areByVerbAndResource() throws Exception {
        http.get("/apis/resource.k8s.io/v1");
        http.post(SLICES, slice("s1", 1));
        http.get(SLICES);
        http.get(SLICES + "/s1");
        http.get(SLICES + "/s2");
        http.get(SLICES + "?watch=false");
        try (Stream watch = http.watch(SLICES + "?watch=1")) {
            assertThat(watch.shown()).isEqualTo("ADDED s1");
        }
        http.delete(SLICES + "/s1", "");

        assertThat(server.requests())
                .isEqualTo(Map.of(
                        "get (no resource)", 1L,
                        "create resourceslices", 1L,
                        "list resourceslices", 2L,
                        "get resourceslices", 2L,
                        "watch resourceslices", 1L,
                        "delete resourceslices", 1L));
    }

    @Test
    void haveTheirBytesInBothDirectionsAndThoseOfAWatchsEvents() throws Exception {
        byte[] slice = slice("s1", 1).getBytes(UTF_8);
        http.post(SLICES, slice("s1", 1));
        int object = http.get(SLICES + "/s1").body().toString().getBytes(UTF_8).length;
        try (Stream watch = http.watch(SLICES + "?watch=1")) {
            assertThat(watch.shown()).isEqualTo("ADDED s1");
        }

        Map<String, Traffic> traffic = server.traffic();
        assertThat(traffic).containsOnlyKeys(server.requests().keySet());
        assertThat(traffic.get("create resourceslices").received())
                .isBetween(slice.length + 40.0, slice.length + 600.0);
        assertThat(traffic.get("get resourceslices").sent()).isBetween(object + 40.0, object + 400.0);
        assertThat(traffic.get("watch resourceslices").sent()).isBetween(object + 40.0, object + 500.0);
    }

    @Test
    void doNotIncludeTheHostsOwn() {
        server.store().list("resourceslices");

        assertThat(server.requests()).isEmpty();
    }
}
