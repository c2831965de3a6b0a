// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.ClaimPreparation;
import io.dra4j.runtime.internal.claim.PrepareOutcome;
import io.dra4j.runtime.internal.claim.UnprepareOutcome;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Measures what the kubelet asks for, and how it is answered.
 *
 * <p>A call without claims is a probe, and not measured.
 */
record MeteredClaims(ClaimOperations operations, Meters meters) implements ClaimOperations {

    private static final String PREPARE = "prepare";
    private static final String UNPREPARE = "unprepare";
    private static final String SUCCESS = "success";
    private static final String ERROR = "error";

    /** Counters are there before they count: a rate from nothing to one would not be seen. */
    MeteredClaims {
        for (String operation : List.of(PREPARE, UNPREPARE)) {
            meters.count(Metric.CLAIMS, 0, operation, SUCCESS);
            meters.count(Metric.CLAIMS, 0, operation, ERROR);
        }
    }

    /** Measures the calls for these claims, and how many claims are held. */
    static MeteredClaims of(ClaimPreparation claims, Meters meters) {
        for (Phase phase : Phase.values()) {
            meters.watch(
                    Metric.HELD_CLAIMS,
                    () -> claims.held().stream().filter(held -> held.phase() == phase).count(),
                    phase.name().toLowerCase(Locale.ROOT));
        }
        meters.watch(
                Metric.HELD_DEVICES,
                () -> claims.held().stream().mapToInt(held -> held.devices().size()).sum());
        return new MeteredClaims(claims, meters);
    }

    @Override
    public Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline) {
        return measured(
                PREPARE,
                claims,
                () -> operations.prepare(claims, deadline),
                PrepareOutcome.Failed.class::isInstance);
    }

    @Override
    public Map<String, UnprepareOutcome> unprepare(List<String> claims, Instant deadline) {
        return measured(
                UNPREPARE,
                claims,
                () -> operations.unprepare(claims, deadline),
                UnprepareOutcome.Failed.class::isInstance);
    }

    private <K, T> Map<K, T> measured(
            String operation, List<K> claims, Supplier<Map<K, T>> call, Predicate<T> isError) {
        long start = System.nanoTime();
        Map<K, T> outcomes = call.get();
        if (!claims.isEmpty()) {
            meters.time(Metric.CALLS, Duration.ofNanos(System.nanoTime() - start), operation);
            long errors = outcomes.values().stream().filter(isError).count();
            meters.count(Metric.CLAIMS, errors, operation, ERROR);
            meters.count(Metric.CLAIMS, outcomes.size() - errors, operation, SUCCESS);
        }
        return outcomes;
    }
}
