// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.rules.KubernetesVersion;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A known bug of kube-scheduler that changes what is allocated. */
public enum SchedulerBug {
    /**
     * A candidate that is rejected after its counters were charged keeps them for the rest of the search. Therefore
     * claims that fit may be refused.
     */
    COUNTER_LEAK(
            KubernetesVersion.V1_34,
            KubernetesVersion.V1_36,
            "1.36.3",
            "it keeps counting the use of a device that it rejected, so other devices of the same hardware seem to be full"),

    /** Counters of pools that have the same name but different drivers are mixed up. */
    COUNTERS_BY_POOL_NAME(
            KubernetesVersion.V1_35,
            KubernetesVersion.V1_36,
            "1.37.0",
            "counters of pools of two drivers are mixed up if these pools have the same name"),

    /** {@code distinctAttribute} compares devices of other requests, but only one of the same request. */
    DISTINCT_IN_ONE_REQUEST(
            KubernetesVersion.V1_35,
            KubernetesVersion.V1_36,
            "1.37.0",
            "distinctAttribute compares with one device of a request, not with all"),

    /** {@code distinctAttribute} separates only shares of one device. */
    DISTINCT_SHARES_ONLY(
            KubernetesVersion.V1_34,
            KubernetesVersion.V1_34,
            "1.35.0",
            "distinctAttribute separates only shares of one device"),

    /** A DeviceTaintRule without a selector taints every device instead of none (#141648; #141998 for 1.37). */
    TAINT_RULE_WITHOUT_SELECTOR(
            KubernetesVersion.V1_34,
            KubernetesVersion.V1_37,
            Fixes.IN_1_38 + " or a later patch of 1.37",
            "a DeviceTaintRule without a deviceSelector taints every device of the cluster"),

    /**
     * A capacity is found only by its name in the slice (kubernetes/kubernetes#142202). The other form of a name in the
     * driver's domain is not found, neither in requests nor in what claims hold.
     */
    CAPACITY_BY_LITERAL_NAME(
            KubernetesVersion.V1_34,
            KubernetesVersion.V1_37,
            Fixes.IN_1_38,
            "a request finds a capacity only by the name that the driver publishes, with the driver's domain or without"),

    /** A device that became exclusive is allocated although claims still have shares of it (#140798). */
    EXCLUSIVE_OVER_SHARES(
            KubernetesVersion.V1_34,
            KubernetesVersion.V1_37,
            Fixes.IN_1_38,
            "a device that no longer allows multiple allocations is allocated although others still have shares of it"),

    /**
     * A request for all devices ends the attempt for all nodes, not only for the node that sees a pool that is
     * incomplete or invalid (#141898).
     */
    ALL_FAILS_ON_ALL_NODES(
            KubernetesVersion.V1_34,
            KubernetesVersion.V1_37,
            Fixes.IN_1_38,
            "a request for all devices fails on all nodes if one node sees a pool that is incomplete or invalid"),

    /**
     * Sums of counts overflow: kube-scheduler crashes, or tries an alternative that is too large (#141307; #141925 for
     * 1.34 and #141924 for 1.35; those for 1.36 and 1.37 were open in September 2026).
     */
    COUNT_OVERFLOW(
            KubernetesVersion.V1_34,
            KubernetesVersion.V1_37,
            Fixes.IN_1_38 + " or a later patch of 1.34 or 1.35",
            "counts whose sum exceeds 64 bits crash kube-scheduler, or are tried although a smaller one fits");

    /** Constants for the enum constants, which are initialized first. */
    private interface Fixes {
        String IN_1_38 = "1.38.0 (due in December 2026)";
    }

    private static final Pattern NUMBERS = Pattern.compile("v?(\\d{1,6})\\.(\\d{1,6})\\.(\\d{1,6})");

    private final KubernetesVersion first;
    private final KubernetesVersion last;
    private final String fixedIn;
    private final String text;

    SchedulerBug(KubernetesVersion first, KubernetesVersion last, String fixedIn, String text) {
        this.first = first;
        this.last = last;
        this.fixedIn = fixedIn;
        this.text = text;
    }

    /**
     * Returns the releases without the bug, in words that begin with the first of them.
     *
     * <p>A server of an older release counts as affected, because the patch release that fixes it there is not known.
     */
    public String fixedIn() {
        return fixedIn;
    }

    /** Returns the bug as a part of a sentence. */
    public String text() {
        return text;
    }

    /** Returns the bugs of a release that apply to a server with a version such as {@code v1.36.3}. */
    public static Set<SchedulerBug> of(KubernetesVersion release, String server) {
        Set<SchedulerBug> bugs = of(release);
        bugs.removeIf(bug -> isAtLeast(server, bug.fixedIn.split(" ")[0]));
        return bugs;
    }

    /** Compares the first three numbers; a version without them does not count as later. */
    public static boolean isAtLeast(String server, String other) {
        Matcher numbers = NUMBERS.matcher(server);
        if (!numbers.lookingAt()) {
            return false;
        }
        String[] others = other.split("\\.");
        for (int i = 0; i < others.length; i++) {
            int difference = Integer.compare(Integer.parseInt(numbers.group(i + 1)), Integer.parseInt(others[i]));
            if (difference != 0) {
                return difference > 0;
            }
        }
        return true;
    }

    /** Returns the bugs of a release, in the patch that {@code gitVersion} names. */
    public static Set<SchedulerBug> of(KubernetesVersion version) {
        return Arrays.stream(values())
                .filter(bug -> version.atLeast(bug.first) && bug.last.atLeast(version))
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(SchedulerBug.class)));
    }
}
