// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import java.util.List;

/**
 * A form of a configuration in a claim of one device, and what becomes of it.
 *
 * @param parameters the opaque parameters, as YAML
 * @param named the outcome if the entry names the device's request
 * @param unnamed the outcome if the entry names no request
 */
record ConfigForm(String parameters, String named, String unnamed) {

    static final String APPLIES = "applies";
    static final String IGNORED = "is ignored";

    private static final String GPU = "cannot apply %s to device node-1/gpu-0 of request r0: ";
    private static final String MIG = "cannot apply %s to device node-1/gpu-0-mig-1g5gb-19-4 of request r0: ";
    private static final String TAKES = "it takes configurations of kind %s";
    private static final String GATE_OFF =
            "%s: \"%s\" is selected as the GPU sharing strategy, but the \"%s\" feature gate is not enabled: ";
    private static final String NO_TIME_SLICES = GATE_OFF.formatted("%s", "TimeSlicing", "TimeSlicingSettings")
            + "the driver has to be started with --feature-gates=TimeSlicingSettings=true";
    private static final String NO_MPS = GATE_OFF.formatted("%s", "MPS", "MPSSupport")
            + "the driver has to be started with --feature-gates=MPSSupport=true";
    private static final String STRATEGIES = "supported GPU sharing strategies: TimeSlicing, MPS";
    private static final String INTERVALS =
            "GpuConfig: unknown time-slice interval: %s, supported time-slice intervals: Default, Short, Medium, Long";
    private static final String SLICES = "kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: ";
    private static final String MPS = "kind: GpuConfig, sharing: {strategy: MPS, mpsConfig: ";
    private static final String MIG_MPS = "kind: MigDeviceConfig, sharing: {strategy: MPS, mpsConfig: ";
    private static final String UUID = "GPU-9d0a3d3c-5f0e-4f43-9d35-0b2a4c5d6e7f";
    private static final String PER_DEVICE = "GpuConfig: defaultPerDevicePinnedMemoryLimit[%s]: ";
    private static final String NO_DEVICE =
            PER_DEVICE + "invalid device: it must be the UUID of a device, or its position from 0";
    private static final String TOO_LOW = "invalid limit: value set too low: %s, and it must be at least 1Mi";
    private static final String OLD_KIND =
            "the driver does not know the kind \"gpu.nvidia.com/v1alpha1 GpuClaimParameters\"; it knows"
                    + " resource.nvidia.com/v1beta1 GpuConfig,"
                    + " resource.nvidia.com/v1beta1 MigDeviceConfig,"
                    + " resource.nvidia.com/v1beta1 VfioDeviceConfig,"
                    + " resource.nvidia.com/v1beta1 ComputeDomainChannelConfig,"
                    + " resource.nvidia.com/v1beta1 ComputeDomainDaemonConfig";

