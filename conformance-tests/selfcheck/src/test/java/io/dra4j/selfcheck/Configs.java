// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The opaque configuration of a device, in the fake driver's form: the last entry that applies
 * wins, and those of the claim outweigh those of the class.
 */
class Configs {

    private static final String VERSION = "gpu.resource.example.com/v1alpha1";
    private static final Set<String> INTERVALS = Set.of("Default", "Short", "Medium", "Long");

    /** The configuration of a device without any. */
    static final Map<String, String> DEFAULT =
            Map.of("SHARING_STRATEGY", "TimeSlicing", "TIMESLICE_INTERVAL", "Default");

    private final String driver = Parts.driver().settings.driver();

    /** The device's environment for its configuration, by the end of the variable. */
    Map<String, String> of(JsonNode claim, JsonNode result) {
        Map<String, String> chosen = DEFAULT;
        for (JsonNode entry : applied(claim, result)) {
            chosen = decode(entry.at("/opaque/parameters"));
        }
        return chosen;
    }

    /** The own entries for a result, the one that wins at the end. */
    List<JsonNode> applied(JsonNode claim, JsonNode result) {
        List<JsonNode> entries = new ArrayList<>();
        for (JsonNode entry : claim.at("/status/allocation/devices/config")) {
            if (isOwn(entry) && applies(entry, result.path("request").asText())) {
                entries.add(entry);
            }
        }
        entries.sort(order());
        return entries;
    }

    Comparator<JsonNode> order() {
        return Comparator.comparing(entry -> entry.path("source").asText().equals("FromClaim"));
    }

    boolean isOwn(JsonNode entry) {
        return entry.at("/opaque/driver").asText().equals(driver);
    }

    boolean applies(JsonNode entry, String request) {
        List<String> requests = Json.texts(entry.path("requests"));
        return requests.isEmpty() || requests.contains(request) || requests.contains(request.split("/")[0]);
    }

    Map<String, String> decode(JsonNode parameters) {
        if (!VERSION.equals(parameters.path("apiVersion").asText())
                || !"GpuConfig".equals(parameters.path("kind").asText())) {
            throw new Refused(
                    "unknown kind of configuration: " + parameters.path("apiVersion") + ", " + parameters.path("kind"));
        }
        fields(parameters, "apiVersion", "kind", "sharing");
        JsonNode sharing = parameters.path("sharing");
        fields(sharing, "strategy", "timeSlicingConfig", "spacePartitioningConfig");
        String strategy = sharing.path("strategy").asText("TimeSlicing");
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("SHARING_STRATEGY", strategy);
        switch (strategy) {
            case "TimeSlicing" -> environment.put("TIMESLICE_INTERVAL", interval(sharing));
            case "SpacePartitioning" -> environment.put("PARTITION_COUNT", "" + parts(sharing));
            default -> throw new Refused("unknown GPU sharing strategy: " + strategy);
        }
        return environment;
    }

    private String interval(JsonNode sharing) {
        JsonNode settings = sharing.path("timeSlicingConfig");
        fields(settings, "interval");
        String interval = settings.path("interval").asText("Default");
        if (!INTERVALS.contains(interval) || sharing.has("spacePartitioningConfig")) {
            throw new Refused("unknown time-slice interval: " + interval);
        }
        return interval;
    }

    private int parts(JsonNode sharing) {
        JsonNode settings = sharing.path("spacePartitioningConfig");
        fields(settings, "partitionCount");
        int count = settings.path("partitionCount").asInt(settings.has("partitionCount") ? -1 : 1);
        if (count < 0 || sharing.has("timeSlicingConfig")) {
            throw new Refused("invalid partition count: " + settings.path("partitionCount"));
        }
        return count;
    }

    /** Sees that an object has no other fields than these. */
    void fields(JsonNode object, String... known) {
        object.fieldNames().forEachRemaining(name -> {
            if (!List.of(known).contains(name)) {
                throw new Refused("unknown field in the configuration: " + name);
            }
        });
    }
}
