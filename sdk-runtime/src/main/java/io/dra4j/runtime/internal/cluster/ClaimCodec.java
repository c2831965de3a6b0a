// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Quantity;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads a {@code ResourceClaim} of {@code resource.k8s.io/v1}; fields it does not know stay in the JSON. */
public final class ClaimCodec {

    private static final String POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name";
    private static final Fields READ = new Fields(Set.of(
            "metadata.uid",
            "metadata.creationTimestamp",
            "spec.devices.requests",
            "status.allocation.devices",
            "status.reservedFor"));
    private static final Fields KNOWN = new Fields(Set.of(
            "metadata",
            "status.reservedFor",
            "status.allocation.devices.results",
            "status.devices.driver",
            "status.devices.pool",
            "status.devices.device",
            "status.devices.shareID",
            "status.devices.conditions"));

    private ClaimCodec() {}

    /**
     * Reads a claim.
     *
     * @throws IllegalArgumentException if the text is not JSON, or has no UID, or an amount is not a quantity
     */
    public static ClaimObject decode(String json) {
        return decode(Json.requireUid(Json.parse(json, READ)), json);
    }

    static ClaimObject decode(JsonNode claim, String json) {
        return new ClaimObject(
                claim.at("/metadata/uid").asText(),
                allocation(claim.path("status").path("allocation")),
                deviceClasses(claim.path("spec").path("devices").path("requests")),
                json);
    }

    /**
     * Returns a claim without its spec, parameters and data of devices, which may be JSON of any form.
     *
     * @throws IllegalArgumentException if the text is not JSON
     */
    public static String known(String json) {
        return Json.parse(json, KNOWN).toString();
    }

    /** Returns the names of the pods that a claim is reserved for, at most 256 by the API. */
    public static List<String> pods(String json) {
        return Json.list(Json.parse(json, READ).path("status").path("reservedFor"), pod -> pod).stream()
                .filter(one -> one.path("resource").asText().equals("pods"))
                .filter(one -> one.path("apiGroup").asText().isEmpty())
                .map(one -> one.path("name").asText())
                .toList();
    }

    /** Returns when a claim was created, by the API server's clock; empty if unknown. */
    public static Optional<Instant> createdAt(String json) {
        return createdAt(Json.parse(json, READ));
    }

    private static Optional<Instant> createdAt(JsonNode claim) {
        String time = claim.path("metadata").path("creationTimestamp").asText();
        try {
            return Optional.of(Instant.parse(time));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** Returns a claim that waits for devices; empty for any other. */
    static Optional<PendingClaim> pending(JsonNode claim) {
        JsonNode metadata = claim.path("metadata");
        if (claim.at("/status/allocation").isObject() || metadata.hasNonNull("deletionTimestamp")) {
            return Optional.empty();
        }
        Map<String, String> classes = deviceClasses(claim.at("/spec/devices/requests"));
        return createdAt(claim)
                .map(created -> new PendingClaim(new HashSet<>(classes.values()), created, isForPod(metadata)));
    }

    /** Claims that are created from a pod's template have both; either will do. */
    private static boolean isForPod(JsonNode metadata) {
        return metadata.path("annotations").has(POD_CLAIM_NAME)
                || metadata.path("ownerReferences")
                        .valueStream()
                        .anyMatch(owner -> owner.path("kind").asText().equals("Pod")
                                && owner.path("apiVersion").asText().equals("v1"));
    }

    private static @Nullable Allocation allocation(JsonNode allocation) {
        if (!allocation.isObject()) {
            return null;
        }
        JsonNode devices = allocation.path("devices");
        return new Allocation(Json.list(devices.path("results"), ClaimCodec::result), configs(devices));
    }

    /**
     * Reads the configurations of a claim's {@code spec}, which have one form in all versions since
     * v1beta1; they have no source yet, and count as the claim's.
     *
     * @throws IllegalArgumentException if the text is not JSON
     */
    public static List<Config> specConfigs(String json) {
        return configs(Json.parse(json).path("devices"));
    }

    /** A config that is not opaque belongs to a later API than this SDK knows, and names no driver. */
    private static List<Config> configs(JsonNode devices) {
        return Json.list(devices.path("config"), config -> config).stream()
                .filter(config -> config.path("opaque").isObject())
                .map(ClaimCodec::config)
                .toList();
    }

    private static Result result(JsonNode result) {
        return new Result(
                result.path("driver").asText(),
                result.path("request").asText(),
                result.path("pool").asText(),
                result.path("device").asText(),
                result.path("shareID").asText(null),
                Json.map(result.path("consumedCapacity"), amount -> new Quantity(amount.asText())),
                result.path("adminAccess").asBoolean(false),
                Set.copyOf(Json.strings(result.path("skipNodeOperations"))));
    }

    private static Config config(JsonNode config) {
        JsonNode opaque = config.path("opaque");
        JsonNode parameters = opaque.path("parameters");
        return new Config(
                config.path("source").asText().equals("FromClass"),
                Json.strings(config.path("requests")),
                opaque.path("driver").asText(),
                parameters.isTextual() ? parameters.asText() : parameters.toString());
    }

    private static Map<String, String> deviceClasses(JsonNode requests) {
        Map<String, String> classes = new HashMap<>();
        for (JsonNode request : requests) {
            String name = request.path("name").asText();
            put(classes, name, request.path("exactly"));
            for (JsonNode alternative : request.path("firstAvailable")) {
                put(classes, name + "/" + alternative.path("name").asText(), alternative);
            }
        }
        return classes;
    }

    private static void put(Map<String, String> classes, String key, JsonNode request) {
        JsonNode deviceClass = request.path("deviceClassName");
        if (deviceClass.isTextual()) {
            classes.put(key, deviceClass.asText());
        }
    }

    /**
     * A claim that is not allocated, and not about to be deleted.
     *
     * @param deviceClasses the classes that its requests name, alternatives included
     * @param created when it was created, by the API server's clock
     * @param forPod whether it was created for a pod, from a template: then a pod waits for it
     */
    public record PendingClaim(Set<String> deviceClasses, Instant created, boolean forPod) {

        public PendingClaim {
            deviceClasses = Set.copyOf(deviceClasses);
        }
    }
}
