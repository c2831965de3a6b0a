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
    private static final String MIG =
            "cannot apply %s to device node-1/gpu-0-mig-1g5gb-19-4 of request r0: ";
    private static final String TAKES = "it takes configurations of kind %s";
    private static final String NO_TIME_SLICES =
            "%s: sharing.strategy is \"TimeSlicing\", and the feature gate \"TimeSlicingSettings\""
                    + " is not enabled: this driver does not support it yet; leave sharing out";
    private static final String NO_MPS =
            "%s: sharing.strategy is \"MPS\", and the feature gate \"MPSSupport\""
                    + " is not enabled: this driver does not support it yet; leave sharing out";
    private static final String OLD_KIND =
            "the driver does not know the kind \"gpu.nvidia.com/v1alpha1 GpuClaimParameters\"; it knows"
                    + " resource.nvidia.com/v1beta1 GpuConfig,"
                    + " resource.nvidia.com/v1beta1 MigDeviceConfig,"
                    + " resource.nvidia.com/v1beta1 VfioDeviceConfig,"
                    + " resource.nvidia.com/v1beta1 ComputeDomainChannelConfig,"
                    + " resource.nvidia.com/v1beta1 ComputeDomainDaemonConfig";

    static final List<ConfigForm> ON_A_GPU =
            List.of(
                    applied("kind: GpuConfig"),
                    applied("kind: GpuConfig, sharing: null"),
                    refused(
                            "kind: GpuConfig, sharing: {strategy: TimeSlicing}",
                            NO_TIME_SLICES.formatted("GpuConfig")),
                    refused(
                            "kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Default}}",
                            NO_TIME_SLICES.formatted("GpuConfig")),
                    refused(
                            "kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}",
                            NO_TIME_SLICES.formatted("GpuConfig")),
                    refused(
                            "kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Never}}",
                            NO_TIME_SLICES.formatted("GpuConfig")),
                    refused(
                            "kind: GpuConfig, sharing: {strategy: MPS}",
                            NO_MPS.formatted("GpuConfig")),
                    refused(
                            "kind: GpuConfig, sharing: {strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 1Gi}}",
                            NO_MPS.formatted("GpuConfig")),
                    refused(
                            "kind: GpuConfig, sharing: {strategy: Sometimes}",
                            "GpuConfig: sharing.strategy is \"Sometimes\"; it must be TimeSlicing or MPS"),
                    refused("kind: GpuConfig, bogus: 1", "GpuConfig: unknown field bogus"),
                    misfit("kind: MigDeviceConfig", GPU, "MigDeviceConfig", "GpuConfig"),
                    misfit(
                            "kind: MigDeviceConfig, sharing: {strategy: TimeSlicing}",
                            GPU,
                            "MigDeviceConfig",
                            "GpuConfig"),
                    misfit(
                            "kind: MigDeviceConfig, sharing: {strategy: Sometimes}",
                            GPU,
                            "MigDeviceConfig",
                            "GpuConfig"),
                    refused(
                            "kind: MigDeviceConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}",
                            "MigDeviceConfig: unknown field sharing.timeSlicingConfig"),
                    misfit("kind: VfioDeviceConfig", GPU, "VfioDeviceConfig", "GpuConfig"),
                    misfit(
                            "kind: VfioDeviceConfig, iommu: {backendPolicy: PreferIommuFD, enableAPIDevice: true}",
                            GPU,
                            "VfioDeviceConfig",
                            "GpuConfig"),
                    refused(
                            "kind: VfioDeviceConfig, iommu: {bogus: 1}",
                            "VfioDeviceConfig: unknown field iommu.bogus"),
                    misfit(
                            "kind: ComputeDomainChannelConfig, domainID: d, allocationMode: All",
                            GPU,
                            "ComputeDomainChannelConfig",
                            "GpuConfig"),
                    misfit(
                            "kind: ComputeDomainDaemonConfig, domainID: d",
                            GPU,
                            "ComputeDomainDaemonConfig",
                            "GpuConfig"),
                    refused(
                            "apiVersion: gpu.nvidia.com/v1alpha1, kind: GpuClaimParameters",
                            OLD_KIND));

    static final List<ConfigForm> ON_A_MIG_DEVICE =
            List.of(
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
                            "MigDeviceConfig: sharing.strategy is \"\"; it must be TimeSlicing or MPS"),
                    misfit("kind: GpuConfig", MIG, "GpuConfig", "MigDeviceConfig"),
                    misfit(
                            "kind: GpuConfig, sharing: {strategy: MPS}",
                            MIG,
                            "GpuConfig",
                            "MigDeviceConfig"),
                    refused("kind: GpuConfig, bogus: 1", "GpuConfig: unknown field bogus"),
                    misfit("kind: VfioDeviceConfig", MIG, "VfioDeviceConfig", "MigDeviceConfig"));

    private static ConfigForm applied(String parameters) {
        return new ConfigForm(parameters, APPLIES, APPLIES);
    }

    private static ConfigForm refused(String parameters, String message) {
        return new ConfigForm(parameters, message, message);
    }

    private static ConfigForm misfit(
            String parameters, String device, String given, String takenKind) {
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
