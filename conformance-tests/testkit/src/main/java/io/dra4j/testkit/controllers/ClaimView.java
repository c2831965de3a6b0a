// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A ResourceClaim, as controllers and kubelets see it. */
record ClaimView(JsonNode json) {

    static final String RESOURCE = "resourceclaims";

    static final String FINALIZERS = "finalizers";

    /** Keeps an allocated claim from being deleted. */
    static final String FINALIZER = "resource.kubernetes.io/delete-protection";

    String namespace() {
        return json.at("/metadata/namespace").asText();
    }

    String name() {
        return json.at("/metadata/name").asText();
    }

    String uid() {
        return json.at("/metadata/uid").asText();
    }

    KubeletClaim id() {
        return new KubeletClaim(namespace(), name(), uid());
    }

    boolean isAllocated() {
        return json.at("/status/allocation").isObject();
    }

    boolean isDeleted() {
        return !json.at("/metadata/deletionTimestamp").isMissingNode();
    }

    boolean isProtected() {
        return json.at("/metadata/" + FINALIZERS)
                .valueStream()
                .anyMatch(one -> one.asText().equals(FINALIZER));
    }

    /** Returns whether the scheduler made it for the extended resources of a pod. */
    boolean isOfExtendedResources() {
        return json.path("metadata")
                .path("annotations")
                .path(ExtendedResources.ANNOTATION)
                .asText()
                .equals("true");
    }

    /** The UIDs of the pods that may use it. */
    Set<String> reservedFor() {
        Set<String> uids = new LinkedHashSet<>();
        json.at("/status/reservedFor").forEach(user -> uids.add(user.path("uid").asText()));
        return uids;
    }

    /** Returns whether it is reserved for something that is not a pod. */
    boolean isForOthers() {
        return json.at("/status/reservedFor")
                .valueStream()
                .anyMatch(user ->
                        user.has("apiGroup") || !user.path("resource").asText().equals(Pod.RESOURCE));
    }

    /** The UIDs of pods that own it. */
    Set<String> owners() {
        Set<String> uids = new LinkedHashSet<>();
        for (JsonNode owner : json.at("/metadata/ownerReferences")) {
            if (owner.path("kind").asText().equals("Pod")) {
                uids.add(owner.path("uid").asText());
            }
        }
        return uids;
    }

    /** Returns whether it is reserved for a pod, or owned by it. */
    boolean isOf(String podUid) {
        return reservedFor().contains(podUid) || owners().contains(podUid);
    }

    List<JsonNode> results() {
        return json.at("/status/allocation/devices/results").valueStream().toList();
    }

    /** The drivers of its devices, in order. */
    Set<String> drivers() {
        Set<String> drivers = new LinkedHashSet<>();
        results().forEach(result -> drivers.add(result.path("driver").asText()));
        return drivers;
    }

    @Override
    public String toString() {
        return namespace() + "/" + name();
    }
}
