// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Pods and claims in a cluster without kubelets. */
class ControllersTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Instant START = Instant.parse("2026-11-26T00:00:00Z");

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private EmbeddedApiServer api = server(KubernetesVersion.V1_36);
    private ClusterObjects objects = api.store();
    private Controllers controllers = Controllers.of(api).clock(now::get).start();

    private EmbeddedApiServer server(KubernetesVersion version) {
        return EmbeddedApiServer.builder()
                .version(version)
                .clock(now::get)
                .node("node-a")
                .node("node-b")
                .start();
    }

    private void play(KubernetesVersion version) {
        stop();
        api = server(version);
        objects = api.store();
        controllers = Controllers.of(api).clock(now::get).start();
        offerAClass();
    }

    @BeforeEach
    void offerAClass() {
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

    private void apply(String manifests) {
        ManifestObjects.putText(manifests, objects);
    }

    private void publish(String node, String devices) {
        apply("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceSlice
                metadata: {name: slice-NODE}
                spec:
                  driver: gpu.example.com
                  nodeName: NODE
                  pool: {name: NODE, generation: 1, resourceSliceCount: 1}
                  devices: DEVICES
                """.replace("NODE", node).replace("DEVICES", devices));
    }

    private void claim(String name, String request) {
        apply("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {name: NAME}
                spec: {devices: {requests: [REQUEST]}}
                """.replace("NAME", name).replace("REQUEST", request));
    }

    private void pod(String name, String rest) {
        apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: NAME}
                spec:
                  containers: [{name: main, image: i}]
                  REST
                """.replace("NAME", name).replace("REST", rest));
    }

    private static String uses(String claim) {
        return "resourceClaims: [{name: gpu, resourceClaimName: " + claim + "}]";
    }

    private static String one(String more) {
        return "{name: gpu, exactly: {deviceClassName: gpu" + more + "}}";
    }

    private JsonNode await(String resource, String name, Predicate<JsonNode> wanted) {
        return objects.awaitObject(
                resource, object -> object.at("/metadata/name").asText().equals(name) && wanted.test(object), LIMIT);
    }

    private JsonNode awaitBound(String pod, String node) {
        return await("pods", pod, it -> it.at("/spec/nodeName").asText().equals(node));
    }

    private String awaitCondition(String pod, String reason) {
        JsonNode found = await(
                "pods", pod, it -> it.at("/status/conditions/0/reason").asText().equals(reason));
        return found.at("/status/conditions/0/message").asText();
    }

    private JsonNode awaitEvent(String reason) {
        return objects.awaitObject(
                "events", event -> event.path("reason").asText().equals(reason), LIMIT);
    }

    @Test
    void aPodThatFitsNowhereIsToldSoAndIsPlacedOnceItFits() {
        claim("c", one(""));
        pod("p", uses("c"));

        assertThat(awaitCondition("p", "Unschedulable"))
                .isEqualTo("0/2 nodes are available: 2 cannot allocate all claims. still not schedulable");
        assertThat(awaitEvent("FailedScheduling").path("type").asText()).isEqualTo("Warning");

        publish("node-b", "[{name: g}]");
        awaitBound("p", "node-b");
        JsonNode claim = objects.find("resourceclaims", "default", "c").orElseThrow();
        assertThat(claim.at("/status/allocation/devices/results/0/device").asText())
                .isEqualTo("g");
        assertThat(claim.at("/status/reservedFor/0/name").asText()).isEqualTo("p");
    }

    @Test
    void anErrorOfASelectorEndsTheAttempt() {
        publish("node-a", "[{name: g}]");
        claim("c", one(", selectors: [{cel: {expression: \"device.attributes['a.example'].no\"}}]"));
        pod("p", uses("c"));

        assertThat(awaitCondition("p", "SchedulerError"))
                .contains("claim default/c: selector #0: CEL runtime error", "no such key: no");
    }

    @Test
    void theNodeWithTheBetterAlternativeIsChosen() {
        publish("node-a", "[{name: small}]");
        publish("node-b", "[{name: large, attributes: {large: {bool: true}}}]");
        claim("c", """
                {name: gpu, firstAvailable: [
                  {name: large, deviceClassName: gpu, selectors: [{cel: {expression: "device.attributes['gpu.example.com'].?large.orValue(false)"}}]},
                  {name: any, deviceClassName: gpu}]}
                """.replace("\n", ""));
        pod("p", uses("c"));

        awaitBound("p", "node-b");
        JsonNode claim = objects.find("resourceclaims", "default", "c").orElseThrow();
        assertThat(claim.at("/status/allocation/devices/results/0/request").asText())
                .isEqualTo("gpu/large");
    }

    @Test
    void theNextPodOfAClaimGoesWhereItsDevicesAre() {
        publish("node-b", "[{name: g}]");
        claim("c", one(""));
        pod("first", uses("c"));
        awaitBound("first", "node-b");

        pod("second", "nodeSelector: {kubernetes.io/hostname: node-a}\n  " + uses("c"));
        assertThat(awaitCondition("second", "Unschedulable"))
                .contains("1 node(s) didn't match Pod's node affinity/selector")
                .contains("1 resourceclaim not available on the node");
        pod("third", uses("c"));
        awaitBound("third", "node-b");
    }

    @Test
    void aTemplateThatIsMissingIsReportedAndItsClaimMadeOnceItIsThere() {
        publish("node-a", "[{name: g}]");
        pod("p", "resourceClaims: [{name: gpu, resourceClaimTemplateName: t}]");

        assertThat(awaitEvent("FailedResourceClaimCreation").path("message").asText())
                .isEqualTo("PodResourceClaim gpu: there is no ResourceClaimTemplate t");

        apply("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaimTemplate
                metadata: {name: t}
                spec:
                  metadata: {labels: {team: blue}}
                  spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
                """);
        awaitBound("p", "node-a");
        JsonNode claim = objects.list("resourceclaims").get(0);
        assertThat(claim.at("/metadata/name").asText()).startsWith("p-gpu-");
        assertThat(claim.at("/metadata/labels/team").asText()).isEqualTo("blue");
        assertThat(claim.at("/metadata/annotations/resource.kubernetes.io~1pod-claim-name")
                        .asText())
                .isEqualTo("gpu");

        objects.delete("pods", "default", "p");
        objects.await("resourceclaims", List::isEmpty, LIMIT);
    }

    @Test
    void aClaimInUseIsDeletedWhenItsPodIsGone() {
        publish("node-a", "[{name: g}]");
        claim("c", one(""));
        pod("p", uses("c"));
        awaitBound("p", "node-a");

        objects.delete("resourceclaims", "default", "c");
        await("resourceclaims", "c", it -> it.at("/metadata").has("deletionTimestamp"));
        objects.delete("pods", "default", "p");
        objects.await("resourceclaims", List::isEmpty, LIMIT);
    }

    @Test
    void aPodThatWasBoundByItsAuthorIsReservedItsClaim() {
        claim("c", one(""));
        objects.changeStatus(
                "resourceclaims",
                "default",
                "c",
                claim -> claim.withObject("/status/allocation/devices")
                        .putArray("results")
                        .addObject()
                        .put("request", "gpu")
                        .put("driver", "gpu.example.com")
                        .put("pool", "node-a")
                        .put("device", "g"));
        pod("p", "nodeName: node-a\n  " + uses("c"));

        await("resourceclaims", "c", it -> !it.at("/status/reservedFor").isEmpty());
    }

    @Test
    void aDeviceThatCannotBeBoundIsGivenBackAndTriedAgain() {
        publish("node-a", "[{name: g, bindingConditions: [ready], bindingFailureConditions: [broken]}]");
        claim("c", one(""));
        pod("p", uses("c"));
        awaitEvent("BindingConditionsPending");

        objects.changeStatus("resourceclaims", "default", "c", claim -> report(claim, "broken"));
        assertThat(awaitCondition("p", "SchedulerError"))
                .endsWith("device binding failed: claim=c, reason=Because, message=it is so");

        await("resourceclaims", "c", claim -> !claim.at("/status").has("devices"));
        await("resourceclaims", "c", claim -> claim.at("/status").has("allocation"));
        objects.changeStatus("resourceclaims", "default", "c", claim -> report(claim, "ready"));
        awaitBound("p", "node-a");
    }

    @Test
    void aDeviceThatIsNotBoundInTimeIsGivenBack() {
        publish("node-a", "[{name: g, bindingConditions: [ready], bindingFailureConditions: [broken]}]");
        claim("c", one(""));
        pod("p", uses("c"));
        awaitEvent("BindingConditionsPending");

        now.set(START.plusSeconds(600));

        assertThat(awaitCondition("p", "SchedulerError")).endsWith("device binding timeout: claim=c");
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

    @Test
    void aTaintIsToleratedForItsTime() {
        publish("node-a", "[{name: g}]");
        claim("c", one(", tolerations: [{key: sick, operator: Exists, tolerationSeconds: 60}]"));
        pod("p", uses("c"));
        awaitBound("p", "node-a");

        publish("node-a", "[{name: g, taints: [{key: sick, effect: NoExecute, timeAdded: '%s'}]}]".formatted(START));
        now.set(START.plusSeconds(59));
        awaitOneMoreRound();
        assertThat(objects.find("pods", "default", "p")).isPresent();

        now.set(START.plusSeconds(60));
        objects.await("pods", pods -> pods.size() == 1, LIMIT);
        awaitEvent("DeviceTaintManagerEviction");
    }

    @ParameterizedTest
    @CsvSource({"V1_37, 1", "V1_38, 0"})
    void aPodThatGotItsDeviceByAnExtendedResourceIsEvictedFrom138On(KubernetesVersion version, int left) {
        play(version);
        publish("node-a", "[{name: g}, {name: h}]");
        apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: limited}
                spec: {containers: [{name: main, image: i, resources: {limits: {example.com/gpu: 1}}}]}
                """);
        awaitBound("limited", "node-a");
        claim("c", one(""));
        pod("claiming", uses("c"));
        awaitBound("claiming", "node-a");

        String sick = "taints: [{key: sick, effect: NoExecute, timeAdded: '%s'}]".formatted(START);
        publish("node-a", "[{name: g, SICK}, {name: h, SICK}]".replace("SICK", sick));

        objects.await("pods", pods -> pods.size() == left, LIMIT);
        awaitOneMoreRound();
        assertThat(objects.list("pods")).hasSize(left + 1);
    }

    private void awaitOneMoreRound() {
        claim("later", "{name: gpu, exactly: {deviceClassName: none}}");
        pod("later", uses("later"));
        awaitCondition("later", "Unschedulable");
    }

    @ParameterizedTest
    @EnumSource(names = {"V1_37", "V1_38"})
    void aTaintRuleWithoutSelectorEvictsNoPodAndAnEmptyOneEvictsAll(KubernetesVersion version) {
        play(version);
        publish("node-a", "[{name: g}]");
        claim("c", one(""));
        pod("p", uses("c"));
        awaitBound("p", "node-a");
        String rule = """
                apiVersion: resource.k8s.io/v1
                kind: DeviceTaintRule
                metadata: {name: r}
                spec: {SELECTOR taint: {key: sick, effect: NoExecute, timeAdded: '%s'}}
                """.formatted(START);

        apply(rule.replace("SELECTOR", ""));
        awaitOneMoreRound();
        assertThat(objects.find("pods", "default", "p")).isPresent();

        apply(rule.replace("SELECTOR", "deviceSelector: {},"));
        awaitEvent("DeviceTaintManagerEviction");
    }

    @Test
    void initContainersThatEndShareTheirRequestOfAnExtendedResource() {
        publish("node-a", "[{name: g}, {name: h}]");
        String limit = "resources: {limits: {cpu: 1, example.com/gpu: 1}}";
        apply("""
                apiVersion: v1
                kind: Pod
                metadata: {name: p}
                spec:
                  initContainers:
                  - {name: a, image: i, LIMIT}
                  - {name: b, image: i, LIMIT}
                  containers:
                  - {name: main, image: i, LIMIT}
                """.replace("LIMIT", limit));

        JsonNode pod = awaitBound("p", "node-a");

        assertThat(pod.at("/status/extendedResourceClaimStatus/requestMappings"))
                .extracting(mapping -> mapping.path("requestName").asText())
                .containsExactly("container-0-request-1", "container-0-request-1", "container-2-request-1");
        assertThat(objects.list("resourceclaims").get(0).at("/spec/devices/requests"))
                .hasSize(2);
    }
}
