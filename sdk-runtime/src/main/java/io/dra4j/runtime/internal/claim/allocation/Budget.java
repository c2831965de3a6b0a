// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what claims take of limited things: the counters of a pool, the capacities of a device that is shared.
 *
 * <p>Not thread-safe.
 */
final class Budget {

    private final Map<String, Use> uses = new HashMap<>();

    /**
     * An amount that a device takes of a limited thing.
     *
     * @param item names the thing
     * @param total how much there is; {@code null} if that is unknown, and then it is not limited
     */
    record Amount(String item, Quantity amount, @Nullable Quantity total) {}

    /** Counts what claims hold already, together. */
    void hold(Collection<ClaimRecord> claims, Amount held) {
        Use use = uses.computeIfAbsent(held.item, key -> new Use());
        use.sum = use.sum.add(held.amount.amount());
        claims.forEach(claim -> use.holders.put(claim.ref().uid(), claim));
    }

    /**
     * Counts what the claim in question wants.
     *
     * @return the claims that hold what is missing, or empty if there is enough
     * @throws PrepareException if there would not be enough without other claims either
     */
    Optional<HoldConflict> take(DeviceKey device, Amount wanted) {
        Use use = uses.computeIfAbsent(wanted.item, key -> new Use());
        BigDecimal sum = use.sum.add(wanted.amount.amount());
        if (wanted.total == null || wanted.amount.amount().signum() <= 0 || sum.compareTo(wanted.total.amount()) <= 0) {
            use.sum = sum;
            return Optional.empty();
        }
        String problem =
                "device %s takes %s of %s, which has %s".formatted(device, wanted.amount, wanted.item, wanted.total);
        if (use.holders.isEmpty()) {
            throw new PrepareException(problem + "; the claim takes more than there is");
        }
        return Optional.of(new HoldConflict(
                problem + ", and " + use.sum.toPlainString() + " of it is held", List.copyOf(use.holders.values())));
    }

    private static final class Use {
        private final Map<String, ClaimRecord> holders = new LinkedHashMap<>();
        private BigDecimal sum = BigDecimal.ZERO;
    }
}
