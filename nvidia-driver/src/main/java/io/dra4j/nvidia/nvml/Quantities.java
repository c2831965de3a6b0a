// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.FUNCTION_NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.INVALID_ARGUMENT;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.SUCCESS;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;

import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.nvml.jna.Structs;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what changes while GPUs and MIG devices work: measures, in base units, and whether a GPU needs a repair.
 *
 * <p>Quantities that a board, its mode or an older driver lacks are empty. {@code nvmlDeviceGetPcieThroughput} is not
 * called, because it takes 20 ms for each direction.
 */
record Quantities(NvmlLibrary nvml, GpmReader gpm) {

    private static final Logger LOG = LoggerFactory.getLogger(Quantities.class);

    /** The measures of a GPU that one call returns. */
    private static final List<DeviceMeasure> SINGLE = List.of(
            DeviceMeasure.UTILIZATION,
            DeviceMeasure.POWER,
            DeviceMeasure.ENERGY,
            DeviceMeasure.TEMPERATURE,
            DeviceMeasure.CORRECTED_MEMORY_ERRORS,
            DeviceMeasure.UNCORRECTED_MEMORY_ERRORS);

    private static final double KIB = 1024;
    private static final int SENSOR_GPU = 0;
    private static final int CORRECTED = 0;
    private static final int UNCORRECTED = 1;
    private static final int SINCE_LOAD = 0;
    private static final int RECOVERY_ACTION = 230;
    private static final int ALL_LINKS = -1; // UINT_MAX

    /** NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_* in KiB, _PCIE_COUNT_* in bytes. */
    private enum Transfer {
        LINK_SENT(138, ALL_LINKS, KIB),
        LINK_RECEIVED(139, ALL_LINKS, KIB),
        BUS_SENT(197, 0, 1),
        BUS_RECEIVED(198, 0, 1);

        private final int field;
        private final int scope;
        private final double unit;

        Transfer(int field, int scope, double unit) {
            this.field = field;
            this.scope = scope;
            this.unit = unit;
        }
    }

    /** Returned for a field that an older driver does not know. */
    private static final Set<Integer> NO_FIELD = Set.of(INVALID_ARGUMENT, NOT_SUPPORTED, FUNCTION_NOT_FOUND);

    /**
     * Measures a GPU; a failed call loses only its own measures. NVML does not report the utilization of a GPU in MIG
     * mode.
     *
     * @throws NvmlCallException if the GPU is lost, or the session has ended
     */
    Map<DeviceMeasure, Double> ofGpu(long gpu) {
        Map<DeviceMeasure, Double> all = new EnumMap<>(DeviceMeasure.class);
        SINGLE.forEach(measure -> all.putAll(tried(() -> read(measure, of(measure, gpu)))));
        all.putAll(tried(() -> memory(gpu)));
        all.putAll(tried(() -> transfers(gpu)));
        return all;
    }

    /**
     * Measures a MIG device: its memory, and the utilization of its GPU instance.
     *
     * @param uuid that of the MIG device
     * @param instance the number of the GPU instance; empty if it is unknown
     */
    Map<DeviceMeasure, Double> ofMig(long gpu, long mig, String uuid, OptionalInt instance) {
        Map<DeviceMeasure, Double> all = new EnumMap<>(DeviceMeasure.class);
        all.putAll(tried(() -> memory(mig)));
        instance.ifPresent(number ->
                all.putAll(tried(() -> read(DeviceMeasure.UTILIZATION, gpm.utilization(gpu, number, uuid)))));
        return all;
    }

    private static Map<DeviceMeasure, Double> tried(Supplier<Map<DeviceMeasure, Double>> calls) {
        try {
            return calls.get();
        } catch (NvmlCallException e) {
            if (!e.concernsOneCall()) {
                throw e;
            }
            LOG.atDebug().setCause(e).log("A quantity of a GPU can't be read");
            return Map.of();
        }
    }

