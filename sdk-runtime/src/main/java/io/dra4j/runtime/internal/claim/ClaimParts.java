// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The parts that prepare claims.
 *
 * @param locks keep other processes of the driver from a claim
 * @param pins the hardware that devices' names were published for
 * @param reports the statuses and metadata of prepared devices
 * @param inventory the last inventory that could be read
 * @param unreadable why the last read of it failed; empty if it did not
 * @param events receives damage and failed repairs
 * @param meters measures how long claims waited
 * @param dataDirectory the driver's directory below the kubelet's plugins
 */
public record ClaimParts(
        String driver,
        DeviceProvider provider,
        ProviderCalls providerCalls,
        ClaimReader reader,
        Journal journal,
        LockFile locks,
        DevicePins pins,
        CdiSpecs specs,
        ClaimReports reports,
        Supplier<Optional<Inventory>> inventory,
        Supplier<Optional<String>> unreadable,
        InstantSource clock,
        EventRecorder events,
        Meters meters,
        Path dataDirectory) {

    /** Returns whether a record is that of a claim that is prepared in this boot. */
    boolean isPrepared(ClaimRecord record) {
        return record.phase() == Phase.PREPARED && isOfThisBoot(record);
    }

    boolean isOfThisBoot(ClaimRecord record) {
        return record.bootId().equals(journal.bootId());
    }

    /** Returns a record as the provider sees it. */
    HeldClaim held(ClaimRecord record) {
        return record.held(journal.bootId());
    }

    /**
     * Returns the last inventory.
     *
     * @throws PrepareException if none could be read yet
     */
    Inventory requireInventory() {
        return inventory
                .get()
                .orElseThrow(() -> new PrepareException("the driver could not read its devices yet"
                        + unreadable.get().map(": "::concat).orElse("")));
    }
}
