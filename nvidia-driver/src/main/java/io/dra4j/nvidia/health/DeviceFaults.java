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
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.health.HealthPolicy.ErrorWatch;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.nvml.Fabric;
import io.dra4j.nvidia.nvml.InstancePlacement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Records the known faults of a node's GPUs, and makes the taints and health reports of their devices. Thread-safe.
 *
 * <p>An error of a whole GPU concerns all its MIG devices; an error of a GPU instance concerns the devices with the
 * same memory slices. The keys of taints are those of NVIDIA's driver.
 */
public final class DeviceFaults {

    private static final String DOMAIN = NodeDevices.DRIVER_NAME + "/";

    /** The number of readings that may be missed before a health report expires. */
    private static final int VALID_INTERVALS = 3;

    /** The maximum number of errors of a GPU, which exceeds the number of kinds. */
    private static final int MOST_ERRORS = 256;

    private final Duration valid;
    private final Map<String, List<XidError>> errors = new HashMap<>(); // by GPU; guarded by this
    private final Map<String, Set<DeviceMeasure>> exceeded = new HashMap<>(); // guarded by this
    private final Map<String, Long> reported = new HashMap<>(); // number of errors by GPU; guarded by this
    private final boolean isWatched;
    private final Thresholds thresholds;
    private final Effect fabric;
    private Set<String> lost = Set.of(); // guarded by this
    private Set<String> unmonitored = Set.of(); // guarded by this
    private Set<String> unrestored = Set.of(); // guarded by this

    public DeviceFaults(HealthPolicy policy) {
        this.valid = policy.rescanInterval().multipliedBy(VALID_INTERVALS);
        this.thresholds = policy.thresholds();
        this.fabric = policy.fabric();
        this.isWatched = policy.watch() != ErrorWatch.never;
    }

    synchronized void reported(String gpu, long times) {
        reported.merge(gpu, times, Long::sum);
    }

    /**
     * Returns how many errors a GPU has reported since the driver started.
     *
     * @return empty if errors are not watched
     */
    public synchronized OptionalLong reported(String gpu) {
        return isWatched && !unmonitored.contains(gpu)
                ? OptionalLong.of(reported.getOrDefault(gpu, 0L))
                : OptionalLong.empty();
    }

    /**
     * Records an error of a GPU; it replaces an earlier one with the same number and place.
     *
     * @return whether it may change a taint
     */
    synchronized boolean failed(String gpu, XidError error) {
        List<XidError> known = errors.computeIfAbsent(gpu, key -> new ArrayList<>());
        XidError latest = known.isEmpty() ? null : known.get(known.size() - 1);
        XidError now = known.stream()
                .filter(error::isSame)
                .findFirst()
                .map(error::after)
                .orElse(error);
        known.removeIf(error::isSame);
        known.add(now);
        if (known.size() > MOST_ERRORS) {
            known.remove(Collections.min(known, Comparator.comparing(XidError::effect)));
        }
        return latest == null || !latest.isSame(now) || !latest.hasSameEffect(now);
    }

    public synchronized Map<String, List<XidError>> errors() {
        Map<String, List<XidError>> copy = new HashMap<>();
        errors.forEach((gpu, all) -> copy.put(gpu, List.copyOf(all)));
        return copy;
    }

    public synchronized Map<String, Set<DeviceMeasure>> exceeded() {
        Map<String, Set<DeviceMeasure>> copy = new HashMap<>();
        exceeded.forEach((gpu, all) -> copy.put(gpu, Set.copyOf(all)));
        return copy;
    }

    /** Adds what an earlier process recorded, except for thresholds that no longer exist. */
    public synchronized void recall(Map<String, List<XidError>> failed, Map<String, Set<DeviceMeasure>> measured) {
        failed.forEach((gpu, all) -> errors.put(gpu, new ArrayList<>(all)));
        measured.forEach((gpu, all) ->
                all.stream().filter(thresholds.limits()::containsKey).forEach(measure -> exceeds(gpu, measure, true)));
    }

