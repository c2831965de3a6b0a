// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.Toleration;
import io.dra4j.rules.FeatureGate;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks whether a request tolerates the taints of a device. */
final class Taints {
    private static final Set<String> EFFECTS = Set.of("NoSchedule", "NoExecute");

    private final boolean enabled;
    private final boolean every;

    Taints(Behaviour behaviour) {
        this.enabled = behaviour.enabled(FeatureGate.DRA_DEVICE_TAINTS);
        this.every = behaviour.has(Trait.EVERY_TAINT_COUNTS);
    }

    /** Returns the first taint that is not tolerated, or null. */
    @Nullable
    Obstacle check(Plan plan, Candidate candidate) {
        if (!enabled) {
            return null;
        }
        List<Toleration> tolerations = plan.asked().tolerations();
        for (Taint taint : candidate.device().taints()) {
            boolean counts = every || EFFECTS.contains(taint.effect());
            if (counts && tolerations.stream().noneMatch(one -> one.tolerates(taint))) {
                return new Obstacle.Tainted(taint);
            }
        }
        return null;
    }
}
