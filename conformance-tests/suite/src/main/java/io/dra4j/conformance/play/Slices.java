// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.bench.Refusals;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What drivers have published. */
final class Slices {

    private final EmbeddedApiServer api;
    private final ApiProxy proxy;
    private final List<String> drivers;

    Slices(EmbeddedApiServer api, ApiProxy proxy, List<String> drivers) {
        this.api = api;
        this.proxy = proxy;
        this.drivers = drivers;
    }

    /** The drivers' ResourceSlices as they are in the cluster now. */
    List<JsonNode> objects() {
        return own(api.store().list("resourceslices"));
    }

    private List<JsonNode> own(List<JsonNode> all) {
        return all.stream().filter(slice -> drivers.contains(driver(slice))).toList();
    }

    private static String driver(JsonNode slice) {
        return slice.at("/spec/driver").asText();
    }

    /** Waits until there are slices of each driver, and every pool is complete. */
    void awaitComplete(Duration patience) {
        try {
            api.store()
                    .await(
                            "resourceslices",
                            all ->
                                    haveAll(own(all))
                                            && own(all).stream().allMatch(this::isComplete),
                            patience);
        } catch (AssertionError e) {
            throw new StepFailed(
                    "%s within %d s; %s".formatted(missing(), patience.toSeconds(), requests()));
        }
    }

    private String missing() {
        List<JsonNode> now = objects();
        List<String> silent =
                drivers.stream()
                        .filter(name -> now.stream().noneMatch(s -> driver(s).equals(name)))
                        .toList();
        return silent.isEmpty()
                ? "the pools of %s are not complete"
                        .formatted(
                                now.stream()
                                        .filter(slice -> !isComplete(slice))
                                        .map(slice -> slice.at("/spec/pool/name").asText())
                                        .distinct()
                                        .toList())
                : "%s published no ResourceSlice".formatted(String.join(" and ", silent));
    }

    private String requests() {
        int asked = proxy.requests(Requests.to("resourceslices")).size();
        if (asked == 0) {
            return "no driver asked the API server for ResourceSlices: is it started with"
                    + " {KUBECONFIG}, or does it need --in-cluster?";
        }
        String refused = new Refusals(proxy).summary();
        return refused.isEmpty()
                ? "the API server refused no write of them; --patience gives them longer"
                : refused;
    }

    private boolean haveAll(List<JsonNode> slices) {
        return drivers.stream()
                .allMatch(name -> slices.stream().anyMatch(slice -> driver(slice).equals(name)));
    }

    /** A pool is valid for a scheduler when it has all the slices of its newest generation. */
    private boolean isComplete(JsonNode slice) {
        JsonNode pool = slice.at("/spec/pool");
        long members =
                objects().stream()
                        .filter(other -> driver(other).equals(driver(slice)))
                        .filter(other -> other.at("/spec/pool").equals(pool))
                        .count();
        return members == pool.path("resourceSliceCount").asLong();
    }

    /** Returns the slices and their devices, for people. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (JsonNode slice : objects()) {
            JsonNode pool = slice.at("/spec/pool");
            lines.add(
                    "slice %s: driver %s, pool %s, generation %s"
                            .formatted(
                                    slice.at("/metadata/name").asText(),
                                    driver(slice),
                                    pool.path("name").asText(),
                                    pool.path("generation").asText()));
            slice.at("/spec/devices").forEach(device -> lines.add("   " + line(device)));
        }
        return lines;
    }

    private static String line(JsonNode device) {
        StringBuilder line = new StringBuilder(device.path("name").asText());
        device.path("attributes")
                .properties()
                .forEach(
                        attribute ->
                                line.append(' ')
                                        .append(attribute.getKey())
                                        .append('=')
                                        .append(attribute.getValue().elements().next().asText()));
        device.path("capacity")
                .properties()
                .forEach(
                        capacity ->
                                line.append(' ')
                                        .append(capacity.getKey())
                                        .append('=')
                                        .append(capacity.getValue().path("value").asText()));
        return line.toString();
    }
}
