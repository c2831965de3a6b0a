// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import java.util.HashSet;
import java.util.OptionalDouble;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Measures GPUs, and finds those that exceed a threshold. Used by one thread. */
final class ThresholdCheck {

    private static final Logger LOG = LoggerFactory.getLogger(ThresholdCheck.class);

    private final Nvml nvml;
    private final DeviceFaults faults;
    private final Thresholds thresholds;
    private final Set<Unsupported> unsupported = new HashSet<>();

    private record Unsupported(String gpu, DeviceMeasure measure) {}

    ThresholdCheck(Nvml nvml, DeviceFaults faults, Thresholds thresholds) {
        this.nvml = nvml;
        this.faults = faults;
        this.thresholds = thresholds;
    }

    /** Measures some GPUs in one session; returns whether one has changed. */
    boolean check(Set<String> gpus) {
        if (thresholds.limits().isEmpty() || gpus.isEmpty()) {
            return false;
        }
        return nvml.inOneSession(() -> {
            boolean changed = false;
            for (String gpu : gpus) {
                for (DeviceMeasure measure : thresholds.limits().keySet()) {
                    changed |= check(gpu, measure);
                }
            }
            return changed;
        });
    }

    private boolean check(String gpu, DeviceMeasure measure) {
        try {
            OptionalDouble reading = nvml.measure(gpu, measure);
            if (reading.isEmpty()) {
                reportUnsupported(gpu, measure);
                return faults.exceeds(gpu, measure, false);
            }
            return compare(gpu, measure, reading.getAsDouble());
        } catch (NvmlException e) { // the last measurement stays valid
            LOG.atDebug()
                    .setCause(e)
                    .addKeyValue("gpu", gpu)
                    .addKeyValue("measure", Thresholds.key(measure))
                    .log("GPU can't be measured");
            return false;
        }
    }

    private boolean compare(String gpu, DeviceMeasure measure, double reading) {
        if (reading > thresholds.limit(measure)) {
            boolean isNew = faults.exceeds(gpu, measure, true);
            if (isNew) {
                LOG.atWarn()
                        .addKeyValue("gpu", gpu)
                        .addKeyValue("measure", Thresholds.key(measure))
                        .addKeyValue("reading", reading)
                        .addKeyValue("threshold", thresholds.limit(measure))
                        .log("GPU exceeds a threshold; its devices are tainted");
            }
            return isNew;
        }
        return thresholds.isBelow(measure, reading) && faults.exceeds(gpu, measure, false);
    }

    private void reportUnsupported(String gpu, DeviceMeasure measure) {
        if (unsupported.add(new Unsupported(gpu, measure))) {
            LOG.atWarn()
                    .addKeyValue("gpu", gpu)
                    .addKeyValue("measure", Thresholds.key(measure))
                    .log("GPU does not support the measurement; its threshold has no effect");
        }
    }
}
