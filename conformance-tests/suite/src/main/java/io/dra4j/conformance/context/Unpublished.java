// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.cluster.ApiRequestException;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A driver that has not published a complete pool within its start time.
 *
 * @param state its state, as a clause
 * @param details the time that it had, and the API server's answers to its writes
 * @param log the warnings of its log, and of its Events about the node
 */
public record Unpublished(String requirement, String state, String details, boolean refused, List<String> log) {

    private static final int MOST_EVENTS = 3;

    public Unpublished {
        log = List.copyOf(log);
    }

    static Unpublished of(Devices devices, DriverControl driver, ApiServer api, String access, Duration waited) {
        Blocked blocked = devices.blocked();
        String refusals = new Refusals(api.proxy()).summary();
        return new Unpublished(
                blocked.requirement(),
                blocked.state(),
                "%d s after it registered%s; %s"
                        .formatted(
                                waited.toSeconds(),
                                driver.isAlive() ? "" : ", when it had ended",
                                requests(api.proxy(), refusals, access)),
                !refusals.isEmpty(),
                warnings(driver, api.cluster(), devices.node()));
    }

    /** The warnings of a driver's log, and of its Events about the node. */
    static List<String> warnings(DriverControl driver, ApiObjects cluster, String node) {
        return Stream.concat(driver.warnings().stream(), events(cluster, node)).toList();
    }

    /** The driver's Events about its node: the only output of a driver in this JVM. */
    private static Stream<String> events(ApiObjects cluster, String node) {
        try {
            String about = "involvedObject.kind=Node,type=Warning,involvedObject.name=" + node;
            String selector = "fieldSelector=" + ApiObjects.encoded(about);
            return cluster.list("/api/v1/namespaces/default/events", selector).stream()
                    .map(e ->
                            e.path("reason").asText() + ": " + e.path("message").asText())
                    .distinct()
                    .limit(MOST_EVENTS);
        } catch (ApiRequestException e) {
            return Stream.of(); // Events only add to the message
        }
    }

    private static String requests(ApiProxy proxy, String refusals, String access) {
        List<RecordedRequest> requests = proxy.requests(Requests.to("resourceslices"));
        long writes = requests.stream().filter(RecordedRequest::write).count();
        if (requests.isEmpty()) {
            return "it has sent no request for ResourceSlices to the API server of the suite: " + access;
        }
        if (writes == 0) {
            return "it has sent %d requests for ResourceSlices, but none that writes a slice"
                    .formatted(requests.size());
        }
        return "it has written slices %d times; %s"
                .formatted(writes, refusals.isEmpty() ? "the API server refused no write" : refusals);
    }

    /** Returns the message of a rule that needs devices. */
    public Blocked blocked() {
        return new Blocked(requirement, state);
    }

    /** Returns the message of the requirement that the driver fails. */
    public String message() {
        return state + ", " + details;
    }
}
