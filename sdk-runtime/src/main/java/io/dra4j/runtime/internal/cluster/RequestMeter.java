// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.time.Duration;

/** Measures requests by method, resource and status: never by an object's name. */
record RequestMeter(Meters meters) {

    private static final String NO_ANSWER = "none";

    /** Takes down a request that was answered. */
    void answered(String method, String path, int status, long sinceNanos) {
        record(method, path, Integer.toString(status), sinceNanos);
    }

    /** Takes down a request that was not. */
    void failed(String method, String path, long sinceNanos) {
        record(method, path, NO_ANSWER, sinceNanos);
    }

    private void record(String method, String path, String status, long sinceNanos) {
        Duration took = Duration.ofNanos(System.nanoTime() - sinceNanos);
        meters.time(Metric.API_REQUESTS, took, method, resource(path), status);
    }

    /**
     * {@code api/v1/nodes/n} is of nodes, and {@code ../resourceclaims/c/status} of their status.
     */
    static String resource(String path) {
        String[] all = path.split("\\?", 2)[0].split("/");
        int resource = all[0].equals("api") ? 2 : 3;
        if (all.length <= resource) {
            return "discovery";
        }
        if (all[resource].equals("namespaces") && all.length > resource + 2) {
            resource += 2;
        }
        return all.length > resource + 2 ? all[resource] + "/" + all[resource + 2] : all[resource];
    }
}
