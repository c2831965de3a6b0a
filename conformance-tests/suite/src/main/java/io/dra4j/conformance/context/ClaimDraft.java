// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.OwnNames;
import java.util.List;
import java.util.UUID;

/** A claim before its creation, with the allocation that a scheduler would write. */
public class ClaimDraft {

    private static final ObjectMapper JSON = new ObjectMapper();

    final String driver;
    final ArrayNode requests;
    final ArrayNode results;
    final ArrayNode configs;
    private final ObjectNode claim = JSON.createObjectNode();

    ClaimDraft(String namespace, String name, String driver) {
        this.driver = driver;
        claim.put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        claim.putObject("metadata").put("namespace", namespace).put("name", name);
        requests = claim.putObject("spec").putObject("devices").putArray("requests");
        ObjectNode devices = claim.putObject("status").putObject("allocation").putObject("devices");
        results = devices.putArray("results");
        configs = devices.putArray("config");
    }

    /** Adds a request that got these devices. */
    public ClaimDraft request(String name, PublishedDevice... devices) {
        return request(name, List.of(devices));
    }

    public ClaimDraft request(String name, List<PublishedDevice> devices) {
        ObjectNode exactly = exactly(name, Math.max(1, devices.size()), false);
        devices.stream()
                .filter(PublishedDevice::isShared)
                .findFirst()
                .filter(device -> !device.json().path("capacity").isEmpty())
                .ifPresent(device -> exactly.putObject("capacity").set("requests", device.consumed()));
        devices.forEach(device -> result(name, device));
        return this;
    }

    public ClaimDraft adminRequest(String name, PublishedDevice device) {
        exactly(name, 1, true);
        result(name, device).put("adminAccess", true);
        return this;
    }

    /** Adds a request that gets a device, whose taints it tolerates. */
    public ClaimDraft tolerantRequest(String name, PublishedDevice device) {
        exactly(name, 1, false);
        ArrayNode tolerations = result(name, device).putArray("tolerations");
        for (JsonNode taint : device.json().path("taints")) {
            tolerations
                    .addObject()
                    .put("key", taint.path("key").asText())
                    .put("operator", "Exists")
                    .put("effect", taint.path("effect").asText());
        }
        return this;
    }

    /** Adds a request with alternatives, of which one was chosen and got a device. */
    public ClaimDraft alternatives(String name, List<String> subrequests, String chosen, PublishedDevice device) {
        ArrayNode alternatives = requests.addObject().put("name", name).putArray("firstAvailable");
        subrequests.forEach(sub -> alternatives.addObject().put("name", sub).put("deviceClassName", driver));
        result(name + "/" + chosen, device);
        return this;
    }

    private ObjectNode exactly(String name, int count, boolean admin) {
        ObjectNode exactly = requests.addObject().put("name", name).putObject("exactly");
        exactly.put("deviceClassName", driver);
        if (count > 1) {
            exactly.put("count", count);
        }
        if (admin) {
            exactly.put("adminAccess", true);
        }
        return exactly;
    }

    private ObjectNode result(String request, PublishedDevice device) {
        ObjectNode result = rawResult(request, driver, device.pool(), device.name());
        if (device.isShared()) {
            result.put("shareID", UUID.randomUUID().toString());
            result.set("consumedCapacity", device.consumed());
        }
        return result;
    }

    /** Takes all of each capacity of a device. */
    public ClaimDraft all(PublishedDevice device) {
        for (JsonNode result : results) {
            if (result.path("device").asText().equals(device.name())) {
                ObjectNode consumed = ((ObjectNode) result).putObject("consumedCapacity");
                device.json()
                        .path("capacity")
                        .properties()
                        .forEach(
                                one -> consumed.set(one.getKey(), one.getValue().path("value")));
            }
        }
        return this;
    }

    /** Writes the names of consumed capacities in the other form: with the driver's domain, or without it. */
    public ClaimDraft inOtherForm() {
        OwnNames names = new OwnNames(driver);
        for (JsonNode result : results) {
            ObjectNode consumed = JSON.createObjectNode();
            result.path("consumedCapacity")
                    .properties()
                    .forEach(one -> consumed.set(names.other(one.getKey()), one.getValue()));
            ((ObjectNode) result).set("consumedCapacity", consumed);
        }
        return this;
    }

    /** Adds a result as given, of any driver; its request must be there too. */
    public ObjectNode rawResult(String request, String ofDriver, String pool, String device) {
        return results.addObject()
                .put("request", request)
                .put("driver", ofDriver)
                .put("pool", pool)
                .put("device", device);
    }

    /** Adds a request without a result. */
    public ClaimDraft bareRequest(String name) {
        exactly(name, 1, false);
        return this;
    }

    /** Adds a configuration of this driver from the claim, for some requests or for all. */
    public ClaimDraft config(JsonNode parameters, String... forRequests) {
        return config("FromClaim", driver, parameters, forRequests);
    }

    /** Adds a configuration; the source is {@code FromClass} or {@code FromClaim}. */
    public ClaimDraft config(String source, String ofDriver, JsonNode parameters, String... forRequests) {
        ObjectNode config = configs.addObject().put("source", source);
        ArrayNode names = config.putArray("requests");
        List.of(forRequests).forEach(names::add);
        config.putObject("opaque").put("driver", ofDriver).set("parameters", parameters);
        return this;
    }

    /** Reserves the claim for a consumer, which need not exist; without one, it is reserved for a pod. */
    public ClaimDraft reservedFor(String apiGroup, String resource, String name) {
        consumer(resource, name).put("apiGroup", apiGroup);
        return this;
    }

    private ObjectNode consumer(String resource, String name) {
        return claim.withObject("/status")
                .withArray("reservedFor")
                .addObject()
                .put("resource", resource)
                .put("name", name)
                .put("uid", UUID.randomUUID().toString());
    }

    /** The claim's {@code spec.devices}. */
    ObjectNode spec() {
        return claim.withObject("/spec/devices");
    }

    /** The claim's spec and metadata, as its user creates it. */
    ObjectNode unallocated() {
        ObjectNode bare = claim.deepCopy();
        bare.remove("status");
        return bare;
    }

    /** The claim's status, as a scheduler writes it: a kubelet prepares what is reserved for a pod. */
    JsonNode status() {
        if (claim.at("/status/reservedFor").isMissingNode()) {
            consumer("pods", "pod-of-" + claim.at("/metadata/name").asText());
        }
        if (configs.isEmpty()) {
            ((ObjectNode) claim.at("/status/allocation/devices")).remove("config");
        }
        return claim.path("status");
    }
}
