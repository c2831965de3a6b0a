// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.observe.Notice;
import io.dra4j.runtime.internal.observe.Notice.Reason;
import io.dra4j.runtime.internal.observe.Notices;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the inventory when it may have changed, and keeps the last one that could be read.
 *
 * <p>Used on the loop's thread alone, but for {@link #last}.
 */
final class InventoryReader {

    private static final Logger LOG = LoggerFactory.getLogger(InventoryReader.class);
    private static final String INVENTORY = "inventory";

    private final SlicePublisher.InventorySource source;
    private final InstantSource clock;
    private final Notices notices;
    private final Pace pace;
    private boolean current;
    private boolean failed;
    private volatile @Nullable Inventory last;

    InventoryReader(
            SlicePublisher.InventorySource source,
            InstantSource clock,
            RandomGenerator random,
            Notices notices) {
        this.source = source;
        this.clock = clock;
        this.notices = notices;
        this.pace = new Pace(random);
    }

    /** The inventory may have changed. */
    void changed() {
        current = false;
    }

    /** Returns the last inventory that could be read; {@code null} if none ever could. */
    @Nullable Inventory last() {
        return last;
    }

    /** When to try again; empty if the inventory is known. */
    Optional<Instant> due() {
        return current ? Optional.empty() : Optional.of(pace.due());
    }

    /** Reads the inventory unless it is known; tells whether it is known now. */
    boolean read() {
        if (current) {
            return true;
        }
        try {
            last = source.inventory();
            current = true;
            pace.succeeded(clock.instant(), 0);
            recovered();
            return true;
        } catch (Exception | LinkageError e) { // whatever a provider throws
            pace.failed(clock.instant(), null);
            failed = true;
            LOG.atError()
                    .setCause(e)
                    .log("The provider could not read its inventory; the last good slices stay");
            tell(
                    Reason.INVENTORY_UNREADABLE,
                    "The driver could not read its devices; the last good ResourceSlices stay: "
                            + e,
                    e);
            return false;
        }
    }

    private void recovered() {
        if (failed) {
            failed = false;
            LOG.atInfo().log("The provider can read its inventory again");
            tell(Reason.PUBLISHING_RECOVERED, "The driver can read its devices again", null);
        }
    }

    private void tell(Reason reason, String message, @Nullable Throwable cause) {
        notices.take(new Notice(reason, INVENTORY, message, cause));
    }
}
