// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.health.DeviceHealth;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;

/**
 * The runtime's services to a provider, for as long as the driver runs.
 *
 * <p>All methods are thread-safe. All but {@link #lock} return immediately; their effects happen
 * later, on threads of the runtime, and are tried again by the runtime where it fails.
 *
 * <p>The provider of a driver's controller, which publishes pools without a node, has a context that holds no claims;
 * methods about the node and its kubelet throw an {@link IllegalStateException} there.
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
     * Returns the driver's own directory: the kubelet's plugins directory, and the driver's name.
     *
     * <p>It is there, and its mode is 0750, or what an admin has made of it. All processes of the driver on the node
     * share it, and it survives restarts and reboots. A provider may keep files and directories there, whose modes it
     * sets itself. The SDK's own names begin with a dot, {@code claims.}, {@code devices.}, {@code dra}, {@code
     * maintenance} or {@code reports}, or end with {@code .sock}; leave them alone.
     *
     * @return an absolute path, the same on each call
     */
    Path directory();

    /**
     * Takes a lock by its name; one thread of all processes of the driver on this node has it.
     *
     * <p>During a rolling update, two processes prepare claims at the same time: what a provider
     * chooses for a claim, such as a slot, an address or a port, it chooses under a lock, from what
     * {@link #held} says then, and {@linkplain ClaimContext#checkpoint checkpoints} before the lock
     * ends. So the other process, which takes the lock next, sees it.
     *
     * <p>Names are the provider's own. A thread that holds a lock waits in vain if it asks for the
     * same one again; those that need several ask for them in one order. Threads of one process have
     * it in the order in which they ask, and a process that waits has it next, however often another
     * asks for it. An uncontended lock takes microseconds.
     *
     * @param name a DNS label: at most 63 of a-z, 0-9 and '-'
     * @param atMost how long to wait; zero or less to try once. In a call for a claim, less than what
     *     {@link ClaimContext#deadline} leaves
     * @return the lock, to be closed
     * @throws IllegalArgumentException if the name is not a DNS label
     * @throws io.dra4j.api.error.DraException if it is held for that long, or the thread is
     *     interrupted: it names the lock, the driver and, as far as it is known, the holder; thrown
     *     on by {@code prepare}, it is what the pod's owner reads, and the kubelet tries again
     */
    NodeLock lock(String name, Duration atMost);

    /**
     * Returns the claims that the driver holds on this node, as the journal knows them now.
     *
     * <p>It is live: each call returns what all processes of the driver have recorded by then,
     * checkpoints included, and the claim that is being prepared or unprepared. In {@link
     * DeviceProvider#start} the list is complete: it has all that survived. A table that is made
     * from it is wrong as soon as another process prepares a claim; see {@link #lock}.
     *
     * @return a snapshot, in no particular order
     * @throws io.dra4j.api.error.DraException if another process wrote, and that can't be read
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
     * <p>It may be called long after the claim was prepared, in the order in which the reports shall appear; of reports
     * that come close together the last alone may appear. A report for a claim that is no longer held is dropped. A
     * report is kept over a restart, and ends with the claim's preparation.
     *
     * @param claim the claim
     * @param device the device that the claim holds
     * @param status the report; it replaces the driver's earlier report of the device
     * @throws io.dra4j.api.error.DraException if parts of the report break a rule of the API: it names them, and the
     *     others are reported all the same; or if the report can't be kept
     */
    void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status);

    /**
     * Sets what the containers of a held claim read about one of its devices.
     *
     * <p>Containers have a file to read it in only if the device was prepared with metadata, though it be empty.
     * Metadata for a claim that is no longer held is dropped.
     *
     * @param claim the claim
     * @param device the device that the claim holds
     * @param metadata the metadata; it replaces the earlier metadata of the device
     * @throws io.dra4j.api.error.DraException if the device was prepared without metadata, or it can't be kept
     */
    void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata metadata);

    /**
     * Tells the cluster's admins what they may not expect, by an Event on the Node.
     *
     * <p>Nothing is wrong then: the Event is a Normal one. A notice that repeats the last one about its subject appears
     * again after half an hour at the earliest, and one subject has an Event a minute at most. Without the permission
     * to create Events there is none: log what matters, too.
     *
     * @param subject what it is about, for instance the name of a device; their number has to be bounded
     * @param message one or two sentences: what, of which claim or device
     */
    void notice(String subject, String message);
}
