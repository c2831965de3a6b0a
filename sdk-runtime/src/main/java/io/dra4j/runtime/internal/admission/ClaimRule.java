// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.runtime.internal.claim.PrepareOutcome;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Claims and templates: the opaque configurations for this driver must be those it can prepare. */
record ClaimRule(ConfigCheck check) implements Rule {

    private static final String GROUP = "resource.k8s.io";
    private static final Set<String> VERSIONS = Set.of("v1", "v1beta1", "v1beta2");
    private static final String CLAIM = "ResourceClaim";
    private static final String TEMPLATE = "ResourceClaimTemplate";

    @Override
    public boolean isFor(String group, String version, String kind) {
        return group.equals(GROUP) && VERSIONS.contains(version) && (kind.equals(CLAIM) || kind.equals(TEMPLATE));
    }

    @Override
    public List<Problem> problems(String kind, JsonNode object) {
        boolean isTemplate = kind.equals(TEMPLATE);
        JsonNode spec = isTemplate ? object.path("spec").path("spec") : object.path("spec");
        if (!spec.isObject()) {
            return List.of(); // the API server refuses it
        }
        String path = isTemplate ? "spec.spec.devices.config" : "spec.devices.config";
        return check.problems(ClaimCodec.specConfigs(spec.toString()), adminAccess(spec)).stream()
                .map(problem -> new Problem(
                        "%s[%d].opaque.parameters".formatted(path, problem.index()), shown(problem.message())))
                .toList();
    }

    /** Returns whether each request has admin access; alternatives can't have it. */
    private static Map<String, Boolean> adminAccess(JsonNode spec) {
        Map<String, Boolean> requests = new LinkedHashMap<>();
        for (JsonNode request : spec.path("devices").path("requests")) {
            JsonNode exactly = request.has("exactly") ? request.path("exactly") : request; // before v1beta2
            requests.put(
                    request.path("name").asText(), exactly.path("adminAccess").asBoolean(false));
        }
        return requests;
    }

    /** Returns a message as the owner of a pod would see it from prepare. */
    private static String shown(String message) {
        return new PrepareOutcome.Failed(message).message();
    }

    @Override
    public String kinds() {
        return CLAIM + " and " + TEMPLATE + " of " + GROUP + "/v1, v1beta1 and v1beta2";
    }
}
