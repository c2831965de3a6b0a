// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import java.util.List;

/**
 * A node as a driver's command {@code audit} sees it: read, and never changed.
 *
 * <p>The driver itself may run meanwhile, in another process.
 */
public interface AuditedNode extends AutoCloseable {

    /**
     * Reads the devices of the node.
     *
     * @param held the claims of the journal; none if it can't be read
     * @return all that the driver offers, as its provider would
     * @throws io.dra4j.api.error.DraException if they can't be read; they are then not checked,
     *     with its message as the reason
     */
    Inventory inventory(List<HeldClaim> held);

    /**
     * Returns the driver's own checks: contradictions between claims and what only this driver
     * knows of its hardware.
     *
     * @param claims the claims of the journal; none if it can't be read, and then no check looks:
     *     each is not checked
     * @return the checks, none of which has looked yet; none by default
     */
    default List<Check> checks(AuditedClaims claims) {
        return List.of();
    }

    @Override
    default void close() {}
}
