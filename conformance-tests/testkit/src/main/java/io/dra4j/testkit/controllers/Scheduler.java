// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.NodeSelector;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.controllers.DevicePlacement.Fit;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Places pods on nodes where their claims fit, like the part of kube-scheduler that handles claims.
 *
 * <p>It allocates and reserves the claims, waits for binding conditions, and binds the pod. A pod that fits nowhere
 * gets the scheduler's condition and event.
 */
final class Scheduler implements Controller {

    private static final String NODES = "nodes";
    private static final String SCHEDULED = "PodScheduled";
    private static final String WARNING = "Warning";
    private static final String UNSCHEDULABLE = "Unschedulable";
    private static final String FAILED = "FailedScheduling";
    private static final String POST = " still not schedulable";

    private final PodObjects objects;
    private final DevicePlacement placement;
    private final ExtendedResources extendedResources;
    private final BindingWait binding;
    private final Map<String, String> chosen = new HashMap<>(); // nodes by UID of pods
    private final Map<String, String> details = new ConcurrentHashMap<>(); // by UID of pods

    Scheduler(PodObjects objects, DevicePlacement placement, BindingWait binding) {
        this.objects = objects;
        this.placement = placement;
        this.binding = binding;
        this.extendedResources = new ExtendedResources(objects.all());
    }

    @Override
    public Optional<Instant> reconcile(Instant now) {
        Optional<Instant> next = Optional.empty();
        for (Pod pod : objects.pods()) {
            if (pod.isToBeScheduled()) {
                next = Controller.earlier(next, schedule(pod, now));
            }
        }
        return next;
    }

    /** The obstacles of a pod's claims on the last node where they did not fit. */
    String details(String podUid) {
        return details.getOrDefault(podUid, "");
    }

    private Optional<Instant> schedule(Pod pod, Instant now) {
        Optional<List<ClaimView>> claims = claims(pod);
        if (claims.isEmpty()) {
            return Optional.empty(); // as in a cluster: neither event nor condition
        }
        String waiting = chosen.get(pod.uid());
        if (waiting != null) {
            return bindOrWait(pod, claims.get(), waiting, now);
        }
        place(pod, claims.get());
        return chosen.containsKey(pod.uid()) ? Optional.of(now) : Optional.empty();
    }

    /** The pod's claims; empty if one is missing, or does not belong to the pod. */
    private Optional<List<ClaimView>> claims(Pod pod) {
        List<ClaimView> claims = new ArrayList<>();
        for (Pod.ClaimEntry entry : pod.claims()) {
            if (entry.isDecided() && entry.claim().isEmpty()) {
                continue; // its template needs no claim
            }
            Optional<ClaimView> claim = objects.claim(pod.namespace(), entry.claim());
            boolean isOwn = entry.template().isEmpty()
                    || claim.isPresent() && claim.get().owners().contains(pod.uid());
            if (claim.isEmpty() || claim.get().isDeleted() || !isOwn) {
                return Optional.empty();
            }
            claims.add(claim.get());
        }
        return Optional.of(claims);
    }

    private void place(Pod pod, List<ClaimView> claims) {
        List<ClaimView> unallocated =
                claims.stream().filter(claim -> !claim.isAllocated()).toList();
        List<JsonNode> nodes = objects.all().list(NODES);
        Optional<String> missing = MissingClasses.first(unallocated, objects.all());
        if (missing.isPresent()) {
            report(pod, UNSCHEDULABLE, unschedulable(nodes.size(), missing.get()));
            return;
        }
        Map<String, Integer> reasons = new TreeMap<>();
        JsonNode best = null;
        Fit.Fits bestFit = null;
        for (JsonNode node : nodes) {
            Optional<String> obstacle = obstacle(pod, claims, node);
            if (obstacle.isPresent()) {
                reasons.merge(obstacle.get(), 1, Integer::sum);
                continue;
            }
            List<ClaimView> wanted = new ArrayList<>(unallocated);
            extendedResources.claim(pod, node).ifPresent(wanted::add);
            Fit fit = wanted.isEmpty() ? new Fit.Fits(List.of(), 0) : placement.fit(node, wanted);
            if (fit instanceof Fit.Failed failed) {
                report(pod, "SchedulerError", failed.error());
                return;
            } else if (fit instanceof Fit.DoesNot not) {
                reasons.merge(not.reason(), 1, Integer::sum);
                details.put(pod.uid(), " " + not.details());
            } else if (fit instanceof Fit.Fits fits && (bestFit == null || fits.score() > bestFit.score())) {
                best = node;
                bestFit = fits;
            }
        }
        if (best == null || bestFit == null) {
            report(pod, UNSCHEDULABLE, unschedulable(nodes.size(), counted(reasons)));
        } else {
            reserve(pod, claims, best, bestFit);
        }
    }

