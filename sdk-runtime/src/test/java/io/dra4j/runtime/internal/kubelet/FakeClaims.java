// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.DeviceResult;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Claims of one device each, which can be made to wait or to fail; none is unprepared. */
final class FakeClaims implements ClaimOperations {

    private static final DeviceResult DEVICE =
            new DeviceResult(List.of("r"), "pool", "gpu-0", List.of("v/c=d"), "share-1");

    final List<ClaimRef> requested = new CopyOnWriteArrayList<>();
    volatile Runnable before = () -> {};
    volatile BooleanSupplier hasLeft = () -> false; // of the last call

    @Override
    public Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft) {
        this.hasLeft = hasLeft;
        requested.addAll(claims);
        before.run();
        return claims.stream().collect(Collectors.toMap(Function.identity(), c -> new Prepared(List.of(DEVICE))));
    }

    @Override
    public Map<String, UnprepareOutcome> unprepare(List<String> uids, Instant deadline) {
        return uids.stream().collect(Collectors.toMap(Function.identity(), uid -> new UnprepareOutcome.Failed("busy")));
    }
}
