// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.controllers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Creates the claims that pods have from templates. */
record TemplateClaims(PodObjects objects) implements Controller {
    private static final String ANNOTATION = "resource.kubernetes.io/pod-claim-name";
    private static final String FAILED = "FailedResourceClaimCreation";

    @Override
    public Optional<Instant> reconcile(Instant now) {
        for (Pod pod : objects.pods()) {
            if (!pod.isFinished() && !pod.isDeleted()) {
                pod.claims().stream().filter(entry -> !entry.isDecided()).forEach(entry -> create(pod, entry));
            }
        }
        return Optional.empty();
    }

    private void create(Pod pod, Pod.ClaimEntry entry) {
        Optional<JsonNode> template = objects.all().find("resourceclaimtemplates", pod.namespace(), entry.template());
        if (template.isEmpty()) {
            fail(pod, entry, "there is no ResourceClaimTemplate " + entry.template());
            return;
        }
        try {
            String claim = created(pod, entry)
                    .orElseGet(() -> create(pod, entry, template.get().path("spec")));
            objects.changeStatus(
                    pod,
                    status -> status.withArray("resourceClaimStatuses")
                            .addObject()
                            .put("name", entry.name())
                            .put("resourceClaimName", claim));
        } catch (ApiFailure e) {
            fail(pod, entry, String.valueOf(e.getMessage()));
        }
    }

    private void fail(Pod pod, Pod.ClaimEntry entry, String why) {
        objects.event(pod, "Warning", FAILED, "PodResourceClaim " + entry.name() + ": " + why);
    }

    /** The claim that was created before, if the pod's status does not have it yet. */
    private Optional<String> created(Pod pod, Pod.ClaimEntry entry) {
        return objects.claims().stream()
                .filter(claim -> claim.owners().contains(pod.uid()) && !claim.isDeleted())
                .filter(claim -> podClaimName(claim).equals(entry.name()))
                .map(ClaimView::name)
                .findFirst();
    }

    private static String podClaimName(ClaimView claim) {
        return claim.json()
                .path("metadata")
                .path("annotations")
                .path(ANNOTATION)
                .asText();
    }

    private String create(Pod pod, Pod.ClaimEntry entry, JsonNode template) {
        ObjectNode claim =
                JsonTrees.object().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        ObjectNode metadata = JsonTrees.metadata(claim);
        for (String field : List.of("labels", "annotations")) {
            if (template.path("metadata").path(field) instanceof ObjectNode given) {
                metadata.set(field, given.deepCopy());
            }
        }
        metadata.put("namespace", pod.namespace());
        metadata.put("generateName", pod.name() + "-" + entry.name() + "-");
        JsonTrees.child(metadata, "annotations").put(ANNOTATION, entry.name());
        own(metadata, pod);
        claim.set("spec", template.path("spec").deepCopy());
        return objects.all().put(claim).at("/metadata/name").asText();
    }

    /** Makes a pod the owner of an object, which is then deleted with it. */
    static void own(ObjectNode metadata, Pod pod) {
        metadata.putArray("ownerReferences")
                .addObject()
                .put("apiVersion", "v1")
                .put("kind", "Pod")
                .put("name", pod.name())
                .put("uid", pod.uid())
                .put("controller", true)
                .put("blockOwnerDeletion", true);
    }
}