    private static Map<DeviceMeasure, Double> read(DeviceMeasure measure, OptionalDouble value) {
        return value.isPresent() ? Map.of(measure, value.getAsDouble()) : Map.of();
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

    /** Returns one measure of a GPU that has a dedicated call. */
    OptionalDouble of(DeviceMeasure measure, long gpu) {
        return switch (measure) {
            case UTILIZATION -> utilization(gpu);
            case POWER -> value(nvml.number(UNSUPPORTED, "nvmlDeviceGetPowerUsage", gpu), 1000);
            case ENERGY -> value(nvml.amount(UNSUPPORTED, "nvmlDeviceGetTotalEnergyConsumption", gpu), 1000);
            case TEMPERATURE -> value(nvml.number(UNSUPPORTED, "nvmlDeviceGetTemperature", gpu, SENSOR_GPU), 1);
            case CORRECTED_MEMORY_ERRORS -> errors(gpu, CORRECTED);
            case UNCORRECTED_MEMORY_ERRORS -> errors(gpu, UNCORRECTED);
            default -> throw new IllegalArgumentException(measure + " has no dedicated call");
        };
    }

    private static OptionalDouble value(OptionalInt number, double units) {
        return number.isPresent() ? OptionalDouble.of(number.getAsInt() / units) : OptionalDouble.empty();
    }

    private static OptionalDouble value(OptionalLong amount, double units) {
        return amount.isPresent() ? OptionalDouble.of(amount.getAsLong() / units) : OptionalDouble.empty();
    }

    private OptionalDouble utilization(long gpu) {
        Structs.Utilization rates = new Structs.Utilization();
        return nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetUtilizationRates", gpu, rates)
                ? OptionalDouble.of(rates.gpu / 100.0)
                : OptionalDouble.empty();
    }

    private OptionalDouble errors(long gpu, int type) {
        return value(nvml.amount(UNSUPPORTED, "nvmlDeviceGetTotalEccErrors", gpu, type, SINCE_LOAD), 1);
    }

    /** Reads the memory in use, without the driver's reservation, which older drivers include. */
    private Map<DeviceMeasure, Double> memory(long device) {
        Structs.MemoryInfoV2 memory = new Structs.MemoryInfoV2();
        String function = "nvmlDeviceGetMemoryInfo_v2";
        int code = nvml.call(function, device, memory);
        if (code == FUNCTION_NOT_FOUND) {
            Structs.MemoryInfo old = new Structs.MemoryInfo();
            boolean isKnown = nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetMemoryInfo", device, old);
            return isKnown ? memory(old.used, old.total) : Map.of();
        }
        if (code == NOT_SUPPORTED) {
            return Map.of();
        }
        nvml.check(function, code);
        return memory(memory.used, memory.total);
    }

    private static Map<DeviceMeasure, Double> memory(long used, long total) {
        return Map.of(DeviceMeasure.MEMORY_USED, (double) used, DeviceMeasure.MEMORY_SIZE, (double) total);
    }

    /** Each field has its own code; one that an older driver does not know is left out. */
    private Map<DeviceMeasure, Double> transfers(long gpu) {
        Map<DeviceMeasure, Double> all = new EnumMap<>(DeviceMeasure.class);
        Transfer[] transfers = Transfer.values();
        Structs.FieldValue[] fields = Structs.fieldValues(transfers.length);
        for (Transfer each : transfers) {
            fields[each.ordinal()].fieldId = each.field;
            fields[each.ordinal()].scopeId = each.scope;
        }
        if (nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetFieldValues", gpu, fields.length, fields)) {
            Stream.of(transfers)
                    .filter(each -> fields[each.ordinal()].nvmlReturn == SUCCESS)
                    .forEach(each ->
                            all.put(DeviceMeasure.valueOf(each.name()), fields[each.ordinal()].unsigned() * each.unit));
        }
        return all;
    }

    /** Returns the recovery action, an {@code nvmlDeviceGpuRecoveryAction_t}: 0 for none. */
    OptionalInt recoveryAction(long gpu) {
        Structs.FieldValue field = new Structs.FieldValue();
        field.fieldId = RECOVERY_ACTION;
        String function = "nvmlDeviceGetFieldValues";
        boolean isKnown = nvml.succeeds(UNSUPPORTED, function, gpu, 1, field) && !NO_FIELD.contains(field.nvmlReturn);
        if (isKnown) {
            nvml.check(function, field.nvmlReturn);
        }
        return isKnown ? OptionalInt.of((int) field.value) : OptionalInt.empty();
    }

    /** Returns whether failed memory is replaced only with the next reset, or can no longer be replaced. */
    boolean isRepairPending(long gpu) {
        int[] ignored = new int[1];
        int[] pending = new int[1];
        int[] failed = new int[1];
        boolean remapsRows =
                nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetRemappedRows", gpu, ignored, ignored, pending, failed);
        if (remapsRows) {
            return pending[0] != 0 || failed[0] != 0;
        }
        String beforeAmpere = "nvmlDeviceGetRetiredPagesPendingStatus";
        return nvml.number(UNSUPPORTED, beforeAmpere, gpu).orElse(0) != 0;
    }
}