    static final List<ConfigForm> ON_A_GPU = List.of(
            applied("kind: GpuConfig"),
            applied("kind: GpuConfig, sharing: null"),
            refused("kind: GpuConfig, sharing: {strategy: TimeSlicing}", NO_TIME_SLICES.formatted("GpuConfig")),
            refused(
                    "kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Default}}",
                    NO_TIME_SLICES.formatted("GpuConfig")),
            refused(
                    "kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}",
                    NO_TIME_SLICES.formatted("GpuConfig")),
            refused(
                    "kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Never}}",
                    NO_TIME_SLICES.formatted("GpuConfig")),
            refused("kind: GpuConfig, sharing: {strategy: MPS}", NO_MPS.formatted("GpuConfig")),
            refused(
                    "kind: GpuConfig, sharing: {strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 1Gi}}",
                    NO_MPS.formatted("GpuConfig")),
            refused(
                    "kind: GpuConfig, sharing: {strategy: Sometimes}",
                    "GpuConfig: unknown GPU sharing strategy: Sometimes, " + STRATEGIES),
            refused("kind: GpuConfig, bogus: 1", "GpuConfig: unknown field bogus"),
            misfit("kind: MigDeviceConfig", GPU, "MigDeviceConfig", "GpuConfig"),
            misfit("kind: MigDeviceConfig, sharing: {strategy: TimeSlicing}", GPU, "MigDeviceConfig", "GpuConfig"),
            misfit("kind: MigDeviceConfig, sharing: {strategy: Sometimes}", GPU, "MigDeviceConfig", "GpuConfig"),
            refused(
                    "kind: MigDeviceConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}",
                    "MigDeviceConfig: unknown field sharing.timeSlicingConfig"),
            misfit("kind: VfioDeviceConfig", GPU, "VfioDeviceConfig", "GpuConfig"),
            misfit(
                    "kind: VfioDeviceConfig, iommu: {backendPolicy: PreferIommuFD, enableAPIDevice: true}",
                    GPU,
                    "VfioDeviceConfig",
                    "GpuConfig"),
            refused("kind: VfioDeviceConfig, iommu: {bogus: 1}", "VfioDeviceConfig: unknown field iommu.bogus"),
            misfit(
                    "kind: ComputeDomainChannelConfig, domainID: d, allocationMode: All",
                    GPU,
                    "ComputeDomainChannelConfig",
                    "GpuConfig"),
            misfit("kind: ComputeDomainDaemonConfig, domainID: d", GPU, "ComputeDomainDaemonConfig", "GpuConfig"),
            refused("apiVersion: gpu.nvidia.com/v1alpha1, kind: GpuClaimParameters", OLD_KIND));

    static final List<ConfigForm> ON_A_MIG_DEVICE = List.of(
            applied("kind: MigDeviceConfig"),
            applied("kind: MigDeviceConfig, sharing: null"),
            refused(
                    "kind: MigDeviceConfig, sharing: {strategy: TimeSlicing}",
                    NO_TIME_SLICES.formatted("MigDeviceConfig")),
            refused(
                    "kind: MigDeviceConfig, sharing: {strategy: MPS, mpsConfig: {multiUser: true}}",
                    NO_MPS.formatted("MigDeviceConfig")),
            refused(
                    "kind: MigDeviceConfig, sharing: {}",
                    "MigDeviceConfig: sharing.strategy is missing, " + STRATEGIES),
            misfit("kind: GpuConfig", MIG, "GpuConfig", "MigDeviceConfig"),
            misfit("kind: GpuConfig, sharing: {strategy: MPS}", MIG, "GpuConfig", "MigDeviceConfig"),
            refused("kind: GpuConfig, bogus: 1", "GpuConfig: unknown field bogus"),
            misfit("kind: VfioDeviceConfig", MIG, "VfioDeviceConfig", "MigDeviceConfig"));

