// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;

/** The rules for ResourceClaims, and for the claims in ResourceClaimTemplates. */
public final class ClaimRules {
    private ClaimRules() {}

    /** Sets what a claim's spec leaves out: {@code ExactCount}, and one device. */
    public static void setDefaults(JsonNode claimSpec) {
        RequestRules.setDefaults(claimSpec);
    }

    /**
     * @param path of the spec, for messages
     */
    public static void checkSpec(
            JsonNode claimSpec, String path, ExpressionCompiler compiler, FieldErrors errors) {
        RequestRules.check(new Field(claimSpec, path, errors), new ExpressionRules(compiler));
    }

    /**
     * @param old the stored claim; an empty object if there is none
     */
    public static void checkStatus(JsonNode claim, JsonNode old, FieldErrors errors) {
        ClaimStatusRules.check(claim, old, errors);
    }

    /** Driver, pool, device and share id: the identity of an allocated device. */
    public static String deviceKey(JsonNode device) {
        return ClaimStatusRules.deviceKey(device);
    }

    /** The keys of all devices that a claim was allocated, in a set that may be changed. */
    public static Set<String> allocated(JsonNode claim) {
        return ClaimStatusRules.allocated(claim);
    }
}
