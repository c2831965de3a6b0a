// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.nvidia.gates.NvidiaGates;
import io.dra4j.nvidia.sharing.SharingSettings.StrategyName;
import io.dra4j.nvidia.sharing.SharingSettings.TimeSliceInterval;
import io.dra4j.nvidia.vfio.VfioDeviceConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The kinds of configurations of NVIDIA's driver. */
public final class ConfigKinds {

    private ConfigKinds() {}

    /** Returns all of them; configurations for devices that this driver does not publish match no device. */
    public static List<ConfigType<?>> of(NvidiaGates gates) {
        return List.of(
                GpuConfig.type(gates),
                MigDeviceConfig.type(gates),
                VfioDeviceConfig.type(GpuConfig.API_VERSION),
                withoutDevices("ComputeDomainChannelConfig", ComputeDomainChannelConfig.class),
                withoutDevices("ComputeDomainDaemonConfig", ComputeDomainDaemonConfig.class));
    }

    private static <T> ConfigType<T> withoutDevices(String kind, Class<T> type) {
        return ConfigType.builder(GpuConfig.API_VERSION, kind, type)
                .appliesTo(device -> false)
                .build();
    }

    /**
     * A channel of a compute domain, which this driver does not publish: decoded, and not validated.
     *
     * @param allocationMode {@code Single} or {@code All}
     */
    record ComputeDomainChannelConfig(
            @Nullable String domainID, @Nullable String allocationMode) {}

    /** The daemon of a compute domain, which this driver does not publish either. */
    record ComputeDomainDaemonConfig(@Nullable String domainID) {}

    /**
     * The configuration of a MIG device.
     *
     * @param sharing its sharing by containers; null for none
     */
    record MigDeviceConfig(@Nullable MigDeviceSharing sharing) implements DeviceConfig {

        static ConfigType<MigDeviceConfig> type(NvidiaGates gates) {
            SharingRules rules = new SharingRules(gates);
            return ConfigType.builder(GpuConfig.API_VERSION, "MigDeviceConfig", MigDeviceConfig.class)
                    .defaults(() -> new MigDeviceConfig(null))
                    .appliesTo(device -> GpuConfig.isOfType(device, "mig"))
                    .normalize(config -> config.normalized(rules))
                    .validate(config -> config.problems(rules))
                    .changesDevice(config -> config.sharing() != null)
                    .build();
        }

        /**
         * The sharing of a MIG device, which has no settings of time slicing.
         *
         * @param strategy {@code TimeSlicing} or {@code MPS}
         */
        record MigDeviceSharing(
                @Nullable String strategy, @Nullable MpsConfig mpsConfig) {}

        private MigDeviceConfig normalized(SharingRules rules) {
            return sharing != null && sharing.mpsConfig() == null && rules.allows(sharing.strategy(), StrategyName.MPS)
                    ? new MigDeviceConfig(new MigDeviceSharing(sharing.strategy(), MpsConfig.EMPTY))
                    : this;
        }

        private List<String> problems(SharingRules rules) {
            return sharing == null ? List.of() : rules.problems(sharing.strategy(), null, sharing.mpsConfig());
        }

        @Override
        public @Nullable SharingSettings settings() {
            return sharing == null
                    ? null
                    : new SharingSettings(StrategyName.of(sharing.strategy()).orElseThrow(), null, sharing.mpsConfig());
        }
    }

    /**
     * The configuration of a whole GPU.
     *
     * @param sharing its sharing by containers; null for none
     */
    record GpuConfig(@Nullable GpuSharing sharing) implements DeviceConfig {

        static final String API_VERSION = "resource.nvidia.com/v1beta1";

        static ConfigType<GpuConfig> type(NvidiaGates gates) {
            SharingRules rules = new SharingRules(gates);
            return ConfigType.builder(API_VERSION, "GpuConfig", GpuConfig.class)
                    .defaults(() -> new GpuConfig(null))
                    .appliesTo(device -> isOfType(device, "gpu"))
                    .normalize(config -> config.normalized(rules))
                    .validate(config -> config.problems(rules))
                    .changesDevice(config -> config.sharing() != null)
                    .build();
        }

