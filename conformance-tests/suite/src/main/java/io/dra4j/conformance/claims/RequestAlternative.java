// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.settings.SettingsException;
import java.util.List;

/**
 * A request as it is written, or one of its alternatives.
 *
 * @param name as in a result: {@code request} or {@code request/subrequest}
 * @param deviceClass the class that it names
 * @param all whether it takes all devices that match
 * @param count how many it takes otherwise
 * @param selectors what a device must match besides
 * @param json all of it
 */
record RequestAlternative(
        String name, DeviceClass deviceClass, boolean all, int count, List<Selector> selectors, JsonNode json) {

    /** A device for a request of a claim. */
    record Pick(RequestAlternative alternative, Candidate device) {}

    /** Reads one, of a claim that messages call so. */
    static RequestAlternative of(String name, JsonNode json, String claim, java.util.Map<String, DeviceClass> classes) {
        String owner = claim + ", request " + name;
        String className = json.path("deviceClassName").asText();
        DeviceClass named = classes.get(className);
        if (named == null) {
            throw new SettingsException(
                    "driver.claims: %s names the DeviceClass \"%s\", which is not among driver.claims (%s): add its manifest"
                            .formatted(owner, className, classes.keySet()));
        }
        if (json.path("adminAccess").asBoolean()) {
            throw new SettingsException(
                    "driver.claims: %s asks for admin access, which requirements of its own try: leave it out"
                            .formatted(owner));
        }
        String mode = json.path("allocationMode").asText("ExactCount");
        if (!List.of("ExactCount", "All").contains(mode)) {
            throw new SettingsException(
                    "driver.claims: %s has the allocationMode %s; ExactCount and All are known".formatted(owner, mode));
        }
        requireQuantities(json, owner);
        return new RequestAlternative(
                name,
                named,
                mode.equals("All"),
                Math.max(1, json.path("count").asInt(1)),
                Selector.all(json, owner),
                json);
    }

    private static void requireQuantities(JsonNode json, String owner) {
        json.at("/capacity/requests").properties().forEach(one -> {
            try {
                Quantities.exact(one.getValue().asText());
            } catch (IllegalArgumentException e) {
                throw new SettingsException(
                        "driver.claims: %s asks for the capacity %s of %s, which is no quantity such as 10Gi"
                                .formatted(owner, one.getValue(), one.getKey()));
            }
        });
    }

    /** Returns whether this may take a device, by class and selectors. */
    boolean matches(Candidate device) {
        return deviceClass.selectors().stream().allMatch(selector -> selector.matches(device))
                && selectors.stream().allMatch(selector -> selector.matches(device))
                && hasCapacity(device);
    }

    private boolean hasCapacity(Candidate device) {
        return json.at("/capacity/requests").properties().stream()
                .allMatch(one -> isEnough(device.json().path("capacity").path(one.getKey()), one.getValue()));
    }

    private static boolean isEnough(JsonNode capacity, JsonNode requested) {
        return !capacity.isMissingNode()
                && Quantities.exact(requested.asText())
                                .compareTo(
                                        Quantities.exact(capacity.path("value").asText()))
                        <= 0;
    }

    /** Returns whether each taint that keeps a device from claims is tolerated. */
    boolean tolerates(Candidate device) {
        return Cluster.elements(device.json().path("taints")).stream()
                .filter(taint -> !taint.path("effect").asText().equals("None"))
                .allMatch(this::tolerates);
    }

    private boolean tolerates(JsonNode taint) {
        return Cluster.elements(json.path("tolerations")).stream()
                .anyMatch(toleration -> isEmptyOrEqual(toleration, taint, "effect")
                        && isEmptyOrEqual(toleration, taint, "key")
                        && (toleration.path("operator").asText().equals("Exists")
                                || toleration
                                        .path("value")
                                        .asText()
                                        .equals(taint.path("value").asText())));
    }

    private static boolean isEmptyOrEqual(JsonNode toleration, JsonNode taint, String field) {
        String wanted = toleration.path(field).asText();
        return wanted.isEmpty() || wanted.equals(taint.path(field).asText());
    }
}
