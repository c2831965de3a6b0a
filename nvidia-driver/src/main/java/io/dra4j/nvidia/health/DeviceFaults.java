// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.nvml.Placement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * The known faults of a node's GPUs, and the taints and health reports of their devices.
 * Thread-safe.
 *
 * <p>An error of a whole GPU concerns all its MIG devices; an error of a GPU instance concerns the
 * devices with the same memory slices. The keys of taints are those of NVIDIA's driver.
 */
public final class DeviceFaults {

    private static final String DOMAIN = NodeDevices.DRIVER_NAME + "/";

    /** The number of readings that may be missed before a health report expires. */
    private static final int VALID_INTERVALS = 3;

    private final Duration valid;
    private final Map<String, List<XidError>> errors = new HashMap<>(); // by GPU; guarded by this
    private Set<String> lost = Set.of(); // guarded by this
    private Set<String> unmonitored = Set.of(); // guarded by this

    /** Creates an empty record of faults. */
    public DeviceFaults(HealthPolicy policy) {
        this.valid = policy.rescanInterval().multipliedBy(VALID_INTERVALS);
    }

    /** Records an error of a GPU; it replaces an earlier one of the same number and place. */
    synchronized void failed(String gpu, XidError error) {
        List<XidError> known = errors.computeIfAbsent(gpu, key -> new ArrayList<>());
        known.removeIf(it -> it.xid() == error.xid() && Objects.equals(it.where(), error.where()));
        known.add(error);
    }

    /** Returns all errors, by the UUIDs of the GPUs. */
    public synchronized Map<String, List<XidError>> errors() {
        Map<String, List<XidError>> copy = new HashMap<>();
        errors.forEach((gpu, all) -> copy.put(gpu, List.copyOf(all)));
        return copy;
    }

    /** Adds the errors that an earlier process recorded. */
    public synchronized void recall(Map<String, List<XidError>> before) {
        before.forEach((gpu, all) -> errors.put(gpu, new ArrayList<>(all)));
    }

    /** Returns the GPUs whose errors are all older than a time. */
    synchronized List<String> failedBefore(Instant time) {
        return errors.entrySet().stream()
                .filter(
                        gpu ->
                                gpu.getValue().stream()
                                        .allMatch(e -> e.sinceMillis() < time.toEpochMilli()))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Removes the errors of a GPU that works again. */
    synchronized void recovered(String gpu) {
        errors.remove(gpu);
    }

    /** Removes the errors after which a GPU kept working. */
    synchronized void forgetHarmless(String gpu) {
        List<XidError> known = errors.getOrDefault(gpu, new ArrayList<>());
        known.removeIf(XidError::harmless);
        if (known.isEmpty()) {
            errors.remove(gpu);
        }
    }

    /** Makes errors fatal that were harmless, and after which the GPU needs a recovery. */
    synchronized void escalate(String gpu, LongPredicate isIgnored) {
        errors.computeIfPresent(
                gpu,
                (key, known) -> {
                    known.replaceAll(it -> isIgnored.test(it.xid()) ? it : it.fatal());
                    return known;
                });
    }

    /**
     * Sets the GPUs that have fallen off the bus.
     *
     * @return those that had not before
     */
    public synchronized Set<String> lost(Set<String> gpus) {
        Set<String> found = new HashSet<>(gpus);
        found.removeAll(lost);
        lost = Set.copyOf(gpus);
        return found;
    }

    /**
     * Sets the GPUs that should report errors, and do not.
     *
     * @return whether they are others than before
     */
    synchronized boolean unmonitored(Set<String> gpus) {
        boolean changed = !unmonitored.equals(gpus);
        unmonitored = Set.copyOf(gpus);
        return changed;
    }

    /** Returns the devices with the taints of their faults. */
    public Inventory tainted(NodeDevices devices) {
        List<Pool> pools = new ArrayList<>();
        for (Pool pool : devices.inventory().pools()) {
            List<Device> tainted = new ArrayList<>();
            for (Device device : pool.devices()) {
                tainted.add(device.toBuilder().taints(taints(offer(device, devices))).build());
            }
            pools.add(pool.toBuilder().devices(tainted).build());
        }
        return new Inventory(pools, devices.inventory().leftOut());
    }

    private static Offer offer(Device device, NodeDevices devices) {
        return devices.offer(device.name()).orElseThrow(); // each device was built with its offer
    }

    private synchronized List<Taint> taints(Offer device) {
        List<Taint> taints = new ArrayList<>();
        if (lost.contains(device.gpu().uuid())) {
            taints.add(Taint.of(DOMAIN + "gpu-lost", null, Effect.NO_SCHEDULE));
        }
        worstError(device).map(DeviceFaults::taint).ifPresent(taints::add);
        if (unmonitored.contains(device.gpu().uuid())) {
            taints.add(Taint.of(DOMAIN + "unmonitored", null, Effect.NONE));
        }
        return taints;
    }

    private static Taint taint(XidError error) {
        return Taint.of(
                DOMAIN + "xid",
                Long.toString(error.xid()),
                error.harmless() ? Effect.NONE : Effect.NO_SCHEDULE);
    }

    /**
     * Returns the health reports for the kubelet.
     *
     * @param unread the UUIDs of GPUs whose state is unknown now
     */
    public List<DeviceHealth> reports(NodeDevices devices, Set<String> unread) {
        List<DeviceHealth> reports = new ArrayList<>();
        for (Pool pool : devices.inventory().pools()) {
            for (Device device : pool.devices()) {
                Offer offer = offer(device, devices);
                String message = message(offer);
                HealthState state = state(message, unread.contains(offer.gpu().uuid()));
                reports.add(new DeviceHealth(pool.name(), device.name(), state, message, valid));
            }
        }
        return reports;
    }

    private static HealthState state(String message, boolean isUnread) {
        if (!message.isEmpty()) {
            return HealthState.UNHEALTHY;
        }
        return isUnread ? HealthState.UNKNOWN : HealthState.HEALTHY;
    }

    private synchronized String message(Offer device) {
        return lost.contains(device.gpu().uuid())
                ? "The GPU has fallen off the bus"
                : worstError(device)
                        .filter(error -> !error.harmless())
                        .map(error -> "The GPU reported XID error " + error.xid())
                        .orElse("");
    }

    /** Returns the latest fatal error, or else the latest: a device has one taint of a key. */
    private Optional<XidError> worstError(Offer device) {
        return errors.getOrDefault(device.gpu().uuid(), List.of()).stream()
                .filter(error -> concerns(error, device))
                .reduce((worst, next) -> worst.harmless() || !next.harmless() ? next : worst);
    }

    private static boolean concerns(XidError error, Offer device) {
        Placement where = error.where();
        if (where == null) {
            return true;
        }
        if (device instanceof Offer.Existing existing) {
            return existing.device().placement().overlaps(where);
        }
        return !(device instanceof Offer.OnDemand mig) || mig.placement().overlaps(where);
    }
}
