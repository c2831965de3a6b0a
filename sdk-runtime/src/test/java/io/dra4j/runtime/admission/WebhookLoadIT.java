// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import static io.dra4j.runtime.admission.WebhookUnderTest.CLAIMS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The webhook with many clients, and with slow ones. */
@Tag("nightly")
class WebhookLoadIT {

    private static final int CLIENTS = 32;
    private static final int CONNECTIONS_AT_ONCE = 8; // of each client
    private static final int REVIEWS = 2000;
    private static final Duration LONGEST = Duration.ofMinutes(10); // on any machine
    private static final int IDLE_MILLIS = 45_000; // the JDK closes connections after 30 to 40 s
    private static final String LINE = "HTTP/1.1 400 ";
    private static final int FLOOD = 300; // connections

    @TempDir
    private Path folder;

    @AutoClose
    private WebhookUnderTest webhook;

    private void start(String... jvmOptions) throws Exception {
        webhook = WebhookUnderTest.startProgram(folder, jvmOptions);
    }

    /**
     * The clients open 256 connections at once, and use them again as an API server does. How long
     * that takes is up to the machine, so the server's limits of time are not part of it.
     */
    @Test
    void answersEachOfManyReviewsAndRefusesNoConnection() throws Exception {
        start(limit("maxReqTime"), limit("maxRspTime"), limit("idleInterval"));
        HttpRequest refused = review("template-invalid-v1");
        HttpRequest allowed = review("claim-valid-v1");
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

        System.out.printf("%d reviews in %.1f s: %.0f a second%n", REVIEWS, seconds, REVIEWS / seconds);
        assertThat(answered).isEqualTo(CLIENTS * (REVIEWS / CLIENTS));
    }

    private static String limit(String name) {
        return "-Dsun.net.httpserver.%s=%d".formatted(name, LONGEST.toSeconds());
    }

    private HttpRequest review(String name) {
        return HttpRequest.newBuilder(webhook.review(CLAIMS, Reviews.text(name)), (a, b) -> true)
                .timeout(LONGEST)
                .build();
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

    private SSLSocket connection() throws IOException {
        return (SSLSocket) webhook.tls.getSocketFactory().createSocket("127.0.0.1", webhook.port());
    }

    private static void send(Socket socket, String rest) throws IOException {
        String request = "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n%s".formatted(CLAIMS, rest);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }

    @Test
    void outlivesMoreConnectionsThanItsMemoryHasRoomFor() throws Exception {
        start("-Xmx32m", "-XX:+UseSerialGC");
        List<Socket> open = new ArrayList<>();
        int refused = 0;
        try {
            for (int i = 0; i < FLOOD; i++) {
                SSLSocket socket = connection();
                open.add(socket);
                try {
                    socket.startHandshake();
                } catch (IOException e) {
                    refused++;
                }
            }
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }

        assertThat(refused).isBetween(1, FLOOD - 64);
        String labels = IntStream.range(0, 250_000)
                .mapToObj("\"%06d\":\"\","::formatted)
                .collect(Collectors.joining());
        String large = Reviews.text("claim-valid-v1")
                .replaceFirst("\"metadata\" : \\{", "$0\"labels\":{" + labels + "\"\":\"\"},");
        assertThat(webhook.post(CLAIMS, large).statusCode()).isEqualTo(200);
    }

    /** An API server that sends a review as the server closes the connection gets no answer. */
    @Test
    @Tag("nightly")
    void leavesItToClientsToCloseIdleConnections() throws Exception {
        start();
        try (Socket socket = connection()) {
            socket.setSoTimeout(IDLE_MILLIS);
            assertAnswered(socket);
            byte[] rest = new byte[1000];
            assertThatThrownBy(() -> {
                        while (socket.getInputStream().read(rest) >= 0) {}
                    })
                    .as("the server closed the connection")
                    .isInstanceOf(SocketTimeoutException.class);

            assertAnswered(socket);
        }
    }

    private static void assertAnswered(Socket socket) throws IOException {
        send(socket, "Content-Length: 1\r\n\r\n0");
        byte[] line = socket.getInputStream().readNBytes(LINE.length());
        assertThat(new String(line, StandardCharsets.UTF_8)).isEqualTo(LINE);
    }
}
