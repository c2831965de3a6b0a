// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;

/**
 * Reserves claims for pods that were bound without the scheduler, and frees claims whose pods are gone or finished:
 * first their reservations, then their devices. Claims of templates are also deleted. It asks whether a
 * claim is prepared on some node for a pod by the UIDs of both.
 */
record Reservations(PodObjects objects, BiPredicate<String, String> isPrepared) implements Controller {

    @Override
    public Optional<Instant> reconcile(Instant now) {
        Collection<Pod> pods = objects.present();
        pods.stream().filter(pod -> !pod.node().isEmpty()).forEach(this::reserve);
        Set<String> existing = new HashSet<>();
        Set<String> using = new HashSet<>();
        for (Pod pod : pods) {
            existing.add(pod.uid());
            if (!pod.isFinished()) {
                using.add(pod.uid());
            }
        }
        for (ClaimView claim : objects.claims()) {
            if (claim.isForOthers()) {
                continue; // as the real controller does with users that it doesn't know
            }
            release(claim, using);
            Set<String> owners = claim.owners();
            if (!owners.isEmpty() && owners.stream().noneMatch(existing::contains)) {
                objects.delete(claim);
            }
        }
        return Optional.empty();
    }

    private void reserve(Pod pod) {
        if (pod.isFinished() || pod.isDeleted()) {
            return;
        }
        for (String name : pod.claimNames()) {
            objects.claim(pod.namespace(), name)
                    .filter(claim -> claim.isAllocated() && !claim.isDeleted())
                    .filter(claim -> !claim.reservedFor().contains(pod.uid()))
                    .ifPresent(claim -> objects.changeStatus(claim, status -> reserve(status, pod)));
        }
    }

    /** Adds a pod to those that a claim is reserved for. */
    static void reserve(ObjectNode status, Pod pod) {
        status.withArray("reservedFor")
                .addObject()
                .put("resource", Pod.RESOURCE)
                .put("name", pod.name())
                .put("uid", pod.uid());
    }

    private void release(ClaimView claim, Set<String> using) {
        Set<String> left = claim.reservedFor().stream()
                .filter(pod -> using.contains(pod) || isPrepared.test(claim.uid(), pod))
                .collect(Collectors.toSet());
        boolean isLess = left.size() < claim.reservedFor().size();
        if (isLess || left.isEmpty() && claim.isAllocated() && claim.isDeleted()) {
            objects.changeStatus(claim, status -> keep(status, left));
        }
        if (left.isEmpty() && claim.isProtected() && (isLess || claim.isDeleted())) {
            objects.change(claim, Reservations::unprotect);
        }
    }

    private static void keep(ObjectNode status, Set<String> left) {
        ArrayNode reservedFor = status.withArray("reservedFor");
        reservedFor.removeIf(user -> !left.contains(user.path("uid").asText()));
        if (reservedFor.isEmpty()) {
            status.remove("reservedFor");
            status.remove("allocation");
        }
    }

    private static void unprotect(ObjectNode claim) {
        ArrayNode finalizers = JsonTrees.metadata(claim).withArray(ClaimView.FINALIZERS);
        finalizers.removeIf(one -> one.asText().equals(ClaimView.FINALIZER));
    }
}
