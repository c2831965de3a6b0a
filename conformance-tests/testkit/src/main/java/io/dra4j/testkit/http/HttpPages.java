// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * The pages that a program serves without TLS, such as metrics and probes.
 *
 * @param server for example {@code http://127.0.0.1:8080}
 */
public record HttpPages(URI server) {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long LOOK_NANOS = 20_000_000;

    /** Those at a port of 127.0.0.1. */
    public static HttpPages at(int port) {
        return new HttpPages(URI.create("http://127.0.0.1:" + port));
    }

    /** Gets a page. */
    public HttpResponse<String> get(String path) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(server.resolve(path)).timeout(LIMIT).build();
        return CLIENT.send(request, BodyHandlers.ofString());
    }

    /**
     * Gets a page again and again, as a kubelet does, until it meets a condition; the server may not listen yet.
     *
     * @return its body
     * @throws AssertionError on a timeout
     */
    public String await(String path, Predicate<HttpResponse<String>> wanted) throws IOException, InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        String last = "nothing listens";
        while (System.nanoTime() < end) {
            try {
                HttpResponse<String> answer = get(path);
                if (wanted.test(answer)) {
                    return answer.body();
                }
                last = answer.statusCode() + " " + answer.body();
            } catch (ConnectException e) {
                last = "nothing listens";
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        throw new AssertionError("after " + LIMIT + " " + server.resolve(path) + ": " + last);
    }
}