    /**
     * Sets whether a GPU exceeds a threshold.
     *
     * @return whether that is new
     */
    synchronized boolean exceeds(String gpu, DeviceMeasure measure, boolean now) {
        Set<DeviceMeasure> known = exceeded.computeIfAbsent(gpu, key -> EnumSet.noneOf(DeviceMeasure.class));
        boolean changed = now ? known.add(measure) : known.remove(measure);
        if (known.isEmpty()) {
            exceeded.remove(gpu);
        }
        return changed;
    }

    synchronized Set<String> failed() {
        Set<String> failed = new HashSet<>(errors.keySet());
        failed.addAll(lost);
        return failed;
    }

    synchronized boolean isLost(String gpu) {
        return lost.contains(gpu);
    }

    synchronized boolean awaitsRecovery(String gpu) {
        return errors.getOrDefault(gpu, List.of()).stream().anyMatch(XidError::awaitsRecovery);
    }

    /** Removes the errors of a GPU that works again, except those that expire. */
    synchronized void recovered(String gpu) {
        remove(gpu, XidError::awaitsRecovery);
    }

    /**
     * Removes some errors of a GPU that are at least as old as a time, or later than now: the clock was set back.
     *
     * @return whether there were any
     */
    synchronized boolean forget(String gpu, Duration age, Instant now, Predicate<XidError> which) {
        long millis = now.toEpochMilli();
        return remove(
                gpu,
                which.and(error -> error.sinceMillis() <= millis - age.toMillis() || error.sinceMillis() > millis));
    }

    private boolean remove(String gpu, Predicate<XidError> which) {
        List<XidError> known = errors.getOrDefault(gpu, new ArrayList<>());
        boolean changed = known.removeIf(which);
        if (known.isEmpty()) {
            errors.remove(gpu);
        }
        return changed;
    }

    /**
     * Makes the errors of a GPU persist until it has recovered, and taint its devices.
     *
     * @return whether that is new
     */
    synchronized boolean awaitRecovery(String gpu, XidEffects effects) {
        List<XidError> known = errors.getOrDefault(gpu, new ArrayList<>());
        List<XidError> before = List.copyOf(known);
        known.replaceAll(error -> error.awaitingRecovery(effects));
        return !known.equals(before);
    }

    /**
     * Sets the GPUs that have fallen off the bus.
     *
     * @return the new ones
     */
    public synchronized Set<String> lost(Set<String> gpus) {
        Set<String> found = new HashSet<>(gpus);
        found.removeAll(lost);
        lost = Set.copyOf(gpus);
        return found;
    }

    /**
     * Sets the GPUs that should report errors but do not.
     *
     * @return whether they have changed
     */
    synchronized boolean unmonitored(Set<String> gpus) {
        boolean changed = !unmonitored.equals(gpus);
        unmonitored = Set.copyOf(gpus);
        return changed;
    }

    /** Sets the GPUs with settings of claims that no longer exist. */
    public synchronized void unrestored(Set<String> gpus) {
        unrestored = Set.copyOf(gpus);
    }

    public Inventory tainted(NodeDevices devices) {
        List<Pool> pools = new ArrayList<>();
        for (Pool pool : devices.inventory().pools()) {
            List<Device> tainted = new ArrayList<>();
            for (Device device : pool.devices()) {
                List<Taint> taints = new ArrayList<>(taints(offer(device, devices), fabric(devices)));
                device.taints().forEach(ofManager -> taints.add(ofManager(ofManager)));
                tainted.add(device.toBuilder().taints(taints).build());
            }
            pools.add(pool.toBuilder().devices(tainted).build());
        }
        return new Inventory(pools, devices.inventory().leftOut());
    }

    private static Offer offer(Device device, NodeDevices devices) {
        return devices.offer(device.name()).orElseThrow(); // each device was built with its offer
    }