    private static Optional<String> obstacle(Pod pod, List<ClaimView> claims, JsonNode node) {
        if (node.at("/spec/unschedulable").asBoolean()) {
            return Optional.of("node(s) were unschedulable");
        }
        for (Map.Entry<String, JsonNode> wanted :
                pod.json().at("/spec/nodeSelector").properties()) {
            JsonNode label = node.path("metadata").path("labels").path(wanted.getKey());
            if (!label.equals(wanted.getValue())) {
                return Optional.of("node(s) didn't match Pod's node affinity/selector");
            }
        }
        for (ClaimView claim : claims) {
            JsonNode selector = claim.json().at("/status/allocation/nodeSelector");
            if (selector.isObject() && !NodeSelector.of(selector).matches(Node.of(node))) {
                return Optional.of("resourceclaim not available on the node");
            }
        }
        return Optional.empty();
    }

    private void report(Pod pod, String reason, String message) {
        objects.event(pod, WARNING, FAILED, message);
        objects.condition(pod, SCHEDULED, false, reason, message); // last: a test that waits for it finds the event
    }

    private static String counted(Map<String, Integer> reasons) {
        return reasons.entrySet().stream()
                .map(one -> one.getValue() + " " + one.getKey())
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private static String unschedulable(int nodes, String why) {
        return "0/%d nodes are available: %s.%s".formatted(nodes, why, POST);
    }

    /** Writes the allocations and reservations, after the claim of extended resources. */
    private void reserve(Pod pod, List<ClaimView> claims, JsonNode node, Fit.Fits fit) {
        List<ClaimView> reserved = new ArrayList<>(claims);
        extendedResources.create(pod, node).ifPresent(reserved::add);
        int next = 0;
        for (ClaimView claim : reserved) {
            ObjectNode allocation =
                    claim.isAllocated() ? null : fit.allocations().get(next++);
            objects.change(claim, Scheduler::protect);
            objects.changeStatus(claim, status -> {
                if (allocation != null) {
                    status.set("allocation", allocation);
                }
                if (!claim.reservedFor().contains(pod.uid())) {
                    Reservations.reserve(status, pod);
                }
            });
        }
        chosen.put(pod.uid(), node.at("/metadata/name").asText());
    }

    private static void protect(ObjectNode claim) {
        if (!new ClaimView(claim).isProtected()) {
            JsonTrees.metadata(claim).withArray(ClaimView.FINALIZERS).add(ClaimView.FINALIZER);
        }
    }

    private Optional<Instant> bindOrWait(Pod pod, List<ClaimView> claims, String node, Instant now) {
        List<ClaimView> all = new ArrayList<>(claims);
        pod.extendedClaim()
                .flatMap(name -> objects.claim(pod.namespace(), name))
                .ifPresent(all::add);
        BindingWait.State state = binding.state(pod, all, now);
        if (state.isReady()) {
            chosen.remove(pod.uid());
            bind(pod, node);
        } else if (state.failure().isPresent()) {
            chosen.remove(pod.uid());
            report(pod, "SchedulerError", state.failure().get());
            all.stream()
                    .filter(claim -> claim.reservedFor().equals(Set.of(pod.uid())))
                    .forEach(claim -> objects.changeStatus(
                            claim, status -> status.remove(List.of("allocation", "reservedFor", "devices"))));
        }
        return state.until();
    }

    private void bind(Pod pod, String node) {
        objects.all()
                .change(
                        Pod.RESOURCE,
                        pod.namespace(),
                        pod.name(),
                        current -> JsonTrees.child(current, "spec").put("nodeName", node));
        objects.condition(pod, SCHEDULED, true, "", "");
        objects.event(pod, "Normal", "Scheduled", "Successfully assigned %s to %s".formatted(pod, node));
    }

    /** Finds requests whose DeviceClass does not exist, on which a scheduler gives up immediately. */
    private static final class MissingClasses {

        private MissingClasses() {}

        /** Returns the scheduler's message about the first of them. */
        static Optional<String> first(List<ClaimView> claims, ClusterObjects objects) {
            return claims.stream()
                    .flatMap(claim -> classes(claim).entrySet().stream())
                    .filter(one ->
                            objects.find("deviceclasses", "", one.getValue()).isEmpty())
                    .map(one -> "request %s: device class %s does not exist".formatted(one.getKey(), one.getValue()))
                    .findFirst();
        }

        /** The classes by request, or by request and alternative. */
        private static Map<String, String> classes(ClaimView claim) {
            Map<String, String> classes = new LinkedHashMap<>();
            for (JsonNode request : claim.json().at("/spec/devices/requests")) {
                String name = request.path("name").asText();
                if (request.has("exactly")) {
                    classes.put(name, deviceClass(request.path("exactly")));
                }
                for (JsonNode alternative : request.path("firstAvailable")) {
                    String own = name + "/" + alternative.path("name").asText();
                    classes.put(own, deviceClass(alternative));
                }
            }
            return classes;
        }

        private static String deviceClass(JsonNode asked) {
            return asked.path("deviceClassName").asText();
        }
    }
}
