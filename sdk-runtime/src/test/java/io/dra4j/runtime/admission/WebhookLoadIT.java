// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import static io.dra4j.runtime.admission.WebhookUnderTest.CLAIMS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The webhook with many clients, and with slow ones. */
class WebhookLoadIT {

    private static final int CLIENTS = 32;
    private static final int CONNECTIONS_AT_ONCE = 8; // of each client
    private static final int REVIEWS = 4000;
    private static final int SLOW = 100; // each is a thread of the server until it is given up

    private WebhookUnderTest webhook;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        webhook = new WebhookUnderTest(folder, List.of());
    }

    @AfterEach
    void stop() throws IOException {
        webhook.close();
    }

    /** The clients open 256 connections at once, and use them again as an API server does. */
    @Test
    void answersEachOfManyReviewsAndRefusesNoConnection() throws Exception {
        HttpRequest refused = webhook.review(CLAIMS, Reviews.text("template-invalid-v1"));
        HttpRequest allowed = webhook.review(CLAIMS, Reviews.text("claim-valid-v1"));
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        List<Callable<Integer>> loads = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            HttpClient client = webhook.client();
            loads.add(() -> answered(client, allowed, refused));
        }

        long start = System.nanoTime();
        int answered = 0;
        for (Future<Integer> load : threads.invokeAll(loads)) {
            answered += load.get();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        threads.shutdown();

        System.out.printf(
                "%d reviews in %.1f s: %.0f a second%n", REVIEWS, seconds, REVIEWS / seconds);
        assertThat(answered).isEqualTo(CLIENTS * (REVIEWS / CLIENTS));
    }

    /** Returns how many reviews had the right answer; a refused connection is an exception. */
    private static int answered(HttpClient client, HttpRequest allowed, HttpRequest refused) {
        int answered = 0;
        while (answered < REVIEWS / CLIENTS) {
            List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
            int batch = Math.min(CONNECTIONS_AT_ONCE, REVIEWS / CLIENTS - answered);
            for (int i = 0; i < batch; i++) {
                HttpRequest next = i % 2 == 0 ? allowed : refused;
                calls.add(client.sendAsync(next, BodyHandlers.ofString()));
            }
            for (int i = 0; i < batch; i++) {
                HttpResponse<String> answer = calls.get(i).join();
                assertThat(answer.statusCode()).isEqualTo(200);
                assertThat(answer.body()).contains("\"allowed\":" + (i % 2 == 0));
                answered++;
            }
        }
        return answered;
    }

    @Test
    void answersOthersWhileClientsAreSlow() throws Exception {
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < SLOW; i++) {
                slow.add(i % 2 == 0 ? silent() : halfARequest());
            }

            assertThat(webhook.post(CLAIMS, Reviews.text("claim-valid-v1")).statusCode())
                    .isEqualTo(200);

            assertThat(slow).allMatch(Socket::isConnected);
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    /** A client of TCP that never begins with TLS. */
    private Socket silent() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), webhook.port());
    }

    private Socket halfARequest() throws IOException {
        Socket socket = webhook.tls.getSocketFactory().createSocket("127.0.0.1", webhook.port());
        String half =
                ("POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                                + "Content-Length: 5000\r\n\r\n{\"apiVersion\":")
                        .formatted(CLAIMS);
        socket.getOutputStream().write(half.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
        return socket;
    }
}
