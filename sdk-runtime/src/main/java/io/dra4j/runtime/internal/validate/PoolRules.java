// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The rules for a pool: all that the API server checks of a {@code ResourceSlice} and a driver can
 * break, and what the scheduler checks of a pool, which it otherwise ignores as a whole.
 *
 * <p>The limits are those of Kubernetes 1.36; an older server that allows less refuses more itself.
 * Some rules are narrower than the server's, where it takes what can never work: amounts that it
 * would change, devices that take more of a counter than there is, selectors that match no node.
 *
 * <p>Pure; handles all that a provider can build, and never throws.
 *
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice</a>
 */
public final class PoolRules {

    private PoolRules() {}

    /**
     * Checks a pool.
     *
     * @return its problems, the first hundred; empty if it can be published, or is not for this
     *     driver to publish
     */
    public static List<Problem> problems(Pool pool) {
        Findings findings = new Findings(pool.name());
        Field.ofPool(findings, "pool.name").requires(pool.name());
        if (!(pool.placement() instanceof Placement.PublishedElsewhere)) {
            check(pool, findings);
        }
        return findings.problems();
    }

    private static void check(Pool pool, Findings findings) {
        PlacementRules.ofPool(findings, pool.placement());
        CounterRules counters = new CounterRules(findings, pool.counterSets());
        DeviceRules rules = new DeviceRules(pool.placement(), counters);
        operations(Field.ofPool(findings, "skipNodeOperations"), pool.skipNodeOperations());
        PartitionTypeRules.check(findings, pool);
        Set<DeviceName> names = new HashSet<>();
        for (Device device : pool.devices()) {
            if (findings.isFull()) {
                return;
            }
            Field field = Field.ofDevice(findings, device.name());
            if (field.child("name").requires(device.name()) && !names.add(device.name())) {
                field.child("name").refuse("must be unique in the pool", device.name());
            }
            rules.check(field, device);
        }
    }

    /** A kubelet that prepares nothing, and then unprepares it, would call a driver for nothing. */
    private static void operations(Field field, Set<NodeOperation> skipped) {
        if (skipped.equals(Set.of(NodeOperation.PREPARE))) {
            field.refuse("must have UNPREPARE, too, where PREPARE is skipped", skipped);
        }
    }
}
