// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiCallsTest {

    @ParameterizedTest
    @CsvSource({
        "api/v1/nodes/node-1, nodes",
        "api/v1/namespaces/default/events, events",
        "api/v1/namespaces/default, namespaces",
        "apis/resource.k8s.io/v1/resourceslices?fieldSelector=a/b, resourceslices",
        "apis/resource.k8s.io/v1/resourceslices/0000-x, resourceslices",
        "apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c, resourceclaims",
        "apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c/status?force=true," + " resourceclaims/status",
        "apis/resource.k8s.io/v1, discovery",
        "version, discovery"
    })
    void aRequestIsMeasuredByItsResourceAndNeverByAnObjectsName(String path, String resource) {
        assertThat(ApiCalls.resource(path)).isEqualTo(resource);
    }
}
