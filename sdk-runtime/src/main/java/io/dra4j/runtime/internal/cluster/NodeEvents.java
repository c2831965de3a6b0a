// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

/**
 * Kubernetes Events on the driver's Node, which {@code kubectl describe node} shows.
 *
 * <p>Core v1 Events, as the kubelet's own are. Blocks for some seconds at most; thread-safe.
 */
record NodeEvents(ApiCalls calls, String driver, String node, InstantSource clock) {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    // Events of objects without a namespace live here.
    private static final String PATH = "api/v1/namespaces/default/events";
    private static final int LONGEST_MESSAGE = 1024;
    private static final String CUT = " …";

    void create(boolean warning, String reason, String message) {
        calls.send("POST", PATH, event(warning, reason, message), LIMIT);
    }

    private ObjectNode event(boolean warning, String reason, String message) {
        String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
        ObjectNode event = Json.object()
                .put("apiVersion", "v1")
                .put("kind", "Event")
                .put("type", warning ? "Warning" : "Normal")
                .put("reason", reason)
                .put("message", cut(message))
                .put("firstTimestamp", now)
                .put("lastTimestamp", now)
                .put("count", 1)
                .put("reportingComponent", driver)
                .put("reportingInstance", node);
        event.putObject("metadata").put("generateName", node + ".").put("namespace", "default");
        event.putObject("source").put("component", driver).put("host", node);
        // The kubelet gives the node's name for its UID, and tools look for both.
        event.putObject("involvedObject")
                .put("apiVersion", "v1")
                .put("kind", "Node")
                .put("name", node)
                .put("uid", node);
        return event;
    }

    private static String cut(String message) {
        return message.length() <= LONGEST_MESSAGE
                ? message
                : message.substring(0, LONGEST_MESSAGE - CUT.length()) + CUT;
    }
}
