// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;

/** The rules for ResourceClaims, and for the claims in ResourceClaimTemplates. */
public final class ClaimRules {
    private ClaimRules() {}

    /** Sets what a claim's spec leaves out: {@code ExactCount}, one device, {@code Equal}. */
    public static void setDefaults(JsonNode claimSpec) {
        RequestRules.setDefaults(claimSpec);
    }

    /** Sets what the allocation in a claim's status leaves out: {@code Equal}. */
    public static void setStatusDefaults(JsonNode claimStatus) {
        for (JsonNode result : claimStatus.path("allocation").path("devices").path("results")) {
            TolerationRules.setDefaults(result.path("tolerations"));
        }
    }

    /**
     * @param path of the spec, for messages
     */
    public static void checkSpec(
            JsonNode claimSpec, String path, FeatureGates gates, ExpressionCompiler compiler, FieldErrors errors) {
        Field devices = new Field(claimSpec, path, errors).at("devices");
        DeviceClaimRules.check(devices, gates, new ExpressionRules(compiler));
    }

    /**
     * @param old the stored claim; an empty object if there is none
     */
    public static void checkStatus(JsonNode claim, JsonNode old, KubernetesVersion version, FieldErrors errors) {
        ClaimStatusRules.check(claim, old, version, errors);
    }

    /** Driver, pool, device and share id: the identity of an allocated device. */
    public static String deviceKey(JsonNode device) {
        return DeviceKey.of(device).toString();
    }

    /** The keys of all devices that a claim was allocated, in a set that may be changed. */
    public static Set<String> allocated(JsonNode claim) {
        return DeviceKey.allocated(claim);
    }

    /** Rules for what a claim wants: requests, constraints on them, and configurations for them. */
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
