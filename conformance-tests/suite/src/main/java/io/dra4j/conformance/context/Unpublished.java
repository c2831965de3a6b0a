// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.cluster.ClusterException;
import io.dra4j.testkit.driver.ProcessSettings;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A driver that has not published a complete pool within its start time.
 *
 * @param requirement the requirement that it fails
 * @param state how it is, as a clause
 * @param details how long it had, and what the API server answered to its writes
 * @param refused whether the API server refused a write of a slice
 * @param log the warnings of its log, and of its Events about the node
 */
public record Unpublished(
        String requirement, String state, String details, boolean refused, List<String> log) {

    private static final String NO_SLICE = "DRA-SLICE-01";
    private static final String NO_POOL = "DRA-SLICE-03";
    private static final int MOST_EVENTS = 3;

    public Unpublished {
        log = List.copyOf(log);
    }

    /** The driver of a test context, after so long a wait. */
    static Unpublished of(TestContext context, Duration waited) {
        boolean some = !context.devices().slices().isEmpty();
        return new Unpublished(
                some ? NO_POOL : NO_SLICE,
                state(context.devices()),
                "%d s after it registered%s; %s"
                        .formatted(
                                waited.toSeconds(),
                                context.driver().isAlive() ? "" : ", when it had ended",
                                requests(context)),
                !new Refusals(context.proxy()).summary().isEmpty(),
                Stream.concat(context.driver().warnings().stream(), events(context)).toList());
    }

    /** What the driver says about its node, which is all that one in this JVM leaves. */
    private static Stream<String> events(TestContext context) {
        try {
            String about =
                    "involvedObject.kind=Node,type=Warning,involvedObject.name="
                            + context.place().node();
            String selector = "fieldSelector=" + Cluster.encoded(about);
            return context.cluster().list("/api/v1/namespaces/default/events", selector).stream()
                    .map(e -> e.path("reason").asText() + ": " + e.path("message").asText())
                    .distinct()
                    .limit(MOST_EVENTS);
        } catch (ClusterException e) {
            return Stream.of(); // they are no more than a help
        }
    }

    /** Why nothing can be tried with the devices that there are now. */
    static Blocked blocked(Devices devices) {
        return new Blocked(devices.slices().isEmpty() ? NO_SLICE : NO_POOL, state(devices));
    }

    private static String state(Devices devices) {
        List<String> incomplete = devices.incomplete();
        return incomplete.isEmpty()
                ? "the driver publishes no slice that its node can use"
                : "the driver publishes no complete pool: " + String.join(", ", incomplete);
    }

    private static String requests(TestContext context) {
        List<RecordedRequest> asked = context.proxy().requests(Requests.to("resourceslices"));
        long writes = asked.stream().filter(RecordedRequest::write).count();
        if (asked.isEmpty()) {
            return "it has sent no request for ResourceSlices to the API server of the suite: "
                    + (isInCluster(context)
                            ? "does it use the service account of its pod?"
                            : "is it started with the kubeconfig %s, or does it need driver.process.inCluster?"
                                    .formatted(context.place().kubeconfig()));
        }
        if (writes == 0) {
            return "it has sent %d requests for ResourceSlices, and none that writes one"
                    .formatted(asked.size());
        }
        String refused = new Refusals(context.proxy()).summary();
        return "it has written slices %d times; %s"
                .formatted(writes, refused.isEmpty() ? "the API server refused no write" : refused);
    }

    private static boolean isInCluster(TestContext context) {
        ProcessSettings process = context.settings().driver().process();
        return process != null && process.inCluster();
    }

    /** What a rule that needs devices says. */
    public Blocked blocked() {
        return new Blocked(requirement, state);
    }

    /** What the requirement that the driver fails says. */
    public String message() {
        return state + ", " + details;
    }
}
