// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.rules.KubernetesVersion;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/** A known bug of kube-scheduler that changes what is allocated. */
public enum SchedulerBug {
    /**
     * A candidate that is refused after its counters were charged keeps them for the rest of the
     * search, so that claims that fit may be refused.
     */
    COUNTER_LEAK(KubernetesVersion.V1_34, KubernetesVersion.V1_36),

    /** Pools of several drivers that have the same name are taken for one when counters are. */
    COUNTERS_BY_POOL_NAME(KubernetesVersion.V1_35, KubernetesVersion.V1_36),

    /** {@code distinctAttribute} compares devices of other requests, and one of the same. */
    DISTINCT_IN_ONE_REQUEST(KubernetesVersion.V1_35, KubernetesVersion.V1_36),

    /** {@code distinctAttribute} keeps nothing apart but shares of one device. */
    DISTINCT_SHARES_ONLY(KubernetesVersion.V1_34, KubernetesVersion.V1_34);

    private final KubernetesVersion first;
    private final KubernetesVersion last;

    SchedulerBug(KubernetesVersion first, KubernetesVersion last) {
        this.first = first;
        this.last = last;
    }

    /** Returns the bugs of a release, as its patch that {@code gitVersion} names has them. */
    public static Set<SchedulerBug> of(KubernetesVersion version) {
        return Arrays.stream(values())
                .filter(bug -> version.atLeast(bug.first) && bug.last.atLeast(version))
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(SchedulerBug.class)));
    }
}
