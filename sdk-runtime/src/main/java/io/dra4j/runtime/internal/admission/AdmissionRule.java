// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.runtime.internal.admission.AdmissionRule.Problem;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A check of the objects of some kinds. */
interface AdmissionRule {

    boolean isFor(String group, String version, String kind);

    /** Returns the paths of the fields that the rule reads in an object. */
    Set<String> fields();

    /** Returns the reasons to refuse an object, given those fields; none if it may be stored. */
    List<Problem> problems(String kind, JsonNode object);

    String kinds();

    /** A reason to refuse an object, and its field. */
    record Problem(String field, String message) {}

    /** Claims and templates: the opaque configurations for this driver must be those it can prepare. */
    record ClaimRule(ConfigCheck check) implements AdmissionRule {

        private static final String GROUP = "resource.k8s.io";
        private static final Set<String> VERSIONS = Set.of("v1", "v1beta1", "v1beta2");
        private static final String CLAIM = "ResourceClaim";
        private static final String TEMPLATE = "ResourceClaimTemplate";

        @Override
        public boolean isFor(String group, String version, String kind) {
            return group.equals(GROUP) && VERSIONS.contains(version) && (kind.equals(CLAIM) || kind.equals(TEMPLATE));
        }

        @Override
        public Set<String> fields() {
            return Set.of("spec.devices", "spec.spec.devices");
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
                        request.path("name").asText(),
                        exactly.path("adminAccess").asBoolean(false));
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

    /**
     * Pods: their containers must not request resources of device plugins that claims replace.
     *
     * @param resources the names of the resources, such as {@code nvidia.com/gpu}
     */
    record PodRule(Set<String> resources) implements AdmissionRule {

        private static final List<String> CONTAINERS = List.of("initContainers", "containers");
        private static final String ZERO = "[+-]?[0.]+(\\D.*)?"; // of any unit

        public PodRule {
            resources = Set.copyOf(resources);
        }

        @Override
        public boolean isFor(String group, String version, String kind) {
            return group.isEmpty() && version.equals("v1") && kind.equals("Pod");
        }

        @Override
        public Set<String> fields() {
            return CONTAINERS.stream()
                    .flatMap(list -> Stream.of("limits", "requests").map(amounts -> list + ".resources." + amounts))
                    .flatMap(amounts -> resources.stream().map(name -> "spec.%s.%s".formatted(amounts, name)))
                    .collect(Collectors.toSet());
        }

        @Override
        public List<Problem> problems(String kind, JsonNode object) {
            List<Problem> problems = new ArrayList<>();
            for (String list : CONTAINERS) {
                JsonNode containers = object.path("spec").path(list);
                for (int index = 0; index < containers.size(); index++) {
                    String path = "spec.%s[%d].resources".formatted(list, index);
                    JsonNode requested = containers.path(index).path("resources");
                    problems.addAll(refused(path + ".limits", requested.path("limits")));
                    problems.addAll(refused(path + ".requests", requested.path("requests")));
                }
            }
            return problems;
        }

        private List<Problem> refused(String path, JsonNode amounts) {
            return resources.stream()
                    .sorted()
                    .filter(name -> !amounts.path(name).asText("0").matches(ZERO))
                    .map(name -> new Problem(
                            "%s[%s]".formatted(path, name),
                            ("%s is not for pods of this namespace; request the device by a ResourceClaimTemplate in"
                                            + " spec.resourceClaims, and by its name in resources.claims of the"
                                            + " container")
                                    .formatted(name)))
                    .toList();
        }

        @Override
        public String kinds() {
            return "Pod of v1";
        }
    }
}