        /**
         * The sharing of a whole GPU.
         *
         * @param strategy {@code TimeSlicing} or {@code MPS}
         */
        record GpuSharing(
                @Nullable String strategy,
                @Nullable TimeSlicingConfig timeSlicingConfig,
                @Nullable MpsConfig mpsConfig) {

            GpuSharing normalized(SharingRules rules) {
                TimeSlicingConfig slices = timeSlicingConfig;
                MpsConfig mps = mpsConfig;
                if (rules.allows(strategy, StrategyName.TimeSlicing) && (slices == null || slices.interval() == null)) {
                    slices = new TimeSlicingConfig(TimeSliceInterval.Default.name());
                }
                if (rules.allows(strategy, StrategyName.MPS) && mps == null) {
                    mps = MpsConfig.EMPTY;
                }
                return new GpuSharing(strategy, slices, mps);
            }
        }

        static boolean isOfType(Device device, String type) {
            return AttributeValue.of(type).equals(device.attributes().get("type"));
        }

        private GpuConfig normalized(SharingRules rules) {
            return sharing == null ? this : new GpuConfig(sharing.normalized(rules));
        }

        private List<String> problems(SharingRules rules) {
            return sharing == null
                    ? List.of()
                    : rules.problems(sharing.strategy(), sharing.timeSlicingConfig(), sharing.mpsConfig());
        }

        @Override
        public @Nullable SharingSettings settings() {
            if (sharing == null) {
                return null;
            }
            TimeSlicingConfig slices = sharing.timeSlicingConfig();
            return new SharingSettings(
                    StrategyName.of(sharing.strategy()).orElseThrow(),
                    slices == null
                            ? null
                            : TimeSliceInterval.of(slices.interval()).orElseThrow(),
                    sharing.mpsConfig());
        }
    }

    /**
     * The settings of time slicing.
     *
     * @param interval {@code Default}, {@code Short}, {@code Medium} or {@code Long}
     */
    record TimeSlicingConfig(@Nullable String interval) {

        List<String> problems() {
            return TimeSliceInterval.of(interval).isPresent()
                    ? List.of()
                    : List.of(
                            "unknown time-slice interval: %s, supported time-slice intervals: Default, Short, Medium, Long"
                                    .formatted(interval));
        }
    }

    /** The configuration of a device that can be shared. */
    interface DeviceConfig {

        /** Returns the requested sharing, if valid; null for none. */
        @Nullable
        SharingSettings settings();
    }

    /** The rules of sharing of NVIDIA's driver, with its messages where it has some. */
    record SharingRules(NvidiaGates gates) {

        private static final String SUPPORTED = "supported GPU sharing strategies: TimeSlicing, MPS";
        private static final String GATE_OFF =
                "\"%s\" is selected as the GPU sharing strategy, but the \"%s\" feature gate is not enabled: ";
        private static final String SWITCH_ON = "the driver has to be started with --feature-gates=%s=true";
        private static final String OTHER_STRATEGY = "cannot use %s with the '%s' strategy";

        /** Returns whether a configuration's defaults are filled in: those of allowed strategies. */
        boolean allows(@Nullable String strategy, StrategyName wanted) {
            return wanted.name().equals(strategy) && gates.isOn(wanted.gate());
        }

        List<String> problems(@Nullable String given, @Nullable TimeSlicingConfig slices, @Nullable MpsConfig mps) {
            Optional<StrategyName> known = StrategyName.of(given);
            if (known.isEmpty()) {
                return List.of(
                        given == null || given.isEmpty()
                                ? "sharing.strategy is missing, " + SUPPORTED
                                : "unknown GPU sharing strategy: " + given + ", " + SUPPORTED);
            }
            StrategyName strategy = known.get();
            if (!gates.isOn(strategy.gate())) {
                return List.of(GATE_OFF.formatted(strategy, strategy.gate()) + SWITCH_ON.formatted(strategy.gate()));
            }
            List<String> problems = new ArrayList<>();
            if (slices != null) {
                problems.addAll(
                        strategy == StrategyName.TimeSlicing
                                ? slices.problems()
                                : List.of(OTHER_STRATEGY.formatted("TimeSlicingConfig", strategy)));
            }
            if (mps != null) {
                problems.addAll(
                        strategy == StrategyName.MPS
                                ? mps.problems()
                                : List.of(OTHER_STRATEGY.formatted("MpsConfig", strategy)));
            }
            return problems;
        }
    }
}