    /** With the feature gates of both strategies. */
    static final List<ConfigForm> SHARED_GPU = List.of(
            applied("kind: GpuConfig"),
            applied("kind: GpuConfig, sharing: null"),
            refused("kind: GpuConfig, sharing: {}", "GpuConfig: sharing.strategy is missing, " + STRATEGIES),
            refused(
                    "kind: GpuConfig, sharing: {strategy: Sometimes}",
                    "GpuConfig: unknown GPU sharing strategy: Sometimes, " + STRATEGIES),
            applied("kind: GpuConfig, sharing: {strategy: TimeSlicing}"),
            applied(SLICES + "{}}"),
            applied(SLICES + "{interval: Default}}"),
            applied(SLICES + "{interval: Short}}"),
            applied(SLICES + "{interval: Medium}}"),
            applied(SLICES + "{interval: Long}}"),
            refused(SLICES + "{interval: Never}}", INTERVALS.formatted("Never")),
            refused(SLICES + "{interval: long}}", INTERVALS.formatted("long")),
            refused(SLICES + "{interval: ''}}", INTERVALS.formatted("")),
            refused(SLICES + "{bogus: 1}}", "GpuConfig: unknown field sharing.timeSlicingConfig.bogus"),
            refused(
                    SLICES + "{interval: Long}, mpsConfig: {}}",
                    "GpuConfig: cannot use MpsConfig with the 'TimeSlicing' strategy"),
            applied("kind: GpuConfig, sharing: {strategy: MPS}"),
            applied(MPS + "{}}"),
            refused(
                    MPS + "{}, timeSlicingConfig: {interval: Long}}",
                    "GpuConfig: cannot use TimeSlicingConfig with the 'MPS' strategy"),
            applied(MPS + "{defaultActiveThreadPercentage: 0}}"),
            applied(MPS + "{defaultActiveThreadPercentage: 100}}"),
            refused(
                    MPS + "{defaultActiveThreadPercentage: -1}}",
                    "GpuConfig: active thread percentage must not be negative"),
            refused(
                    MPS + "{defaultActiveThreadPercentage: 101}}",
                    "GpuConfig: active thread percentage must not be greater than 100"),
            applied(MPS + "{defaultPinnedDeviceMemoryLimit: 1Mi}}"),
            applied(MPS + "{defaultPinnedDeviceMemoryLimit: 1073741824}}"),
            refused(
                    MPS + "{defaultPinnedDeviceMemoryLimit: 1023Ki}}",
                    "GpuConfig: defaultPinnedDeviceMemoryLimit: " + TOO_LOW.formatted("1023Ki")),
            refused(
                    MPS + "{defaultPinnedDeviceMemoryLimit: -1Gi}}",
                    "GpuConfig: defaultPinnedDeviceMemoryLimit: " + TOO_LOW.formatted("-1Gi")),
            applied(MPS + "{defaultPerDevicePinnedMemoryLimit: {'0': 1Gi, " + UUID + ": 2Gi}}}"),
            refused(
                    MPS + "{defaultPerDevicePinnedMemoryLimit: {'0': 1Ki}}}",
                    PER_DEVICE.formatted("0") + TOO_LOW.formatted("1Ki")),
            refused(MPS + "{defaultPerDevicePinnedMemoryLimit: {gpu-0: 1Gi}}}", NO_DEVICE.formatted("gpu-0")),
            refused(MPS + "{defaultPerDevicePinnedMemoryLimit: {'-1': 1Gi}}}", NO_DEVICE.formatted("-1")),
            refused(
                    MPS + "{defaultPerDevicePinnedMemoryLimit: {'0': null}}}",
                    PER_DEVICE.formatted("0") + "a limit is missing, for instance 1Gi"),
            applied(MPS + "{multiUser: true}}"));

    /** With the feature gates of both strategies. */
    static final List<ConfigForm> SHARED_MIG_DEVICE = List.of(
            applied("kind: MigDeviceConfig, sharing: {strategy: TimeSlicing}"),
            refused(
                    "kind: MigDeviceConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}",
                    "MigDeviceConfig: unknown field sharing.timeSlicingConfig"),
            refused(
                    "kind: MigDeviceConfig, sharing: {strategy: TimeSlicing, mpsConfig: {}}",
                    "MigDeviceConfig: cannot use MpsConfig with the 'TimeSlicing' strategy"),
            refused(
                    "kind: MigDeviceConfig, sharing: {strategy: Sometimes}",
                    "MigDeviceConfig: unknown GPU sharing strategy: Sometimes, " + STRATEGIES),
            applied("kind: MigDeviceConfig, sharing: {strategy: MPS}"),
            applied(MIG_MPS + "{multiUser: true, defaultActiveThreadPercentage: 50}}"),
            refused(
                    MIG_MPS + "{defaultActiveThreadPercentage: 101}}",
                    "MigDeviceConfig: active thread percentage must not be greater than 100"));

    private static ConfigForm applied(String parameters) {
        return new ConfigForm(parameters, APPLIES, APPLIES);
    }

    private static ConfigForm refused(String parameters, String message) {
        return new ConfigForm(parameters, message, message);
    }

    private static ConfigForm misfit(String parameters, String device, String given, String takenKind) {
        String message = device.formatted(given) + TAKES.formatted(takenKind);
        return new ConfigForm(parameters, message, IGNORED);
    }

    /** Returns the parameters as a claim has them. */
    String json() {
        return parameters.startsWith("apiVersion")
                ? "{" + parameters + "}"
                : "{apiVersion: resource.nvidia.com/v1beta1, " + parameters + "}";
    }

    @Override
    public String toString() {
        return parameters;
    }
}
