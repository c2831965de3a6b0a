// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Prepares the claims of the pods that are bound to a node, and unprepares them when the pods are
 * gone; a pod whose claims are prepared runs.
 *
 * <p>A failed prepare is tried again after a second; the real kubelet takes a minute. Thread-safe.
 */
final class PodKubelet implements Controller {

    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final String FAILED = "FailedPrepareDynamicResources";

    private final String node;
    private final FakeKubelet kubelet;
    private final PodObjects objects;
    private final Map<String, Held> held = new LinkedHashMap<>(); // by UID of claims, guarded

    /** A claim that is prepared, or was begun to be, for pods. */
    private static final class Held {
        private final KubeletClaim id;
        private final Set<String> drivers;
        private final Map<String, List<PreparedDevice>> devices = new LinkedHashMap<>(); // by driver
        private final Set<String> pods = new HashSet<>();

        Held(Claim claim) {
            id = claim.id();
            drivers = claim.drivers();
        }
    }

    PodKubelet(String node, FakeKubelet kubelet, PodObjects objects) {
        this.node = node;
        this.kubelet = kubelet;
        this.objects = objects;
    }

    @Override
    public synchronized Optional<Instant> reconcile(Instant now) {
        Set<String> present = new HashSet<>();
        boolean isDone = true;
        for (Pod pod : objects.pods()) {
            if (pod.node().equals(node) && !pod.isFinished() && !pod.isDeleted()) {
                present.add(pod.uid());
                isDone &= pod.isRunning() || run(pod);
            }
        }
        for (Held claim : List.copyOf(held.values())) {
            if (Collections.disjoint(claim.pods, present)) {
                isDone &= unprepare(claim);
            } else {
                claim.pods.retainAll(present);
            }
        }
        return isDone ? Optional.empty() : Optional.of(now.plus(RETRY));
    }

    /** Returns whether the pod's claims are prepared, so that it runs. */
    private boolean run(Pod pod) {
        List<Claim> claims = new ArrayList<>();
        for (String name : PodClaims.names(pod)) {
            Optional<Claim> claim = objects.claim(pod.namespace(), name);
            if (claim.isEmpty() || !claim.get().reservedFor().contains(pod.uid())) {
                String why = "claim " + name + (claim.isEmpty() ? " is not there" : " is not reserved");
                return fail(pod, why);
            }
            claims.add(claim.get());
        }
        for (Claim claim : claims) {
            held.computeIfAbsent(claim.uid(), unseen -> new Held(claim)).pods.add(pod.uid());
        }
        Optional<String> complaint = prepare(claims);
        if (complaint.isPresent()) {
            return fail(pod, complaint.get());
        }
        objects.changeStatus(pod, PodKubelet::setRunning);
        objects.condition(pod, "Ready", true, "", "");
        return true;
    }

    private static void setRunning(ObjectNode status) {
        status.put("phase", "Running");
    }

    private boolean fail(Pod pod, String why) {
        String message = "Failed to prepare dynamic resources: " + why;
        objects.event(pod, "Warning", FAILED, message);
        return false;
    }

    /** Calls each driver once, for those of the claims that it has not prepared. */
    private Optional<String> prepare(List<Claim> claims) {
        Map<String, List<Held>> byDriver = new LinkedHashMap<>();
        for (Claim claim : claims) {
            Held entry = held.get(claim.uid());
            for (String driver : entry.drivers) {
                if (!entry.devices.containsKey(driver)) {
                    byDriver.computeIfAbsent(driver, unseen -> new ArrayList<>())
                            .add(entry);
                }
            }
        }
        for (Map.Entry<String, List<Held>> call : byDriver.entrySet()) {
            Optional<String> complaint = prepare(call.getKey(), call.getValue());
            if (complaint.isPresent()) {
                return complaint;
            }
        }
        return Optional.empty();
    }

    private Optional<String> prepare(String driver, List<Held> claims) {
        if (kubelet.plugin(driver).isEmpty()) {
            return Optional.of("DRA driver " + driver + " is not registered");
        }
        CallResult answer =
                kubelet.prepare(driver, claims.stream().map(claim -> claim.id).toList());
        Optional<String> complaint = answer.complaint();
        if (complaint.isEmpty()) {
            for (Held claim : claims) {
                boolean isSkipped = !answer.results().containsKey(claim.id.uid());
                claim.devices.put(
                        driver,
                        isSkipped
                                ? List.of()
                                : answer.results().get(claim.id.uid()).devices());
            }
        }
        return complaint;
    }

    private boolean unprepare(Held claim) {
        for (String driver : claim.drivers) {
            if (kubelet.plugin(driver).isEmpty()
                    || kubelet.unprepare(driver, List.of(claim.id)).complaint().isPresent()) {
                return false;
            }
        }
        held.remove(claim.id.uid());
        return true;
    }

    /** Returns whether a claim is prepared here for a pod, or partly; both by their UIDs. */
    synchronized boolean holds(String claim, String pod) {
        Held entry = held.get(claim);
        return entry != null && entry.pods.contains(pod);
    }

    /** The devices that drivers prepared of a claim, by its UID. */
    synchronized List<PreparedDevice> devices(String claim) {
        Held entry = held.get(claim);
        return entry == null
                ? List.of()
                : entry.devices.values().stream().flatMap(List::stream).toList();
    }
}
