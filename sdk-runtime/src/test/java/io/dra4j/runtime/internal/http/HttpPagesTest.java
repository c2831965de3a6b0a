// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.runtime.internal.http.HttpPages.HttpAnswer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
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

    /** A server that is out of memory for a moment must not keep the connection for good. */
    @Test
    void closesTheConnectionOfARequestThatEndsWithAnErrorBeforeItsPage() throws Exception {
        AtomicBoolean isFirst = new AtomicBoolean(true);
        SSLContext tls = new SSLContext(new WithoutMemory(isFirst), null, "TLS") {};
        try (HttpPages pages = HttpPages.bind(ANY, tls).start()) {
            assertThatThrownBy(() -> answer(pages, "GET / HTTP/1.1\r\n\r\n"))
                    .as("not a timeout")
                    .isInstanceOf(SocketException.class);
            assertThat(isFirst).isFalse();
        }
    }

    /** TLS that fails for want of memory once. */
    private static final class WithoutMemory extends SSLContextSpi {

        private final AtomicBoolean isFirst;

        WithoutMemory(AtomicBoolean isFirst) {
            this.isFirst = isFirst;
        }

        private static SSLContext usual() {
            try {
                return SSLContext.getDefault();
            } catch (NoSuchAlgorithmException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        protected void engineInit(KeyManager[] keys, TrustManager[] trust, SecureRandom random) {}

        @Override
        protected SSLSocketFactory engineGetSocketFactory() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected SSLServerSocketFactory engineGetServerSocketFactory() {
            throw new UnsupportedOperationException();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine() {
            if (isFirst.getAndSet(false)) {
                throw new OutOfMemoryError("Java heap space");
            }
            return usual().createSSLEngine();
        }

        @Override
        protected SSLEngine engineCreateSSLEngine(String host, int port) {
            return engineCreateSSLEngine();
        }

        @Override
        protected SSLSessionContext engineGetServerSessionContext() {
            return usual().getServerSessionContext();
        }

        @Override
        protected SSLSessionContext engineGetClientSessionContext() {
            return usual().getClientSessionContext();
        }
    }
}
