// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.SUCCESS;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;

import io.dra4j.nvidia.nvml.jna.Structs;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the utilization of GPU instances through GPM, which GPUs have since Hopper.
 *
 * <p>It is computed from two samples: the previous one and a new one. A session has at most one sample of an instance.
 * Instance numbers are reused, so a sample counts only for its MIG device, and only for a limited time. Thread-safe.
 */
final class GpmReader {

    /** The share of time in which any program ran, in percent, as nvidia-smi shows it for whole GPUs. */
    private static final int GRAPHICS_UTIL = 1;

    /** The longest time between two samples: an instance may have changed hands. */
    private static final Duration LONGEST = Duration.ofMinutes(2);

    private final NvmlLibrary nvml;
    private final InstantSource clock;
    // Guarded by this, like the count of forgotten samples.
    private final Map<Instance, Sample> last = new HashMap<>();
    private long forgotten;
    private final Map<Long, Boolean> supported = new ConcurrentHashMap<>(); // by GPU

    private record Instance(long gpu, int id) {}

    private record Sample(long pointer, String mig, Instant taken) {}

    GpmReader(NvmlLibrary nvml, InstantSource clock) {
        this.nvml = nvml;
        this.clock = clock;
    }

    /**
     * Returns the share of time since the previous call in which an instance was busy, 0 to 1.
     *
     * @param mig the UUID of the MIG device that is the instance's only one
     * @return empty the first time, after more than two minutes, and if GPM has no value
     */
    OptionalDouble utilization(long gpu, int instance, String mig) {
        Boolean known = supported.get(gpu);
        boolean isSupported = known == null ? isSupported(gpu) : known;
        supported.put(gpu, isSupported);
        if (!isSupported) {
            return OptionalDouble.empty();
        }
        Instance key = new Instance(gpu, instance);
        Sample before;
        long seen;
        synchronized (this) {
            before = last.remove(key);
            seen = forgotten;
        }
        try {
            Sample now = new Sample(sample(gpu, instance), mig, clock.instant());
            OptionalDouble result;
            try {
                result = isComparable(before, now) ? between(before.pointer(), now.pointer()) : OptionalDouble.empty();
            } catch (NvmlCallException e) {
                keep(key, now, seen);
                throw e;
            }
            return keep(key, now, seen) ? result : OptionalDouble.empty();
        } finally {
            if (before != null) {
                free(before.pointer());
            }
        }
    }

    private static boolean isComparable(@Nullable Sample before, Sample now) {
        return before != null
                && before.mig().equals(now.mig())
                && !now.taken().isAfter(before.taken().plus(LONGEST));
    }

    /** Keeps a sample, unless instances changed while it was taken. */
    private boolean keep(Instance key, Sample now, long seen) {
        Sample replaced;
        boolean isKept;
        synchronized (this) {
            isKept = forgotten == seen;
            replaced = isKept ? last.put(key, now) : now;
        }
        if (replaced != null) {
            free(replaced.pointer());
        }
        return isKept;
    }

    /** Forgets a destroyed instance, whose number may be reused. */
    void forget(long gpu, int instance) {
        Sample gone;
        synchronized (this) {
            forgotten++;
            gone = last.remove(new Instance(gpu, instance));
        }
        if (gone != null) {
            free(gone.pointer());
        }
    }

    private boolean isSupported(long gpu) {
        Structs.GpmSupport support = new Structs.GpmSupport();
        return nvml.succeeds(UNSUPPORTED, "nvmlGpmQueryDeviceSupport", gpu, support) && support.isSupportedDevice != 0;
    }

    private long sample(long gpu, int instance) {
        long sample = nvml.handle("nvmlGpmSampleAlloc");
        try {
            nvml.require("nvmlGpmMigSampleGet", gpu, instance, sample);
            return sample;
        } catch (NvmlCallException e) {
            free(sample);
            throw e;
        }
    }

    private OptionalDouble between(long before, long now) {
        Structs.GpmMetrics metrics = new Structs.GpmMetrics();
        metrics.numMetrics = 1;
        metrics.sample1 = before;
        metrics.sample2 = now;
        metrics.metric.metricId = GRAPHICS_UTIL;
        nvml.require("nvmlGpmMetricsGet", metrics);
        boolean isKnown = metrics.metric.nvmlReturn == SUCCESS && Double.isFinite(metrics.metric.value);
        return isKnown
                ? OptionalDouble.of(Math.min(Math.max(metrics.metric.value / 100, 0), 1))
                : OptionalDouble.empty();
    }

    private void free(long sample) {
        nvml.call("nvmlGpmSampleFree", sample);
    }

    /** Frees the samples, before the library is unloaded. */
    synchronized void end() {
        last.values().forEach(sample -> free(sample.pointer()));
        last.clear();
    }
}
