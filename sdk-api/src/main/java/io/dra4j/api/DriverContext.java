// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.health.DeviceHealth;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;

/**
 * The runtime's services to a provider, for as long as the driver runs.
 *
 * <p>All methods are thread-safe and return at once; their effects happen later, on threads of the
 * runtime, and are tried again by the runtime where it fails.
 */
public interface DriverContext {

    /**
     * Returns the driver's name.
     *
     * @return a DNS subdomain, for instance {@code gpu.example.com}
     */
    String driverName();

    /**
     * Returns the name of the node that the driver runs on, by convention the name of its pool.
     *
     * @return the name of the Node object
     */
    String nodeName();

    /**
     * Returns the runtime's clock.
     *
     * @return the clock; tests set their own
     */
    InstantSource clock();

    /**
     * Returns the claims that the driver holds on this node, as the journal knows them now.
     *
     * <p>In {@link DeviceProvider#start} the list is complete: it has all that survived.
     *
     * @return a snapshot, in no particular order
     */
    List<HeldClaim> held();

    /**
     * Makes the runtime read the inventory again and publish what changed.
     *
     * <p>Calls that come close together may lead to one reading that is later than all of them.
     */
    void inventoryChanged();

    /**
     * Reports the health of devices; the last report of a device counts until it expires.
     *
     * <p>What a provider knows when it starts, it reports in {@link DeviceProvider#start}: then the
     * kubelet never sees a device as unknown, and a device that does not work is published with its
     * taint at once, if the driver taints such devices.
     *
     * @param health reports, in any order; devices that are left out keep their last report
     * @throws IllegalStateException if the driver was built without the health service
     */
    void reportHealth(Collection<DeviceHealth> health);

    /**
     * Sets what the status of a held claim reports of one of its devices.
     *
     * <p>It may be called long after the claim was prepared, in the order in which the reports
     * shall appear; of reports that come close together the last alone may appear. A report for a
     * claim that is no longer held is dropped. A report is kept over a restart, and ends with the
     * claim's preparation.
     *
     * @param claim the claim
     * @param device the device that the claim holds
     * @param status the report; it replaces the driver's earlier report of the device
     * @throws io.dra4j.api.error.DraException if parts of the report break a rule of the API: it
     *     names them, and the others are reported all the same; or if the report can't be kept
     */
    void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status);

    /**
     * Sets what the containers of a held claim read about one of its devices.
     *
     * <p>Containers have a file to read it in only if the device was prepared with metadata, though
     * it be empty. Metadata for a claim that is no longer held is dropped.
     *
     * @param claim the claim
     * @param device the device that the claim holds
     * @param metadata the metadata; it replaces the earlier metadata of the device
     * @throws io.dra4j.api.error.DraException if the device was prepared without metadata, or it
     *     can't be kept
     */
    void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata metadata);

    /**
     * Tells the cluster's admins what they may not expect, by an Event on the Node.
     *
     * <p>Nothing is wrong then: the Event is a Normal one. A notice that repeats the last one about
     * its subject appears again after half an hour at the earliest, and one subject has an Event a
     * minute at most. Without the permission to create Events there is none: log what matters, too.
     *
     * @param subject what it is about, for instance the name of a device; their number has to be
     *     bounded
     * @param message one or two sentences: what, of which claim or device
     */
    void notice(String subject, String message);
}
