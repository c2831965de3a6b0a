// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.testkit.apiserver.model.Traffic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The numbers of the drivers of many nodes in one JVM.
 *
 * @param plan the number of nodes and devices
 * @param registered how many are still registered with the kubelet at the end
 * @param slices how many slices are published
 * @param incomplete the problem with them; empty if all exist and each pool is complete
 * @param publishing the time from the start of the second driver until all had published
 * @param requests the requests of all drivers until then, by kind
 * @param one the JVM with one driver at rest
 * @param all the JVM with all drivers at rest
 * @param idle what they did while nothing happened
 * @param ended the traffic after every watch was ended once
 * @param called that of one prepare and one unprepare of a claim by each driver
 * @param connections the number of their connections to the API server in the end
 */
public record NodesNumbers(
        NodesPlan plan,
        int registered,
        int slices,
        String incomplete,
        Duration publishing,
        Map<String, Long> requests,
        Host one,
        Host all,
        Idle idle,
        Map<String, Traffic> ended,
        Map<String, Traffic> called,
        int connections) {

    /** The prepares in an hour of a node that is busy, each of one claim, and unprepared later. */
    public static final int BUSY_PREPARES = 60;

    /** kube-apiserver ends a watch after 30 to 60 minutes, at random. */
    private static final double WATCH_ENDS = 4 / 3.0;

    /** The largest part of a core that an idle driver may use. */
    public static final double CPU_LIMIT_PERCENT = 0.1;

    private static final String WATCH = "watch ";

    /** The JVM at one moment, with what is left in its heap after a collection. */
    public record Host(Footprint footprint, long heapBytes) {}

    /** A period at rest: its traffic by kind, the processor time of the JVM, and its length. */
    public record Idle(Map<String, Traffic> traffic, Duration cpu, Duration lasted) {

        /** The requests during it, by kind. */
        public Map<String, Long> requests() {
            Map<String, Long> requests = new TreeMap<>();
            traffic.forEach((kind, all) -> requests.put(kind, (long) all.requests()));
            requests.values().removeIf(count -> count == 0);
            return requests;
        }

        /** The requests that a driver at rest has no reason to send, by kind. */
        public Map<String, Long> needless() {
            Map<String, Long> needless = requests();
            needless.keySet().removeIf(kind -> kind.startsWith(WATCH));
            return needless;
        }

        /** The processor time that the JVM used, in percent of one core. */
        public double cpuPercent() {
            return 100.0 * cpu.toNanos() / lasted.toNanos();
        }
    }

    /**
     * The traffic of a node in an hour, by kind: the traffic at rest, the traffic after each end of a watch, and that
     * of this number of prepares and unprepares.
     */
    public Map<String, Traffic> perHour(int prepares) {
        Map<String, Traffic> rates = new TreeMap<>();
        add(
                rates,
                idle.traffic(),
                (double) Duration.ofHours(1).toNanos() / idle.lasted().toNanos());
        add(rates, ended, WATCH_ENDS);
        add(rates, called, prepares);
        return rates;
    }

    private void add(Map<String, Traffic> rates, Map<String, Traffic> all, double times) {
        all.forEach((kind, traffic) -> {
            if (!traffic.equals(Traffic.NONE) && times > 0) {
                rates.put(kind, rates.getOrDefault(kind, Traffic.NONE).and(traffic, each(times)));
            }
        });
    }

    /** All requests until publication. */
    public long allRequests() {
        return requests.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The share of one driver in the total. */
    public double each(double all) {
        return all / plan.nodes();
    }

    /** The amount that each driver after the first adds, because the first one includes what all share. */
    public double added(double withOne, double withAll) {
        return (withAll - withOne) / (plan.nodes() - 1);
    }

    /** The limits that are exceeded, a sentence each. */
    public List<String> complaints() {
        List<String> complaints = new ArrayList<>();
        if (!incomplete.isEmpty()) {
            complaints.add("Not everything is published: " + incomplete + ".");
        }
        if (registered != plan.nodes()) {
            complaints.add("%d of %d drivers are registered with the kubelet.".formatted(registered, plan.nodes()));
        }
        if (!idle.needless().isEmpty()) {
            complaints.add("Idle drivers sent requests other than watches: %s.".formatted(idle.needless()));
        }
        double each = each(idle.cpuPercent());
        if (each > CPU_LIMIT_PERCENT) {
            complaints.add(String.format(
                    Locale.ROOT,
                    "An idle driver takes %.3f %% of a core; the limit is %.1f %%.",
                    each,
                    CPU_LIMIT_PERCENT));
        }
        return complaints;
    }
}
