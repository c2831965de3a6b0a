// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpSettingsTest {

    @ParameterizedTest
    @CsvSource({
        ":8080, 0.0.0.0, 8080",
        ":0, 0.0.0.0, 0",
        "127.0.0.1:9090, 127.0.0.1, 9090",
        "[::1]:9090, 0:0:0:0:0:0:0:1, 9090"
    })
    void anEndpointIsReadAsGoProgramsReadIt(String endpoint, String host, int port) {
        HttpSettings settings = HttpSettings.of(endpoint, "/metrics");

        assertThat(settings.address().getAddress().getHostAddress())
                .isIn(host, "0:0:0:0:0:0:0:0".repeat(host.startsWith("0.0") ? 1 : 0));
        assertThat(settings.address().getPort()).isEqualTo(port);
    }

    @ParameterizedTest
    @ValueSource(strings = {"8080", "localhost", ":", ":-1", ":65536", ":80/x", "a b:80", "u@h:80", "//:1"})
    void whatIsNoEndpointIsRefusedInOneSentence(String endpoint) {
        assertThatThrownBy(() -> HttpSettings.of(endpoint, "/metrics"))
                .isInstanceOf(DraException.class)
                .hasMessage("Not an HTTP endpoint: \"" + endpoint + "\"; use one such as :8080 or 127.0.0.1:8080");
    }

    @Test
    void aPathMayHaveSeveralParts() {
        assertThat(HttpSettings.of(":1", "/dra/metrics").metricsPath()).isEqualTo("/dra/metrics");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "metrics", "/metrics/", "/a b", "/m?x", "/healthz", "/readyz", "/startupz"})
    void aPathThatCannotBeServedIsRefused(String path) {
        assertThatThrownBy(() -> HttpSettings.of(":1", path))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("\"" + path + "\"");
    }
}
