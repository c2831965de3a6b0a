// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.FUNCTION_NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.SUCCESS;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;

import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.nvml.jna.Structs;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures GPUs and MIG devices, in base units.
 *
 * <p>A call that fails costs its own values; the loss of a GPU, and the end of the session, are
 * thrown. {@code nvmlDeviceGetPcieThroughput} is not called: it takes 20 ms for each direction.
 */
final class MeasureReader {

    private static final Logger LOG = LoggerFactory.getLogger(MeasureReader.class);

    private static final int SENSOR_GPU = 0;
    private static final int CORRECTED = 0;
    private static final int UNCORRECTED = 1;
    private static final int SINCE_LOAD = 0;

    // NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_* in KiB, _PCIE_COUNT_* in bytes.
    private static final int LINK_SENT = 138;
    private static final int LINK_RECEIVED = 139;
    private static final int BUS_SENT = 197;
    private static final int BUS_RECEIVED = 198;
    private static final int ALL_LINKS = -1; // UINT_MAX
    private static final double KIB = 1024;

    private final NvmlLibrary nvml;
    private final GpmReader gpm;

    MeasureReader(NvmlLibrary nvml, GpmReader gpm) {
        this.nvml = nvml;
        this.gpm = gpm;
    }

    /** Measures a GPU; how busy one in MIG mode is, NVML does not know. */
    Map<DeviceMeasure, Double> ofGpu(long gpu) {
        Values values = new Values(gpu);
        values.read(this::utilization);
        values.read(this::memory);
        values.read(this::power);
        values.read(this::energy);
        values.read(this::temperature);
        values.read(one -> errors(one, DeviceMeasure.CORRECTED_MEMORY_ERRORS, CORRECTED));
        values.read(one -> errors(one, DeviceMeasure.UNCORRECTED_MEMORY_ERRORS, UNCORRECTED));
        values.read(this::transfers);
        return values.all;
    }

    /**
     * Measures what NVML measures of a MIG device: its memory, and how busy its GPU instance is.
     *
     * @param uuid that of the MIG device
     * @param instance the number of the GPU instance; empty if it is unknown
     */
    Map<DeviceMeasure, Double> ofMig(long gpu, long mig, String uuid, OptionalInt instance) {
        Values values = new Values(mig);
        values.read(this::memory);
        if (instance.isPresent()) {
            values.read(all -> gpm.utilization(gpu, instance.getAsInt(), uuid)
                    .ifPresent(busy -> all.all.put(DeviceMeasure.UTILIZATION, busy)));
        }
        return values.all;
    }

    /** Returns the number of the GPU instance of a MIG device; empty if the handle is stale. */
    OptionalInt gpuInstance(long mig) {
        try {
            return OptionalInt.of(nvml.number("nvmlDeviceGetGpuInstanceId", mig));
        } catch (NvmlCallException e) {
            if (!e.concernsOneCall()) {
                throw e;
            }
            return OptionalInt.empty();
        }
    }

    /** The values of a device, as far as they could be read. */
    private static final class Values {
        private final Map<DeviceMeasure, Double> all = new EnumMap<>(DeviceMeasure.class);
        private final long device;

        Values(long device) {
            this.device = device;
        }

        void read(Reading reading) {
            try {
                reading.into(this);
            } catch (NvmlCallException e) {
                if (!e.concernsOneCall()) {
                    throw e;
                }
                LOG.atDebug().setCause(e).log("A value of a GPU can't be read");
            }
        }
    }

    @FunctionalInterface
    private interface Reading {
        void into(Values values);
    }

    private void utilization(Values values) {
        Structs.Utilization rates = new Structs.Utilization();
        if (nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetUtilizationRates", values.device, rates)) {
            values.all.put(DeviceMeasure.UTILIZATION, rates.gpu / 100.0);
        }
    }

    /** Reads the memory in use without what the driver reserves, which older drivers include. */
    private void memory(Values values) {
        Structs.MemoryInfoV2 memory = new Structs.MemoryInfoV2();
        String function = "nvmlDeviceGetMemoryInfo_v2";
        int code = nvml.call(function, values.device, memory);
        if (code == FUNCTION_NOT_FOUND) {
            Structs.MemoryInfo old = new Structs.MemoryInfo();
            if (nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetMemoryInfo", values.device, old)) {
                memory(values, old.used, old.total);
            }
        } else if (!UNSUPPORTED.contains(code)) {
            nvml.check(function, code);
            memory(values, memory.used, memory.total);
        }
    }

    private static void memory(Values values, long used, long total) {
        values.all.put(DeviceMeasure.MEMORY_USED, (double) used);
        values.all.put(DeviceMeasure.MEMORY_SIZE, (double) total);
    }

    private void power(Values values) {
        nvml.number(UNSUPPORTED, "nvmlDeviceGetPowerUsage", values.device)
                .ifPresent(milliwatts -> values.all.put(DeviceMeasure.POWER, milliwatts / 1000.0));
    }

    private void energy(Values values) {
        nvml.amount(UNSUPPORTED, "nvmlDeviceGetTotalEnergyConsumption", values.device)
                .ifPresent(millijoules -> values.all.put(DeviceMeasure.ENERGY, millijoules / 1000.0));
    }

    private void temperature(Values values) {
        nvml.number(UNSUPPORTED, "nvmlDeviceGetTemperature", values.device, SENSOR_GPU)
                .ifPresent(celsius -> values.all.put(DeviceMeasure.TEMPERATURE, (double) celsius));
    }

    private void errors(Values values, DeviceMeasure measure, int type) {
        nvml.amount(UNSUPPORTED, "nvmlDeviceGetTotalEccErrors", values.device, type, SINCE_LOAD)
                .ifPresent(errors -> values.all.put(measure, (double) errors));
    }

    private void transfers(Values values) {
        Structs.FieldValue[] fields = Structs.fieldValues(4);
        int[] ids = {LINK_SENT, LINK_RECEIVED, BUS_SENT, BUS_RECEIVED};
        for (int i = 0; i < fields.length; i++) {
            fields[i].fieldId = ids[i];
            fields[i].scopeId = ids[i] == LINK_SENT || ids[i] == LINK_RECEIVED ? ALL_LINKS : 0;
        }
        if (nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetFieldValues", values.device, fields.length, fields)) {
            put(values, DeviceMeasure.LINK_SENT, fields[0], KIB);
            put(values, DeviceMeasure.LINK_RECEIVED, fields[1], KIB);
            put(values, DeviceMeasure.BUS_SENT, fields[2], 1);
            put(values, DeviceMeasure.BUS_RECEIVED, fields[3], 1);
        }
    }

    /** Each field has a code of its own; one that an older driver does not know is left out. */
    private static void put(Values values, DeviceMeasure measure, Structs.FieldValue field, double unit) {
        if (field.nvmlReturn == SUCCESS) {
            values.all.put(measure, field.unsigned() * unit);
        }
    }
}
