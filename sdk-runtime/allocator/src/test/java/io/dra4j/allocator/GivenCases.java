// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DynamicTest;

/**
 * Cases of a file: the objects of a small cluster, and the outcomes for its claims.
 *
 * <p>An outcome has the devices of all claims, or the reason why they do not fit, with the problems of pools and the
 * obstacles of requests. A release is taken as the rules say, or {@code asReleased}, with the bugs of its scheduler.
 */
public final class GivenCases {

    private static final Path FOLDER = Path.of("src/test/resources/io/dra4j/allocator");

    private GivenCases() {}

    static List<DynamicTest> of(String file) throws IOException {
        return of(file, GivenCases::check);
    }

    /** Returns a test for each outcome of each case. */
    public static List<DynamicTest> of(String file, BiConsumer<Given, JsonNode> check) throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode one : Given.json(Files.readString(FOLDER.resolve(file)))) {
            for (JsonNode outcome : one.path("outcomes")) {
                String name = one.path("title").asText() + ": " + outcome;
                tests.add(DynamicTest.dynamicTest(name, () -> check.accept(given(one), outcome)));
            }
        }
        return tests;
    }

    private static void check(Given given, JsonNode expected) {
        Outcome outcome = given.allocate(allocator(expected));

        assertThat(Given.devices(outcome)).isEqualTo(texts(expected.path("devices")));
        assertThat(outcome instanceof Outcome.Failed).isEqualTo(expected.has("reason") && !expected.has("pools"));
        if (outcome instanceof Outcome.DoesNotFit not) {
            checkObstacles(not, expected);
        } else if (outcome instanceof Outcome.Failed failed) {
            assertThat(failed.message()).isEqualTo(expected.path("reason").asText());
        } else if (expected.has("amount")) {
            AllocatedDevice device =
                    ((Outcome.Allocated) outcome).allocations().get(0).results().get(0);
            assertThat(device.consumedCapacity().get("m"))
                    .hasToString(expected.path("amount").asText());
        }
    }

    /** Checks only what has an expectation, except the problems of pools, which are always checked. */
    private static void checkObstacles(Outcome.DoesNotFit refused, JsonNode expected) {
        assertThat(refused.message()).isEqualTo(expected.path("reason").asText(refused.message()));
        assertThat(refused.pools().stream().map(PoolObstacle::problem)).isEqualTo(texts(expected.path("pools")));
        int others = refused.poolsOfOtherNodes();
        assertThat(others).isEqualTo(expected.path("otherNodes").asInt(others));
        for (RequestObstacles request : refused.requests()) {
            Map<String, String> obstacles = new HashMap<>();
            expected.path("obstacles")
                    .path(request.request())
                    .properties()
                    .forEach(one -> obstacles.put(one.getKey(), one.getValue().asText()));
            if (!obstacles.isEmpty()) {
                assertThat(request.devices().entrySet().stream()
                                .collect(Collectors.toMap(
                                        one -> one.getKey().device(),
                                        one -> one.getValue().text())))
                        .isEqualTo(obstacles);
                assertThat(request.most()).isEqualTo(expected.path("most").asInt(request.most()));
            }
        }
    }

    /** Slices have the fields of their specs, claims those of their only request. */
    private static Given given(JsonNode one) {
        Given given = new Given();
        if (one.has("devices")) {
            given.devices(fields(one.path("devices")));
        }
        for (JsonNode slice : one.path("slices")) {
            ObjectNode spec = slice.deepCopy();
            String driver = spec.has("driver") ? spec.remove("driver").asText() : "drv.example";
            String pool = spec.remove("pool").asText();
            given.slice(driver, pool, spec.remove("count").asInt(), fields(spec));
        }
        for (JsonNode held : one.path("held")) {
            ObjectNode result = held.deepCopy();
            given.held(result.remove("device").asText(), ", " + fields(result));
        }
        one.path("rules").forEach(rule -> given.rule(rule.toString()));
        JsonNode claims = one.has("claims") ? one.path("claims") : Given.json("[{}]");
        if (one.has("requests")) {
            given.requests(fields(one.path("requests")), "");
        } else {
            claims.forEach(claim -> given.requests(
                    "{name: 'r', exactly: {deviceClassName: 'c', " + fields(claim) + "}}",
                    fields(one.path("constraints"))));
        }
        return given;
    }

    private static String fields(JsonNode node) {
        String text = node.toString();
        return text.isEmpty() ? "" : text.substring(1, text.length() - 1);
    }

    public static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asText).toList();
    }

    private static Allocator allocator(JsonNode outcome) {
        Map<FeatureGate, Boolean> gates = new HashMap<>();
        for (String state : List.of("on", "off")) {
            if (outcome.has(state)) {
                gates.put(FeatureGate.parse(outcome.path(state).asText()), state.equals("on"));
            }
        }
        String release = outcome.path("release").asText();
        FeatureGates of = new FeatureGates(KubernetesVersion.valueOf("V" + release.replace('.', '_')), gates);
        return outcome.path("asReleased").asBoolean() ? Allocator.asReleased(of) : Allocator.of(of);
    }
}
