// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
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

    /** Rules for a claim's status: the allocation by the scheduler, the consumers, and the device status by drivers. */
    private static final class ClaimStatusRules {
        private static final int CONSUMERS = 256;

        private ClaimStatusRules() {}

        static void check(JsonNode claim, JsonNode old, KubernetesVersion version, FieldErrors errors) {
            Field status = new Field(claim.path("status"), "status", errors);
            checkConsumers(status.at("reservedFor"));
            DeviceStatusRules.check(status.at("devices"), ClaimRules.allocated(claim));
            checkUse(claim, old.path("status"), status);
            AttributeKeys keys = new AttributeKeys(version);
            checkAllocation(claim, old.path("status").path("allocation"), status.at("allocation"), keys);
        }

        private static void checkConsumers(Field consumers) {
            if (!consumers.requireAtMost(CONSUMERS)) {
                return;
            }
            for (Field consumer : consumers.items()) {
                List.of("resource", "name", "uid")
                        .forEach(field -> consumer.at(field).requireText());
            }
            consumers.requireUniqueItems(consumer -> consumer.at("uid").text());
        }

        /** Checks that a claim is reserved only after it is allocated, and not after its deletion has begun. */
        private static void checkUse(JsonNode claim, JsonNode oldStatus, Field status) {
            Field consumers = status.at("reservedFor");
            if (consumers.size() > 0 && !status.at("allocation").present()) {
                consumers.forbidden("may not be specified when `allocated` is not set");
            } else if (claim.path("metadata").hasNonNull("deletionTimestamp")) {
                Set<JsonNode> known = new HashSet<>();
                oldStatus.path("reservedFor").forEach(known::add);
                if (!consumers.value().valueStream().allMatch(known::contains)) {
                    consumers.forbidden("new entries may not be added while `deallocationRequested` or"
                            + " `deletionTimestamp` are set");
                }
            }
        }

        /** Checks a new allocation, or that an existing one is unchanged. */
        private static void checkAllocation(JsonNode claim, JsonNode old, Field allocation, AttributeKeys keys) {
            if (allocation.present() && old.isObject()) {
                if (!allocation.value().equals(old)) {
                    allocation.invalidValue("field is immutable");
                }
            } else if (allocation.present()) {
                RequestNames names = RequestNames.of(claim.path("spec").path("devices"));
                new AllocationRules(names, keys).check(allocation);
            }
        }

        private record AllocationRules(RequestNames names, AttributeKeys keys) {
            private static final int CONFIGS = 64;
            private static final List<String> SOURCES = List.of("FromClaim", "FromClass");

            void check(Field allocation) {
                Field results = allocation.at("devices").at("results");
                if (results.requireAtMost(ClaimLimits.RESULTS)) {
                    results.items().forEach(this::checkResult);
                }
                Field configs = allocation.at("devices").at("config");
                if (configs.requireAtMost(CONFIGS)) {
                    configs.items().forEach(this::checkConfig);
                }
                if (allocation.at("nodeSelector").present()) {
                    NodeRules.checkSelector(allocation.at("nodeSelector"));
                }
            }

            private void checkResult(Field result) {
                names.requireKnown(result.at("request"));
                DeviceStatusRules.checkIdentity(result);
                BindingRules.check(result);
                result.at("tolerations").items().forEach(TolerationRules::check);
                DeviceRules.checkSkippedOperations(result.at("skipNodeOperations"));
                CounterRules.checkSnapshot(result.at("consumedCounters"));
                Field amounts = result.at("consumedCapacity");
                amounts.keys().forEach(key -> keys.checkLate(key, amounts));
            }

            private void checkConfig(Field config) {
                if (config.at("source").requireText()) {
                    config.at("source").requireOneOf(SOURCES);
                }
                names.check(config.at("requests"));
                ConfigRules.check(config);
            }
        }
    }
}
