// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.http.HttpClient;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** Holds ADR 0001: the JDK's HTTP client alone talks to the API server. */
class HttpClientChoiceTest {

    @Test
    void neitherAnHttpClientOfFabric8NorVertxIsOnTheClassPath() {
        assertThat(ServiceLoader.load(HttpClient.Factory.class)).isEmpty();
        assertThatThrownBy(() -> Class.forName("io.vertx.core.Vertx")).isInstanceOf(ClassNotFoundException.class);
    }
}
