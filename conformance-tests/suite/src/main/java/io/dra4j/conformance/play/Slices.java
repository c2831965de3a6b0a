// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.Pools;
import io.dra4j.conformance.context.Refusals;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The slices that drivers have published. */
record Slices(EmbeddedApiServer api, ApiProxy proxy, List<String> drivers) {

    /** The drivers' ResourceSlices as they are in the cluster now. */
    List<JsonNode> objects() {
        return drivers.stream().flatMap(name -> of(name, all()).stream()).toList();
    }

    private List<JsonNode> all() {
        return api.store().list("resourceslices");
    }

    private static List<JsonNode> of(String driver, List<JsonNode> all) {
        return all.stream().filter(slice -> driver(slice).equals(driver)).toList();
    }

    private static String driver(JsonNode slice) {
        return slice.at("/spec/driver").asText();
    }

    /** Waits until there are slices of each driver and every pool is complete. */
    List<JsonNode> awaitComplete(Duration timeout) {
        try {
            api.store()
                    .await(
                            "resourceslices",
                            all -> drivers.stream().allMatch(name -> new Pools(of(name, all)).areComplete()),
                            timeout);
            return objects();
        } catch (AssertionError e) {
            throw new StepFailed("%s within %d s; %s".formatted(missing(), timeout.toSeconds(), requests()));
        }
    }

    private String missing() {
        List<JsonNode> all = all();
        List<String> silent =
                drivers.stream().filter(name -> of(name, all).isEmpty()).toList();
        return silent.isEmpty()
                ? "the pools are not complete: "
                        + drivers.stream()
                                .flatMap(name -> new Pools(of(name, all)).incomplete().stream())
                                .toList()
                : "%s published no ResourceSlice".formatted(String.join(" and ", silent));
    }

    private String requests() {
        int asked = proxy.requests(Requests.to("resourceslices")).size();
        if (asked == 0) {
            return "no driver asked the API server for ResourceSlices: is it started with {KUBECONFIG}, or does it need --in-cluster?";
        }
        String refused = new Refusals(proxy).summary();
        return refused.isEmpty()
                ? "the API server refused no write of them; --step-timeout gives them longer"
                : refused;
    }

    /** Returns the slices and their devices, for people. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (JsonNode slice : objects()) {
            lines.add("slice %s: driver %s, pool %s, generation %s"
                    .formatted(Pools.name(slice), driver(slice), Pools.pool(slice), Pools.generation(slice)));
            slice.at("/spec/devices").forEach(device -> lines.add("   " + line(device)));
        }
        return lines;
    }

    private static String line(JsonNode device) {
        StringBuilder line = new StringBuilder(device.path("name").asText());
        device.path("attributes")
                .properties()
                .forEach(one -> add(one.getKey(), one.getValue().elements().next(), line));
        device.path("capacity")
                .properties()
                .forEach(one -> add(one.getKey(), one.getValue().path("value"), line));
        return line.toString();
    }

    private static void add(String name, JsonNode value, StringBuilder line) {
        line.append(' ').append(name).append('=').append(value.asText());
    }
}
