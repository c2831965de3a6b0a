// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.SUCCESS;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.pointer;

import com.sun.jna.Pointer;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads how busy GPU instances are, by GPM, which GPUs since Hopper have.
 *
 * <p>It is the difference of two samples: the one that was taken the time before, and a new one. A
 * session has at most one sample of an instance. Thread-safe, except for one instance at once.
 */
final class GpmReader {

    private static final int VERSION = 1;

    /** The time in which any program worked, in percent, as nvidia-smi shows it for whole GPUs. */
    private static final int GRAPHICS_UTIL = 1;

    private final NvmlLibrary nvml;
    private final Map<Instance, Pointer> last = new ConcurrentHashMap<>();
    private final Map<Long, Boolean> supported = new ConcurrentHashMap<>(); // by GPU

    private record Instance(long gpu, int id) {}

    GpmReader(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /**
     * Returns the part of the time since the call before in which an instance worked, 0 to 1.
     *
     * @return empty the first time, and if GPM can't say
     * @throws NvmlCallException if a call fails
     */
    OptionalDouble utilization(long gpu, int instance) {
        Boolean known = supported.get(gpu);
        boolean isSupported = known == null ? isSupported(gpu) : known;
        supported.put(gpu, isSupported);
        if (!isSupported) {
            return OptionalDouble.empty();
        }
        Pointer now = sample(gpu, instance);
        Pointer before = last.put(new Instance(gpu, instance), now);
        if (before == null) {
            return OptionalDouble.empty();
        }
        try {
            return between(before, now);
        } finally {
            free(before);
        }
    }

    private boolean isSupported(long gpu) {
        Structs.GpmSupport support = new Structs.GpmSupport();
        support.version = VERSION;
        return nvml.succeeds(UNSUPPORTED, "nvmlGpmQueryDeviceSupport", pointer(gpu), support)
                && support.isSupportedDevice != 0;
    }

    private Pointer sample(long gpu, int instance) {
        Pointer sample = pointer(nvml.handle("nvmlGpmSampleAlloc"));
        try {
            nvml.require("nvmlGpmMigSampleGet", pointer(gpu), instance, sample);
            return sample;
        } catch (NvmlCallException e) {
            free(sample);
            throw e;
        }
    }

    private OptionalDouble between(Pointer before, Pointer now) {
        Structs.GpmMetrics metrics = new Structs.GpmMetrics();
        metrics.version = VERSION;
        metrics.numMetrics = 1;
        metrics.sample1 = before;
        metrics.sample2 = now;
        metrics.metric.metricId = GRAPHICS_UTIL;
        nvml.require("nvmlGpmMetricsGet", metrics);
        boolean isKnown =
                metrics.metric.nvmlReturn == SUCCESS && Double.isFinite(metrics.metric.value);
        return isKnown
                ? OptionalDouble.of(Math.min(Math.max(metrics.metric.value / 100, 0), 1))
                : OptionalDouble.empty();
    }

    private void free(Pointer sample) {
        nvml.call("nvmlGpmSampleFree", sample);
    }

    /** Frees the samples: the library is unloaded next. */
    void end() {
        last.values().forEach(this::free);
        last.clear();
    }
}
