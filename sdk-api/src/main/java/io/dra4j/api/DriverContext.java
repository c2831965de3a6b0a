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
 * The runtime's services to a provider, while the driver runs.
 *
 * <p>All methods are thread-safe. All except {@link #lock} return immediately; their effects happen later, on threads
 * of the runtime, which retries what fails.
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
     * Returns the driver's own directory, which is named after it in the kubelet's plugins directory.
     *
     * <p>The directory exists; its mode is 0750 unless an admin has changed it. All processes of the driver on the node
     * share it, and it survives restarts and reboots. A provider may keep files and directories there, and sets their
     * modes itself. The SDK's own names begin with a dot, {@code claims.}, {@code devices.}, {@code dra}, {@code
     * maintenance} or {@code reports}, or end with {@code .sock}; leave them alone.
     *
     * @return an absolute path, the same on each call
     */
    Path directory();

    /**
     * Takes a named lock, which only one thread among all processes of the driver on this node can hold.
     *
     * <p>During a rolling update, two processes prepare claims at the same time: a provider that chooses something for
     * a claim, such as a slot, an address or a port, does so under a lock, based on what {@link #held} returns then,
     * and {@linkplain ClaimContext#checkpoint checkpoints} the choice before it releases the lock. The other process
     * then sees the choice when it takes the lock.
     *
     * <p>The provider chooses the names. Locks are not reentrant; threads that need several must take them in the same
     * order. Threads of one process get a lock in the order in which they ask, and a waiting process gets it next,
     * however often another process asks for it. An uncontended lock takes microseconds.
     *
     * @param name a DNS label: at most 63 of a-z, 0-9 and '-'
     * @param atMost how long to wait; zero or less to try once. In a call for a claim, it must be less than the time
     *     left until {@link ClaimContext#deadline}
     * @return the lock, to be closed
     * @throws IllegalArgumentException if the name is not a DNS label
     * @throws io.dra4j.api.error.DraException if the lock is not released in that time, or the thread is interrupted:
     *     the message names the lock, the driver and, if known, the holder; if {@code prepare} rethrows it, the pod's
     *     owner reads it, and the kubelet tries again
     */
    NodeLock lock(String name, Duration atMost);

    /**
     * Returns the claims that the driver holds on this node, as the journal knows them now.
     *
     * <p>The list is live: each call returns what all processes of the driver have recorded so far, including
     * checkpoints and the claim that is being prepared or unprepared. In {@link DeviceProvider#start} it is complete:
     * it has every claim that survived. A table made from it is outdated as soon as another process prepares a claim;
     * see {@link #lock}.
     *
     * @return a snapshot, in no particular order
     * @throws io.dra4j.api.error.DraException if records that another process wrote can't be read
     */
    List<HeldClaim> held();

    /**
     * Makes the runtime read the inventory again and publish what changed.
     *
     * <p>Calls in quick succession may cause only one read, after the last of them.
     */
    void inventoryChanged();

    /**
     * Reports the health of devices; the last report of a device counts until it expires.
     *
     * <p>A provider should report in {@link DeviceProvider#start} what it knows by then: the kubelet then never sees a
     * device as unknown, and a device that does not work is published with its taint from the start, if the driver
     * taints such devices.
     *
     * @param health reports, in any order; devices that are left out keep their last report
     * @throws IllegalStateException if the driver was built without the health service
     */
    void reportHealth(Collection<DeviceHealth> health);

    /**
     * Sets what the status of a held claim reports about one of its devices.
     *
     * <p>It may be called long after the claim was prepared. Reports appear in the order of the calls; of several in
     * quick succession, perhaps only the last does. A report for a claim that is no longer held is dropped. Reports
     * survive a restart, and are removed when the claim is unprepared.
     *
     * @param claim the claim
     * @param device the device that the claim holds
     * @param status the report; it replaces the driver's earlier report of the device
     * @throws io.dra4j.api.error.DraException if parts of the report break a rule of the API: the message names them,
     *     and the other parts are reported; or if the report can't be stored
     */
    void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status);

    /**
     * Sets the metadata that the containers of a held claim read about one of its devices.
     *
     * <p>Containers have a file for it only if the device was prepared with metadata, which may be empty. Metadata for
     * a claim that is no longer held is dropped.
     *
     * @param claim the claim
     * @param device the device that the claim holds
     * @param metadata the metadata; it replaces the earlier metadata of the device
     * @throws io.dra4j.api.error.DraException if the device was prepared without metadata, or the metadata can't be
     *     stored
     */
    void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata metadata);

    /**
     * Reports something unexpected to the cluster's admins, in an Event on the Node.
     *
     * <p>It is for notices, not for errors: the Event has the type Normal. A notice that repeats the last one about its
     * subject appears again after half an hour at the earliest, and a subject gets at most one Event a minute. Without
     * the permission to create Events nothing appears, so also log what matters.
     *
     * @param subject what it is about, for instance the name of a device; the number of subjects must be bounded
     * @param message one or two sentences: what happened, to which claim or device
     */
    void notice(String subject, String message);
}
