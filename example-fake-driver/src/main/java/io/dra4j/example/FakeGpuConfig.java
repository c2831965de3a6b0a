// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.claim.ConfigType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The opaque configuration of a claim or a DeviceClass that says how claims share a fake GPU.
 *
 * <pre>{@code
 * apiVersion: gpu.resource.example.com/v1alpha1
 * kind: GpuConfig
 * sharing:
 *   strategy: SpacePartitioning
 *   spacePartitioningConfig:
 *     partitionCount: 10
 * }</pre>
 *
 * <p>The runtime decodes the components by their names. Choices are strings rather than enums, so that {@link
 * #problems} can report a wrong one in words that the pod's owner understands.
 *
 * @param sharing how the GPU is shared; {@code null} means time slicing
 */
record FakeGpuConfig(@Nullable Sharing sharing) {

    /** The kind, with its defaults and rules; a GPU without an applicable entry is time-sliced. */
    static final ConfigType<FakeGpuConfig> TYPE = ConfigType.builder(
                    "gpu.resource.example.com/v1alpha1", "GpuConfig", FakeGpuConfig.class)
            .defaults(() -> new FakeGpuConfig(null).normalized())
            .normalize(FakeGpuConfig::normalized)
            .validate(FakeGpuConfig::problems)
            .build();

    private static final String TIME_SLICING = "TimeSlicing";
    private static final String SPACE_PARTITIONING = "SpacePartitioning";
    private static final Set<String> INTERVALS = Set.of("Default", "Short", "Medium", "Long");

    /**
     * The strategy, and only the settings of that strategy.
     *
     * @param strategy {@code TimeSlicing} or {@code SpacePartitioning}
     * @param timeSlicingConfig the settings of {@code TimeSlicing}
     * @param spacePartitioningConfig the settings of {@code SpacePartitioning}
     */
    record Sharing(
            @Nullable String strategy,
            @Nullable TimeSlicing timeSlicingConfig,
            @Nullable SpacePartitioning spacePartitioningConfig) {}

    /**
     * The settings of time slicing.
     *
     * @param interval {@code Default}, {@code Short}, {@code Medium} or {@code Long}
     */
    record TimeSlicing(@Nullable String interval) {}

    /**
     * The settings of space partitioning.
     *
     * @param partitionCount the number of parts into which the GPU is split
     */
    record SpacePartitioning(@Nullable Integer partitionCount) {}

    /** Fills in optional fields. */
    private FakeGpuConfig normalized() {
        if (sharing == null) {
            return new FakeGpuConfig(new Sharing(TIME_SLICING, new TimeSlicing("Default"), null));
        }
        TimeSlicing slicing = sharing.timeSlicingConfig;
        SpacePartitioning partitioning = sharing.spacePartitioningConfig;
        if (uses(TIME_SLICING) && (slicing == null || slicing.interval == null)) {
            slicing = new TimeSlicing("Default");
        }
        if (uses(SPACE_PARTITIONING) && (partitioning == null || partitioning.partitionCount == null)) {
            partitioning = new SpacePartitioning(1);
        }
        return new FakeGpuConfig(new Sharing(sharing.strategy, slicing, partitioning));
    }

    private boolean uses(String strategy) {
        return sharing != null && strategy.equals(sharing.strategy);
    }

    /** Returns the problems of a normalized configuration. */
    private List<String> problems() {
        if (sharing == null || sharing.strategy == null) {
            return List.of("no sharing strategy set");
        }
        return switch (sharing.strategy) {
            case TIME_SLICING -> timeSlicingProblems(sharing);
            case SPACE_PARTITIONING -> spacePartitioningProblems(sharing);
            default -> List.of("unknown GPU sharing strategy: " + sharing.strategy);
        };
    }

    private static List<String> timeSlicingProblems(Sharing sharing) {
        if (sharing.spacePartitioningConfig != null) {
            return List.of("spacePartitioningConfig needs the strategy SpacePartitioning");
        }
        String interval = interval(sharing);
        return INTERVALS.contains(interval) ? List.of() : List.of("unknown time-slice interval: " + interval);
    }

    private static List<String> spacePartitioningProblems(Sharing sharing) {
        if (sharing.timeSlicingConfig != null) {
            return List.of("timeSlicingConfig needs the strategy TimeSlicing");
        }
        int count = partitionCount(sharing);
        return count >= 0 ? List.of() : List.of("invalid partition count: " + count);
    }

    /** Returns the environment variables that show a valid configuration, in order. */
    Map<String, String> environment(String variable) {
        Sharing valid = Objects.requireNonNull(sharing, "filled in by normalization");
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put(variable + "_SHARING_STRATEGY", valid.strategy);
        if (uses(TIME_SLICING)) {
            environment.put(variable + "_TIMESLICE_INTERVAL", interval(valid));
        } else {
            environment.put(variable + "_PARTITION_COUNT", "" + partitionCount(valid));
        }
        return environment;
    }

    private static String interval(Sharing normalized) {
        return Objects.requireNonNull(Objects.requireNonNull(normalized.timeSlicingConfig).interval);
    }

    private static int partitionCount(Sharing normalized) {
        return Objects.requireNonNull(Objects.requireNonNull(normalized.spacePartitioningConfig).partitionCount);
    }
}
