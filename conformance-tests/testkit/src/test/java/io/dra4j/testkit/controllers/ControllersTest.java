// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;

/** Pods and claims in a cluster without kubelets. */
class ControllersTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Instant START = Instant.parse("2026-11-26T00:00:00Z");
    private static final String REASON = "/status/conditions/0/reason";

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private EmbeddedApiServer api;
    private ClusterObjects objects;
    private Controllers controllers;

    private void play(KubernetesVersion version) {
        api = EmbeddedApiServer.builder()
                .version(version)
                .preReleaseVersions()
                .clock(now::get)
                .node("node-a")
                .node("node-b")
                .start();
        objects = api.store();
        controllers = Controllers.of(api).clock(now::get).start();
        apply("""
                apiVersion: resource.k8s.io/v1
                kind: DeviceClass
                metadata: {name: gpu}
                spec:
                  extendedResourceName: example.com/gpu
                  selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]
                """);
    }

    @AfterEach
    void stop() {
        controllers.close();
        api.close();
    }

    private void apply(String manifest, Object... values) {
        ManifestObjects.putText(manifest.formatted(values), objects);
    }

    @Scenarios("pod-scenarios.txt")
    void podsGetTheirClaims(String scenario) {
        if (!scenario.contains("\nrelease ")) {
            play(KubernetesVersion.V1_36);
        }
        for (String line : scenario.replace("{start}", START.toString()).split("\n")) {
            String[] words = line.split(" ", 4);
            String text = line.substring(line.indexOf(" : ") + 3);
            switch (words[0]) {
                case "#" -> {} // its title
                case "release" -> play(KubernetesVersion.valueOf(words[1]));
                case "publish" -> publish(words[1], line.split(" ", 3)[2]);
                case "claim" -> claim(words[1], line.split(" ", 3)[2]);
                case "pod" -> pod(words[1], words[2], words.length > 3 ? words[3] : "");
                case "apply" -> ManifestObjects.putText(line.substring(6), objects);
                case "delete" -> objects.delete(words[1], "default", words[2]);
                case "report" ->
                    objects.changeStatus("resourceclaims", "default", words[1], claim -> report(claim, words[2]));
                case "clock" -> now.set(START.plusSeconds(Long.parseLong(words[1])));
                case "bound" -> await("pods", words[1], "/spec/nodeName", words[2]::equals);
                case "told" -> {
                    JsonNode pod = await("pods", words[1], REASON, words[2]::equals);
                    assertThat(pod.at("/status/conditions/0/message").asText()).contains(text.split(" \\| "));
                }
                case "event" -> {
                    JsonNode event = await("events", "*", "/reason", words[1]::equals);
                    assertThat(event.toString()).contains(words.length > 2 ? line.split(" ", 3)[2] : "");
                }
                case "is" -> await(words[1], words[2], words[3].split(" : ")[0], text::equals);
                case "has" -> await(words[1], object -> isNamed(object, words[2]) && has(object, words[3]));
                case "lacks" -> await(words[1], object -> isNamed(object, words[2]) && !has(object, words[3]));
                case "still" -> {
                    awaitOneMoreRound();
                    assertThat(objects.find(words[1], "default", words[2])).isPresent();
                }
                case "later" -> awaitOneMoreRound();
                case "count" -> count(words[1], Integer.parseInt(words[2]));
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private void publish(String node, String devices) {
        apply("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceSlice
                metadata: {name: slice-%1$s}
                spec:
                  driver: gpu.example.com
                  nodeName: %1$s
                  pool: {name: %1$s, generation: 1, resourceSliceCount: 1}
                  devices: %2$s
                """, node, devices);
    }

    private void claim(String name, String request) {
        apply("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {name: %s}
                spec: {devices: {requests: [%s]}}
                """, name, request);
    }

    private void pod(String name, String claim, String more) {
        apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %s}
                spec:
                  containers: [{name: main, image: i}]
                  resourceClaims: [{name: gpu, resourceClaimName: %s}]
                  %s
                """, name, claim, more);
    }

    private static void report(ObjectNode claim, String type) {
        ObjectNode device = claim.withObject("/status").putArray("devices").addObject();
        device.put("driver", "gpu.example.com").put("pool", "node-a").put("device", "g");
        device.putArray("conditions")
                .addObject()
                .put("type", type)
                .put("status", "True")
                .put("reason", "Because")
                .put("message", "it is so")
                .put("lastTransitionTime", START.toString());
    }

    private static boolean isNamed(JsonNode object, String name) {
        String found = object.at("/metadata/name").asText();
        return name.endsWith("*") ? found.startsWith(name.replace("*", "")) : found.equals(name);
    }

    private static boolean has(JsonNode object, String pointer) {
        return !object.at(pointer).isMissingNode();
    }

    private JsonNode await(String resource, Predicate<JsonNode> wanted) {
        return objects.awaitObject(resource, wanted, LIMIT);
    }

    private JsonNode await(String resource, String name, String pointer, Predicate<String> wanted) {
        return await(
                resource, it -> isNamed(it, name) && wanted.test(it.at(pointer).asText()));
    }

    private void count(String resource, int wanted) {
        objects.await(resource, found -> found.size() == wanted, LIMIT);
    }

    private void awaitOneMoreRound() {
        claim("later", "{name: gpu, exactly: {deviceClassName: none}}");
        pod("later", "later", "");
        await("pods", "later", REASON, "Unschedulable"::equals);
    }
}
