// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The pods and claims of the cluster, and what controllers write about them.
 *
 * <p>Only for the controllers' thread.
 */
final class PodObjects {

    private static final String CONDITIONS = "conditions";

    private final ClusterObjects objects;
    private final InstantSource clock;
    private final Set<String> arrived = new LinkedHashSet<>(); // UIDs of pods
    private final Map<String, String> lastEvent = new HashMap<>(); // by pod UID and reason

    PodObjects(ClusterObjects objects, InstantSource clock) {
        this.objects = objects;
        this.clock = clock;
    }

    ClusterObjects all() {
        return objects;
    }

    /** Begins a round of the controllers: later pods belong to the next. */
    void beginRound() {
        Map<String, Pod> pods = byUid();
        arrived.retainAll(pods.keySet());
        arrived.addAll(pods.keySet());
    }

    /** The pods of this round, in the order in which they came, as they are now. */
    List<Pod> pods() {
        Map<String, Pod> pods = byUid();
        return arrived.stream().filter(pods::containsKey).map(pods::get).toList();
    }

    /** All pods as they are now, including those that came during this round. */
    Collection<Pod> present() {
        return byUid().values();
    }

    private Map<String, Pod> byUid() {
        Map<String, Pod> pods = new LinkedHashMap<>();
        objects.list(Pod.RESOURCE).stream()
                .map(Pod::new)
                .sorted(Comparator.comparing(Pod::revision))
                .forEach(pod -> pods.put(pod.uid(), pod));
        return pods;
    }

    List<ClaimView> claims() {
        return objects.list(ClaimView.RESOURCE).stream().map(ClaimView::new).toList();
    }

    Optional<ClaimView> claim(String namespace, String name) {
        return objects.find(ClaimView.RESOURCE, namespace, name).map(ClaimView::new);
    }

    /** Changes a pod's status, unless the pod is gone. */
    void changeStatus(Pod pod, Consumer<ObjectNode> change) {
        ignoringGone(() -> objects.changeStatus(
                Pod.RESOURCE,
                pod.namespace(),
                pod.name(),
                current -> change.accept(JsonTrees.child(current, "status"))));
    }

    /** Changes a claim's status, unless the claim is gone. */
    void changeStatus(ClaimView claim, Consumer<ObjectNode> change) {
        ignoringGone(() -> objects.changeStatus(
                ClaimView.RESOURCE,
                claim.namespace(),
                claim.name(),
                current -> change.accept(JsonTrees.child(current, "status"))));
    }

    /** Changes a claim except for its status, unless the claim is gone. */
    void change(ClaimView claim, Consumer<ObjectNode> change) {
        ignoringGone(() -> objects.change(ClaimView.RESOURCE, claim.namespace(), claim.name(), change));
    }

    void delete(ClaimView claim) {
        ignoringGone(() -> objects.delete(ClaimView.RESOURCE, claim.namespace(), claim.name()));
    }

    void delete(Pod pod) {
        ignoringGone(() -> objects.delete(Pod.RESOURCE, pod.namespace(), pod.name()));
    }

    /** Sets a condition of a pod; an unchanged one is not written. */
    void condition(Pod pod, String type, boolean isTrue, String reason, String message) {
        changeStatus(pod, status -> {
            ObjectNode condition = condition(status.withArray(CONDITIONS), type);
            String wanted = isTrue ? "True" : "False";
            if (!condition.path("status").asText().equals(wanted)) {
                condition.put("lastTransitionTime", seconds(clock.instant()));
            }
            condition.put("status", wanted);
            condition.remove(List.of("reason", "message"));
            if (!reason.isEmpty()) {
                condition.put("reason", reason).put("message", message);
            }
        });
    }

    private static ObjectNode condition(ArrayNode conditions, String type) {
        for (JsonNode condition : conditions) {
            if (condition.path("type").asText().equals(type)) {
                return (ObjectNode) condition;
            }
        }
        return conditions.addObject().put("type", type);
    }

    private static String seconds(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Records an event of a pod; the same one is not repeated. */
    void event(Pod pod, String type, String reason, String message) {
        String key = pod.uid() + " " + reason;
        if (message.equals(lastEvent.put(key, message))) {
            return;
        }
        String now = seconds(clock.instant());
        ObjectNode event = JsonTrees.object().put("apiVersion", "v1").put("kind", "Event");
        JsonTrees.metadata(event).put("namespace", pod.namespace()).put("generateName", pod.name() + ".");
        event.putObject("involvedObject")
                .put("apiVersion", "v1")
                .put("kind", "Pod")
                .put("namespace", pod.namespace())
                .put("name", pod.name())
                .put("uid", pod.uid());
        event.put("type", type).put("reason", reason).put("message", message).put("count", 1);
        event.put("firstTimestamp", now).put("lastTimestamp", now);
        event.putObject("source").put("component", "dra4j-testkit");
        objects.put(event);
    }

    /** Runs a write of an object that another client may have deleted since it was read. */
    private static void ignoringGone(Runnable write) {
        try {
            write.run();
        } catch (ApiFailure e) {
            if (e.code() != 404) {
                throw e;
            }
        }
    }
}
