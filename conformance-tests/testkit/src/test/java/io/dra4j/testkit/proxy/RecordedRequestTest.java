// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordedRequestTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/api/v1/nodes/node-1|nodes|node-1",
                "/api/v1/namespaces|namespaces|''",
                "/api/v1/namespaces/default|namespaces|default",
                "/api/v1/namespaces/default/events|events|''",
                "/apis/resource.k8s.io/v1/resourceslices|resourceslices|''",
                "/apis/resource.k8s.io/v1/resourceslices/a|resourceslices|a",
                "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status|resourceclaims|c",
                "/apis/resource.k8s.io|''|''",
                "/version|''|''",
                "/|''|''",
            })
    void aPathNamesAResourceAndAnObject(String path, String resource, String name) {
        RecordedRequest request = RecordedRequest.arrived(1, Instant.EPOCH, "GET", path, Map.of(), "", "");

        assertThat(request.resource()).isEqualTo(resource);
        assertThat(request.name()).isEqualTo(name);
    }
}
