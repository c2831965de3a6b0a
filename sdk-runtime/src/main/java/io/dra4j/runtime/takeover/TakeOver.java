// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.takeover;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import java.util.List;
import java.util.Set;

/**
 * Claims that another driver of the same name has left prepared on this node, for this driver to
 * take over: they continue as if this driver had prepared them.
 *
 * <p>It is called once, when the driver starts and before its provider does. All claims are taken over, or none: if one
 * can't be, the driver does not start. After a crash it is called again.
 */
public interface TakeOver {

    /**
     * Returns whether the other driver has run on this node since the last take-over.
     *
     * <p>The kubelet may then have called the other driver to unprepare claims of this one, which succeeds for claims
     * that a driver does not know. If the cluster no longer has such a claim, this driver frees its devices.
     */
    boolean hasRun();

    /**
     * Reads the other driver's record.
     *
     * @param bootId the id of the node's current boot
     * @return the UIDs of the claims that it has prepared in this boot
     * @throws io.dra4j.api.error.DraException if it can't be read; the driver then does not start, with this message
     */
    Set<String> claims(String bootId);

    /**
     * Reads the devices of the node; only called if there are claims.
     *
     * @return all that the driver will offer
     * @throws io.dra4j.api.error.DraException if they can't be read; the driver then does not start
     */
    Inventory inventory();

    /**
     * Returns the devices of a claim that the cluster no longer has, as far as the record
     * names them. The claim is held, and undone, like a claim whose own record is lost.
     */
    List<HeldDevice> lost(String uid);

    /**
     * Refuses a claim that can't be taken over, judging only by its record.
     *
     * <p>It is called before the claim's allocation is read, because that may have devices that {@link #inventory}
     * lacks, and configurations that this driver does not know.
     *
     * @param uid one of {@link #claims}
     * @throws io.dra4j.api.error.PrepareException if it can't be taken over, with the reason
     */
    void check(String uid);

    /**
     * Returns a claim as if this driver had prepared it, with the state for its unprepare; it changes no hardware.
     *
     * @param claim the claim, which {@link #check} has passed
     * @return what its containers get, under the CDI names that the other driver has given
     * @throws io.dra4j.api.error.PrepareException if it can't be taken over, with the reason
     */
    PreparedClaim adopt(AllocatedClaim claim);

    /** Moves the other driver's record aside: the claims are in this driver's journal now. */
    void finish();

    /**
     * Returns how to start without these claims, for the message of a driver that can't start.
     *
     * @return an option, such as {@code --take-over=ignore}
     */
    String alternative();
}
