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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The known faults of a node's GPUs, and the taints and health reports of their devices.
 * Thread-safe.
 *
 * <p>An error of a whole GPU concerns all its MIG devices; an error of a GPU instance concerns the
 * devices with the same memory slices. The keys of taints are those of NVIDIA's driver.
 */
public final class DeviceFaults {

    private static final String DOMAIN = NodeDevices.DRIVER_NAME + "/";

    /** Errors that applications cause: the GPU keeps working. */
    private static final Set<Long> OF_APPLICATIONS = Set.of(13L, 31L, 43L, 45L, 68L, 109L);

    /** The number of readings that may be missed before a health report expires. */
    private static final int VALID_INTERVALS = 3;

    private final Set<Long> ignored;
    private final Duration valid;
    private final Map<String, List<XidError>> errors = new HashMap<>(); // by GPU; guarded by this
    private Set<String> lost = Set.of(); // guarded by this

    /** Creates an empty record of faults. */
    public DeviceFaults(HealthPolicy policy) {
        this.ignored = Set.copyOf(policy.ignoredXids());
        this.valid = policy.rescanInterval().multipliedBy(VALID_INTERVALS);
    }

    /**
     * Records an error.
     *
     * @param gpu the UUID of the GPU
     * @param where the memory slices of the GPU instance; null if it is of the whole GPU
     * @return whether the error taints devices
     */
    synchronized boolean failed(String gpu, long xid, @Nullable Placement where, Instant now) {
        if (OF_APPLICATIONS.contains(xid) || ignored.contains(xid)) {
            return false;
        }
        List<XidError> known = errors.computeIfAbsent(gpu, key -> new ArrayList<>());
        known.removeIf(error -> error.xid() == xid && Objects.equals(error.where(), where));
        known.add(new XidError(xid, where, now.toEpochMilli()));
        return true;
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

    /** Sets the GPUs that have fallen off the bus. */
    public synchronized void lost(Set<String> gpus) {
        lost = Set.copyOf(gpus);
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
        latestError(device)
                .map(error -> Long.toString(error.xid()))
                .map(xid -> Taint.of(DOMAIN + "xid", xid, Effect.NO_SCHEDULE))
                .ifPresent(taints::add);
        return taints;
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
                : latestError(device).map(e -> "The GPU reported XID error " + e.xid()).orElse("");
    }

    private Optional<XidError> latestError(Offer device) {
        return errors.getOrDefault(device.gpu().uuid(), List.of()).stream()
                .filter(error -> concerns(error, device))
                .reduce((earlier, later) -> later);
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
