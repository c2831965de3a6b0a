// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.AttributeValue;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a GPU for a virtual machine.
 *
 * @param iommu the device nodes that the machine's program gets; null for the default ones
 */
public record VfioDeviceConfig(@Nullable Iommu iommu) {

    private static final String LEGACY = "LegacyOnly";
    private static final String IOMMUFD = "PreferIommuFD";

    /** The configuration of a claim that has none. */
    public static final VfioDeviceConfig DEFAULT = new VfioDeviceConfig(new Iommu(LEGACY, false));

    /**
     * The interface of the kernel to the IOMMU.
     *
     * @param backendPolicy {@code LegacyOnly}, or {@code PreferIommuFD} where the kernel has it
     * @param enableAPIDevice whether containers also get the node that all devices share
     */
    record Iommu(@Nullable String backendPolicy, @Nullable Boolean enableAPIDevice) {

        private Iommu normalized() {
            return new Iommu(
                    backendPolicy == null ? LEGACY : backendPolicy, enableAPIDevice != null && enableAPIDevice);
        }
    }

    public static ConfigType<VfioDeviceConfig> type(String apiVersion) {
        return ConfigType.builder(apiVersion, "VfioDeviceConfig", VfioDeviceConfig.class)
                .defaults(() -> DEFAULT)
                .appliesTo(device ->
                        AttributeValue.of("vfio").equals(device.attributes().get("type")))
                .normalize(VfioDeviceConfig::normalized)
                .validate(VfioDeviceConfig::problems)
                .changesDevice(config -> true)
                .build();
    }

    private VfioDeviceConfig normalized() {
        return iommu == null ? DEFAULT : new VfioDeviceConfig(iommu.normalized());
    }

    private List<String> problems() {
        String policy = iommu == null ? LEGACY : iommu.backendPolicy();
        return LEGACY.equals(policy) || IOMMUFD.equals(policy)
                ? List.of()
                : List.of("unknown IOMMU backend policy: \"%s\", supported policies: %s, %s"
                        .formatted(policy, LEGACY, IOMMUFD));
    }

    boolean prefersIommufd() {
        return iommu != null && IOMMUFD.equals(iommu.backendPolicy());
    }

    boolean hasApiDevice() {
        return iommu != null && Boolean.TRUE.equals(iommu.enableAPIDevice());
    }
}
