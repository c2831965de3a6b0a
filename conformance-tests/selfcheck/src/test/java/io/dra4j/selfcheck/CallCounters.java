// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** Numbers of claims that were requested, by operation and result, at {@code /metrics} if asked for. */
class CallCounters {

    private final Map<String, AtomicLong> counts = new ConcurrentSkipListMap<>();

    CallCounters() {
        for (String operation : new String[] {"prepare", "unprepare"}) {
            for (String result : new String[] {"success", "error"}) {
                counts.put(series(operation, result), new AtomicLong());
            }
        }
    }

    String series(String operation, String result) {
        return "bare_claims_total{operation=\"%s\",result=\"%s\"}".formatted(operation, result);
    }

    void count(String operation, boolean good) {
        counts.get(series(operation, good ? "success" : "error")).incrementAndGet();
    }

    /** Serves at a port of the loopback address, which the first of two instances gets. */
    void serve(int port) {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            server.createContext("/metrics", this::answer);
            server.start();
            Life.current().closesAtEnd(() -> server.stop(0));
        } catch (IOException e) {
            Life.current().log("There are no metrics: " + e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] text = text().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, text.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(text);
        }
    }

    String text() {
        StringBuilder text = new StringBuilder("# TYPE bare_claims_total counter\n");
        new TreeMap<>(counts).forEach((name, count) -> text.append(name + " " + count + "\n"));
        return text.toString();
    }
}
