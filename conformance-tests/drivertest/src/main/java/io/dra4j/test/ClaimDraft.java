// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.util.List;
import java.util.UUID;

/** A ResourceClaim that gets devices allocated, as a scheduler would write it. */
final class ClaimDraft {

    private static final YAMLMapper YAML = new YAMLMapper();
    private static final String RESULTS = "/status/allocation/devices/results";
    private static final String CONFIGS = "/status/allocation/devices/config";

    private final ObjectNode claim;
    private final String driver;

    private ClaimDraft(ObjectNode claim, String driver) {
        this.claim = claim;
        this.driver = driver;
    }

    /**
     * Starts a claim with one request, {@code devices}, of the class that is named as the driver.
     */
    static ClaimDraft empty(String driver) {
        ObjectNode claim = JsonNodeFactory.instance.objectNode();
        claim.put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        claim.withArray("/spec/devices/requests")
                .addObject()
                .put("name", "devices")
                .putObject("exactly")
                .put("deviceClassName", driver);
        return new ClaimDraft(claim, driver);
    }

    /**
     * Starts with a claim of a user's; its configurations become those of the allocation.
     *
     * @throws IllegalArgumentException if the text is no object
     */
    static ClaimDraft of(String manifest, String driver) {
        if (!(tree(manifest, "The claim") instanceof ObjectNode claim)) {
            throw new IllegalArgumentException("The claim is no object: " + manifest);
        }
        ClaimDraft draft = new ClaimDraft(claim, driver);
        if (claim.at("/status/allocation").isMissingNode()) {
            for (JsonNode config : claim.at("/spec/devices/config")) {
                ObjectNode copy = config.deepCopy();
                draft.configs().add(copy.put("source", "FromClaim"));
            }
        }
        return draft;
    }

    /**
     * Allocates one more device, or a share if several claims may have it: of each capacity what the
     * claim asks for, else the policy's default, else all.
     *
     * @param published the device as a slice has it
     */
    void device(String request, String pool, JsonNode published) {
        ObjectNode result = device(request, pool, published.path("name").asText());
        if (published.path("allowMultipleAllocations").asBoolean()) {
            result.put("shareID", UUID.randomUUID().toString());
            ObjectNode consumed = result.putObject("consumedCapacity");
            JsonNode asked = claim.at("/spec/devices/requests/0/exactly/capacity/requests");
            published.path("capacity").properties().forEach(one -> {
                JsonNode capacity = one.getValue();
                JsonNode byDefault = capacity.at("/requestPolicy/default");
                JsonNode amount = byDefault.isMissingNode() ? capacity.path("value") : byDefault;
                consumed.set(one.getKey(), asked.has(one.getKey()) ? asked.get(one.getKey()) : amount);
            });
        }
    }

    /** Allocates one more device. */
    ObjectNode device(String request, String pool, String device) {
        return claim.withArray(RESULTS)
                .addObject()
                .put("request", request)
                .put("driver", driver)
                .put("pool", pool)
                .put("device", device);
    }

    /** Returns the first request, with the first of its alternatives if it has some. */
    String firstRequest() {
        JsonNode first = claim.at("/spec/devices/requests/0");
        String name = first.path("name").asText("devices");
        JsonNode alternative = first.at("/firstAvailable/0/name");
        return alternative.isMissingNode() ? name : name + "/" + alternative.asText();
    }

    /** Adds an opaque configuration; one of the class comes before those of the claim. */
    void config(String source, String parameters, List<String> requests) {
        ObjectNode config = JsonNodeFactory.instance.objectNode().put("source", source);
        requests.forEach(config.withArray("/requests")::add);
        config.putObject("opaque").put("driver", driver).set("parameters", tree(parameters, "The configuration"));
        if (source.equals("FromClass")) {
            configs().insert(0, config);
        } else {
            configs().add(config);
        }
    }

    private ArrayNode configs() {
        return claim.withArray(CONFIGS);
    }

    ObjectNode metadata() {
        return claim.withObject("/metadata");
    }

    /** Returns the claim, as it is. */
    ObjectNode json() {
        return claim;
    }

    private static JsonNode tree(String text, String what) {
        try {
            return YAML.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(what + " is neither YAML nor JSON: " + e.getOriginalMessage(), e);
        }
    }
}
