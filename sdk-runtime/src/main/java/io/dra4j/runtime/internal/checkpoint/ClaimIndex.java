// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Claims in the order in which they were first put, and by the devices that they hold.
 *
 * <p>The holders of a device are found immediately, however many claims there are: a scan of a thousand of them costs
 * as much as writing one. Not thread-safe.
 */
public final class ClaimIndex {

    private final Map<String, ClaimRecord> claims = new LinkedHashMap<>(); // by UID
    private final Map<Object, Map<String, ClaimRecord>> holders = new HashMap<>(); // by names and by hardware

    public static ClaimIndex of(Collection<ClaimRecord> claims) {
        ClaimIndex index = new ClaimIndex();
        claims.forEach(index::put);
        return index;
    }

    public Collection<ClaimRecord> all() {
        return Collections.unmodifiableCollection(claims.values());
    }

    /** Returns the claims that hold a device of that name, in any pool; a view. */
    public Collection<ClaimRecord> holding(DeviceName device) {
        return holdingAny(device);
    }

    /** Returns the claims that hold a device of that physical id, by whatever name it had; a view. */
    public Collection<ClaimRecord> holding(String physicalId) {
        return holdingAny(physicalId);
    }

    private Collection<ClaimRecord> holdingAny(Object key) {
        return Collections.unmodifiableCollection(
                holders.getOrDefault(key, Map.of()).values());
    }

    Map<String, ClaimRecord> byUid() {
        return Collections.unmodifiableMap(claims);
    }

    void apply(Entry entry) {
        ClaimRecord put = entry.put();
        if (put != null) {
            put(put);
        } else if (entry.forget() != null) {
            giveBack(claims.remove(entry.forget()));
        }
    }

    public void put(ClaimRecord claim) {
        giveBack(claims.put(claim.ref().uid(), claim));
        for (Object key : keys(claim)) {
            holders.computeIfAbsent(key, any -> new LinkedHashMap<>())
                    .put(claim.ref().uid(), claim);
        }
    }

    private static List<Object> keys(ClaimRecord claim) {
        List<Object> keys = new ArrayList<>();
        for (HeldDevice device : claim.devices()) {
            keys.add(device.device());
            if (device.physicalId() != null) {
                keys.add(device.physicalId());
            }
        }
        return keys;
    }

    private void giveBack(@Nullable ClaimRecord claim) {
        if (claim == null) {
            return;
        }
        for (Object key : keys(claim)) {
            holders.computeIfPresent(key, (any, held) -> {
                held.remove(claim.ref().uid());
                return held.isEmpty() ? null : held;
            });
        }
    }
}