    /** Claims can't be prepared while the fabric manager does not answer, so pods should go elsewhere. */
    private Taint ofManager(Taint taint) {
        return fabric == Effect.NONE ? taint : Taint.of(taint.key(), taint.value(), fabric);
    }

    /** A fabric that is not up is normal where claims get partitions: they bring it up. */
    private Effect fabric(NodeDevices devices) {
        return devices.isPartitioned() ? Effect.NONE : fabric;
    }

    private synchronized List<Taint> taints(Offer device, Effect ofFabric) {
        List<Taint> taints = new ArrayList<>();
        String gpu = device.uuid();
        if (lost.contains(gpu)) {
            taints.add(Taint.of(DOMAIN + "gpu-lost", null, Effect.NO_SCHEDULE));
        }
        worstError(device).map(DeviceFaults::taint).ifPresent(taints::add);
        fabric(device)
                .map(found -> Taint.of(DOMAIN + "nvlink-fabric", found.title(), ofFabric))
                .ifPresent(taints::add);
        exceeded(device).map(this::taint).forEach(taints::add);
        if (unrestored.contains(gpu)) {
            taints.add(Taint.of(DOMAIN + "not-restored", null, Effect.NO_SCHEDULE));
        }
        if (unmonitored.contains(gpu) && !lost.contains(gpu)) { // a lost GPU is not watched
            taints.add(Taint.of(DOMAIN + "unmonitored", null, Effect.NONE));
        }
        return taints;
    }

    /**
     * Returns the fabric of a GPU if it is not up, so that CUDA does not work on it. MIG devices need no fabric, and a
     * virtual machine sets up its own.
     */
    private static Optional<Fabric> fabric(Offer device) {
        return device instanceof Offer.Whole whole
                ? Optional.ofNullable(whole.gpu().fabric()).filter(found -> !found.complete())
                : Optional.empty();
    }

    /** Returns the exceeded thresholds in the order of their kinds. */
    private Stream<DeviceMeasure> exceeded(Offer device) {
        return exceeded.getOrDefault(device.uuid(), Set.of()).stream();
    }

    private Taint taint(DeviceMeasure measure) {
        return Taint.of(DOMAIN + Thresholds.key(measure), "above-" + thresholds.limit(measure), Effect.NO_SCHEDULE);
    }

    private static Taint taint(XidError error) {
        return Taint.of(DOMAIN + "xid", Long.toString(error.xid()), error.effect());
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
                String message = message(offer, fabric(devices));
                HealthState state = state(message, unread.contains(offer.uuid()));
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

    private synchronized String message(Offer device, Effect ofFabric) {
        return lost.contains(device.uuid())
                ? "The GPU has fallen off the bus"
                : worstError(device)
                        .filter(error -> !error.isHarmless())
                        .map(error -> "The GPU reported XID error " + error.xid())
                        .or(() -> fabric(device)
                                .filter(found -> ofFabric != Effect.NONE)
                                .map(found -> "The NVLink fabric of the GPU is not up: " + found.title()))
                        .or(() -> exceeded(device).findFirst().map(thresholds::message))
                        .orElse("");
    }

    /** Returns the latest of the errors with the worst effect: a device has one taint per key. */
    private Optional<XidError> worstError(Offer device) {
        return errors.getOrDefault(device.uuid(), List.of()).stream()
                .filter(error -> concerns(error, device))
                .reduce((worst, next) -> next.effect().compareTo(worst.effect()) < 0 ? worst : next);
    }

    private static boolean concerns(XidError error, Offer device) {
        InstancePlacement where = error.where();
        if (where == null) {
            return true;
        }
        if (device instanceof Offer.Existing existing) {
            return existing.device().placement().overlaps(where);
        }
        return !(device instanceof Offer.OnDemand mig) || mig.placement().overlaps(where);
    }
}
