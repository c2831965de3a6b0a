// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The API server's claims; what a claim is read for can be made to wait or to fail. */
final class FakeClaims implements ClaimReader {

    final Map<ClaimRef, ClaimObject> objects = new ConcurrentHashMap<>();
    final AtomicInteger lists = new AtomicInteger();
    volatile Hook beforeRead = ref -> {};
    volatile @Nullable ClusterException failure;
    volatile @Nullable ClusterException listFailure;

    interface Hook {
        void run(ClaimRef ref) throws InterruptedException;
    }

    @Override
    public ClaimObject read(ClaimRef claim, Duration limit) {
        try {
            beforeRead.run(claim);
        } catch (InterruptedException e) {
            throw new DraException("interrupted", e);
        }
        fail(failure);
        return objects.entrySet().stream()
                .filter(entry -> entry.getKey().namespace().equals(claim.namespace()))
                .filter(entry -> entry.getKey().name().equals(claim.name()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow(() -> new ClusterException.NotFound("no such claim", true));
    }

    @Override
    public Map<ClaimRef, ClaimObject> readAll(Duration limit) {
        lists.incrementAndGet();
        fail(failure);
        fail(listFailure);
        return Map.copyOf(objects);
    }

    private static void fail(@Nullable ClusterException now) {
        if (now != null) {
            throw now;
        }
    }
}
