// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A claim of a template, and what it gets.
 *
 * @param claim the template's kind and name
 * @param spec its {@code spec.devices}
 * @param results its {@code status.allocation.devices.results}, without share ids
 * @param configs its {@code status.allocation.devices.config}
 * @param devices the devices of the results, in their order
 */
public record Allotment(String claim, ObjectNode spec, ArrayNode results, ArrayNode configs, List<Candidate> devices) {

    static Allotment of(ClaimTemplate template, List<RequestAlternative.Pick> picks) {
        ArrayNode results = JsonNodeFactory.instance.arrayNode();
        picks.forEach(pick -> result(results.addObject(), pick));
        return new Allotment(
                template.title(),
                template.devices(),
                results,
                configs(template, picks),
                picks.stream().map(RequestAlternative.Pick::device).toList());
    }

    private static void result(ObjectNode result, RequestAlternative.Pick pick) {
        Candidate device = pick.device();
        result.put("request", pick.alternative().name())
                .put("driver", device.driver())
                .put("pool", device.pool())
                .put("device", device.name());
        JsonNode tolerations = pick.alternative().json().path("tolerations");
        if (!tolerations.isEmpty()) {
            result.set("tolerations", tolerations.deepCopy());
        }
        if (isShared(device)) {
            ObjectNode consumed = result.putObject("consumedCapacity");
            device.json()
                    .path("capacity")
                    .properties()
                    .forEach(one -> consumed.set(one.getKey(), consumed(pick.alternative(), one)));
        }
    }

    private static JsonNode consumed(RequestAlternative alternative, java.util.Map.Entry<String, JsonNode> capacity) {
        JsonNode requested = alternative.json().at("/capacity/requests").path(capacity.getKey());
        if (!requested.isMissingNode()) {
            return requested;
        }
        JsonNode preset = capacity.getValue().at("/requestPolicy/default");
        return preset.isMissingNode() ? capacity.getValue().path("value") : preset;
    }

    /** Those of the classes come first, request by request, then those of the claim. */
    private static ArrayNode configs(ClaimTemplate template, List<RequestAlternative.Pick> picks) {
        ArrayNode configs = JsonNodeFactory.instance.arrayNode();
        Set<RequestAlternative> chosen = new LinkedHashSet<>();
        picks.forEach(pick -> chosen.add(pick.alternative()));
        for (RequestAlternative alternative : chosen) {
            for (JsonNode config : alternative.deviceClass().configs()) {
                ObjectNode written = configs.addObject().put("source", "FromClass");
                written.putArray("requests").add(alternative.name());
                written.setAll((ObjectNode) config.deepCopy());
            }
        }
        for (JsonNode config : template.configs()) {
            configs.addObject().put("source", "FromClaim").setAll((ObjectNode) config.deepCopy());
        }
        return configs;
    }

    private static boolean isShared(Candidate device) {
        return device.json().path("allowMultipleAllocations").asBoolean();
    }

    /** Returns whether another claim may have all of it at the same time. */
    public boolean isShared() {
        return devices.stream().allMatch(Allotment::isShared);
    }
}
