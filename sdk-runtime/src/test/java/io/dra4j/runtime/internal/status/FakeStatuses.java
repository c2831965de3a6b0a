// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.cluster.ClaimStatuses;
import io.dra4j.runtime.internal.cluster.ClusterException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Statuses that note what is applied, and fail as often as configured. */
public final class FakeStatuses implements ClaimStatuses {

    record Applied(ClaimRef claim, String fieldManager, List<String> devices) {}

    final List<Applied> applied = new ArrayList<>();
    final Deque<RuntimeException> failures = new ArrayDeque<>();
    final Set<ClaimRef> gone = new HashSet<>();
    Runnable afterApply = () -> {};
    int tries;

    void fail(int times, int status) {
        for (int i = 0; i < times; i++) {
            failures.add(new ClusterException("the server answered " + status, status, null));
        }
    }

    @Override
    public void apply(ClaimRef claim, String fieldManager, List<String> devices) {
        tries++;
        if (!failures.isEmpty()) {
            throw failures.remove();
        }
        applied.add(new Applied(claim, fieldManager, devices));
        afterApply.run();
    }

    @Override
    public boolean exists(ClaimRef claim) {
        return !gone.contains(claim);
    }

    /** Returns how many statuses have been applied. */
    public int count() {
        return applied.size();
    }

    Applied last() {
        return applied.get(applied.size() - 1);
    }
}
