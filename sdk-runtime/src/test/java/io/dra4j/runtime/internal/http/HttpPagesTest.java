// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.http.HttpPages.HttpAnswer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpPagesTest {

    private static final int PATIENCE_MILLIS = 20_000;
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static String answer(HttpPages pages, String request) throws IOException {
        try (Socket client = new Socket()) {
            client.connect(pages.address());
            client.setSoTimeout(PATIENCE_MILLIS);
            client.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    private static HttpPages pages(Duration longest) throws IOException {
        return HttpPages.bind(ANY, longest)
                .postJson("/page", 100, (accept, body) -> HttpAnswer.text(200, "complete"))
                .get("/broken", (accept, body) -> {
                    throw new StackOverflowError();
                })
                .start();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /page HTTP/1.1\r\nHost: a\r\nContent-",
                "POST /page HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{"
            })
    void closesTheConnectionOfARequestThatTakesTooLong(String begun) throws IOException {
        try (HttpPages pages = pages(Duration.ofMillis(50))) {
            assertThat(answer(pages, begun)).isEmpty();
        }
    }

    @Test
    void answersARequestInTimeAlsoIfItsPageIsBroken() throws IOException {
        String request =
                "POST /page HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        try (HttpPages pages = pages(Duration.ofDays(1))) {
            assertThat(answer(pages, request)).startsWith("HTTP/1.1 200 ").endsWith("complete\n");
            assertThat(answer(pages, "GET /broken HTTP/1.1\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 500 ");
        }
    }
}
