// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.device.Taint;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.nvml.Placement;
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
 * What is known to ail the GPUs of a node. Thread-safe.
 *
 * <p>An error of a whole GPU concerns all that it can be divided into; one of a GPU instance
 * concerns what is, or could be, where it is. The keys of taints are those of the Go driver.
 */
public final class DeviceFaults {

    private static final String DOMAIN = "gpu.nvidia.com/";

    /** What applications do to themselves: the GPU works on. */
    private static final Set<Long> OF_APPLICATIONS = Set.of(13L, 31L, 43L, 45L, 68L, 109L);

    private final Set<Long> ignored;
    private final Map<String, List<Error>> errors = new HashMap<>(); // by GPU; guarded by this
    private Set<String> lost = Set.of(); // guarded by this

    /**
     * An error that a GPU told of.
     *
     * @param xid its number
     * @param where the place of the GPU instance; null if it is of the whole GPU
     * @param sinceMillis when, in milliseconds since 1970
     */
    public record Error(long xid, @Nullable Placement where, long sinceMillis) {}

    /**
     * Nothing is known yet.
     *
     * @param ignored errors that are of no concern, beside those that applications cause
     */
    public DeviceFaults(List<Long> ignored) {
        this.ignored = Set.copyOf(ignored);
    }

    /**
     * Takes note of an error.
     *
     * @param gpu the UUID of the GPU
     * @param where the place of the GPU instance; null if it is of the whole GPU
     * @return whether it is of any concern
     */
    public synchronized boolean failed(
            String gpu, long xid, @Nullable Placement where, Instant now) {
        if (OF_APPLICATIONS.contains(xid) || ignored.contains(xid)) {
            return false;
        }
        List<Error> known = errors.computeIfAbsent(gpu, key -> new ArrayList<>());
        known.removeIf(error -> error.xid() == xid && Objects.equals(error.where(), where));
        known.add(new Error(xid, where, now.toEpochMilli()));
        return true;
    }

    /** All errors, by the UUIDs of the GPUs. */
    public synchronized Map<String, List<Error>> errors() {
        Map<String, List<Error>> copy = new HashMap<>();
        errors.forEach((gpu, all) -> copy.put(gpu, List.copyOf(all)));
        return copy;
    }

    /** Takes note of errors that were known before. */
    public synchronized void recall(Map<String, List<Error>> before) {
        before.forEach((gpu, all) -> errors.put(gpu, new ArrayList<>(all)));
    }

    /** The GPUs with errors that came before some time. */
    public synchronized List<String> failedBefore(Instant time) {
        return errors.entrySet().stream()
                .filter(
                        gpu ->
                                gpu.getValue().stream()
                                        .allMatch(e -> e.sinceMillis() < time.toEpochMilli()))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Forgets the errors of a GPU that says that it works. */
    public synchronized void recovered(String gpu) {
        errors.remove(gpu);
    }

    /** Takes note of which GPUs have fallen off the bus, and which have not. */
    public synchronized void lost(Set<String> gpus) {
        lost = Set.copyOf(gpus);
    }

    /** The taints of a device. */
    public synchronized List<Taint> taints(Offer device) {
        List<Taint> taints = new ArrayList<>();
        if (lost.contains(device.gpu().uuid())) {
            taints.add(Taint.of(DOMAIN + "gpu-lost", null, Effect.NO_SCHEDULE));
        }
        error(device)
                .map(error -> Long.toString(error.xid()))
                .map(xid -> Taint.of(DOMAIN + "xid", xid, Effect.NO_SCHEDULE))
                .ifPresent(taints::add);
        return taints;
    }

    /** What ails a device, in a sentence; empty if nothing does. */
    public synchronized Optional<String> words(Offer device) {
        if (lost.contains(device.gpu().uuid())) {
            return Optional.of("The GPU has fallen off the bus");
        }
        return error(device).map(error -> "The GPU told of the error XID " + error.xid());
    }

    /** The latest of them. */
    private Optional<Error> error(Offer device) {
        return errors.getOrDefault(device.gpu().uuid(), List.of()).stream()
                .filter(error -> concerns(error, device))
                .reduce((earlier, later) -> later);
    }

    private static boolean concerns(Error error, Offer device) {
        Placement where = error.where();
        if (where == null) {
            return true;
        }
        if (device instanceof Offer.Made made) {
            return made.device().placement().overlaps(where);
        }
        return !(device instanceof Offer.ToBeMade part) || part.placement().overlaps(where);
    }
}
