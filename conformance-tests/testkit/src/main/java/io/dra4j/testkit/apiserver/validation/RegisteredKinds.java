// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import java.util.List;
import java.util.Map;

/**
 * The kinds that a body may say it is of without being unknown; the rest of the core group is left
 * out where no client of this server has it.
 */
final class RegisteredKinds {
    private static final Map<String, List<String>> BY_VERSION = Map.of(
            "v1",
                    words(
                            "Namespace Node Pod Event ConfigMap Secret Service ServiceAccount PersistentVolume PersistentVolumeClaim"),
            "coordination.k8s.io/v1", words("Lease"),
            "events.k8s.io/v1", words("Event"),
            "resource.k8s.io/v1alpha3", words("DeviceTaintRule"),
            "resource.k8s.io/v1beta1", words("DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice"),
            "resource.k8s.io/v1beta2",
                    words("DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"),
            "resource.k8s.io/v1",
                    words("DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"));

    private RegisteredKinds() {}

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }

    static boolean has(String apiVersion, String kind) {
        List<String> kinds = BY_VERSION.getOrDefault(apiVersion, List.of());
        return kinds.contains(kind) || kinds.stream().anyMatch(one -> kind.equals(one + "List"));
    }
}
