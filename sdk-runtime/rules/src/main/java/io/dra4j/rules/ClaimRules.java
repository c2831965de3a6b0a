// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The rules for ResourceClaims, and for the claims in ResourceClaimTemplates. */
public final class ClaimRules {
    private ClaimRules() {}

    /** Sets the defaults of a claim's spec: {@code ExactCount}, one device, {@code Equal}. */
    public static void setDefaults(JsonNode claimSpec) {
        RequestRules.setDefaults(claimSpec);
    }

    /** Sets the defaults of the allocation in a claim's status: {@code Equal}. */
    public static void setStatusDefaults(JsonNode claimStatus) {
        for (JsonNode result : claimStatus.path("allocation").path("devices").path("results")) {
            TolerationRules.setDefaults(result.path("tolerations"));
        }
    }

    public static void checkSpec(
            JsonNode claimSpec, String path, FeatureGates gates, ExpressionCompiler compiler, FieldErrors errors) {
        Field devices = new Field(claimSpec, path, errors).at("devices");
        DeviceClaimRules.check(devices, gates, new ExpressionRules(compiler));
    }

    /**
     * @param old the stored claim; an empty object for a new claim
     */
    public static void checkStatus(JsonNode claim, JsonNode old, KubernetesVersion version, FieldErrors errors) {
        ClaimStatusRules.check(claim, old, version, errors);
    }

    /** Returns the identity of an allocated device: driver, pool, device and share id. */
    public static String deviceKey(JsonNode device) {
        return DeviceStatusRules.DeviceKey.of(device).toString();
    }

    /** Returns the keys of all devices that a claim was allocated, as a mutable set. */
    public static Set<String> allocated(JsonNode claim) {
        return claim.path("status")
                .path("allocation")
                .path("devices")
                .path("results")
                .valueStream()
                .map(ClaimRules::deviceKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Rules for a claim's spec: requests, constraints on them, and configurations for them. */
    private static final class DeviceClaimRules {
        private static final int CONFIGS = 32;

        private DeviceClaimRules() {}

        static void check(Field devices, FeatureGates gates, ExpressionRules expressions) {
            RequestNames names = RequestNames.of(devices.value());
            ConstraintRules constraints = new ConstraintRules(devices.at("constraints"), gates, expressions);
            new RequestRules(constraints, expressions, new AttributeKeys(gates.version()))
                    .check(devices.at("requests"));
            constraints.check(names);
            Field configs = devices.at("config");
            if (configs.requireAtMost(CONFIGS)) {
                for (Field config : configs.items()) {
                    names.check(config.at("requests"));
                    ConfigRules.check(config);
                }
            }
        }
    }
}
