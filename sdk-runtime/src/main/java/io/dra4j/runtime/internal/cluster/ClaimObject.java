// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.device.Quantity;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a {@code ResourceClaim} that preparation needs, for all drivers, from the API server.
 *
 * @param uid the claim's {@code metadata.uid}: if it is not the requested one, the claim was replaced
 * @param allocation what the scheduler allocated; {@code null} while it is not allocated
 * @param deviceClasses the device class by request, or by {@code request/subrequest}
 * @param json the whole object, with fields that this class does not know
 */
public record ClaimObject(String uid, @Nullable Allocation allocation, Map<String, String> deviceClasses, String json) {

    public ClaimObject {
        deviceClasses = Map.copyOf(deviceClasses);
    }

    /**
     * {@code status.allocation.devices}.
     *
     * @param results the allocated devices, in the order of the API
     * @param configs the opaque configs, in the order of the API: class before claim
     */
    public record Allocation(List<Result> results, List<Config> configs) {

        public Allocation {
            results = List.copyOf(results);
            configs = List.copyOf(configs);
        }
    }

    /**
     * One allocated device.
     *
     * @param request the request as in the API: a name, or {@code request/subrequest}
     * @param shareId which share of the device, if it is shared by capacity
     * @param consumedCapacity how much of the device's capacities the claim takes
     * @param adminAccess whether the device may be in use by others
     * @param skipNodeOperations the calls that the kubelet need not make for the device: names of
     *     methods, or {@code *} for all
     */
    public record Result(
            String driver,
            String request,
            String pool,
            String device,
            @Nullable String shareId,
            Map<String, Quantity> consumedCapacity,
            boolean adminAccess,
            Set<String> skipNodeOperations) {

        public Result {
            skipNodeOperations = Set.copyOf(skipNodeOperations);
            consumedCapacity = Collections.unmodifiableMap(new LinkedHashMap<>(consumedCapacity));
        }
    }

    /**
     * One opaque config.
     *
     * @param fromClass whether it comes from the device class; otherwise from the claim
     * @param requests the requests it is for; empty for all
     */
    public record Config(boolean fromClass, List<String> requests, String driver, String parametersJson) {

        public Config {
            requests = List.copyOf(requests);
        }
    }
}
