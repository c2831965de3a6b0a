// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import io.dra4j.tools.audit.KubeletState.KubeletClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The commands that fix what an audit finds. */
record Fixes(Views views) {
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * Deletes the pods of a claim, after which the kubelet unprepares it.
     *
     * <p>Pods are found by the claim's UID, in the API or the kubelet's record, and never by its
     * name: another claim may have the name now, and a damaged record has no name.
     */
    List<String> deletePods(ClaimRef ref) {
        Optional<ClaimRef> present = views.claims().isRead() ? views.present(ref.uid()) : Optional.empty();
        List<String> named = present.map(this::deleteReserved).orElse(List.of());
        List<String> held =
                views.kubeletClaim(ref.uid()).map(KubeletClaim::pods).orElse(List.of());
        if (!named.isEmpty()) {
            return named;
        }
        if (!held.isEmpty()) {
            return deletePodsByUid(held);
        }
        return present.map(this::deleteUnreserved).orElseGet(() -> deletePodsOfAbsent(ref));
    }

    private List<String> deleteReserved(ClaimRef present) {
        List<String> pods = reservedFor(present)
                .filter(user -> user.path("resource").asText().equals("pods"))
                .map(user -> user.path("name").asText())
                .toList();
        return pods.isEmpty()
                ? List.of()
                : List.of("kubectl -n %s delete pod %s".formatted(present.namespace(), String.join(" ", pods)));
    }

    private List<String> deleteUnreserved(ClaimRef present) {
        return reservedFor(present).findAny().isPresent() // a group of pods
                ? deletePodsOfNode(present, List.of())
                : List.of("# no pod has reserved it; if none needs it:", deleteClaim(present));
    }

    private List<String> deletePodsOfAbsent(ClaimRef ref) {
        if (!views.claims().isRead()) {
            return List.of(
                    "kubectl get resourceclaims -A -o custom-columns=NS:.metadata.namespace,UID:.metadata.uid,PODS:.status.reservedFor[*].name | grep "
                            + ref.uid(),
                    "# delete the pods that it shows: kubectl -n NS delete pod PODS");
        }
        if (views.isKubeletIntact()) { // it has no pods of the claim
            return awaitDriver();
        }
        return views.named(ref)
                .map(now -> deletePodsOfNode(
                        now,
                        reservedFor(now)
                                .map(user -> user.path("uid").asText())
                                .filter(uid -> !uid.isEmpty())
                                .toList()))
                .orElseGet(this::awaitDriver);
    }

    /** Finds pods by a claim's name, without those of the claim that has the name now. */
    private List<String> deletePodsOfNode(ClaimRef ref, List<String> others) {
        return List.of(
                "kubectl -n %s get pods --field-selector spec.nodeName=%s -o custom-columns=POD:.metadata.name,UID:.metadata.uid,CLAIMS:.spec.resourceClaims[*].resourceClaimName,MADE:.status.resourceClaimStatuses[*].resourceClaimName | grep -E '[ ,]%s([ ,]|$)'%s"
                        .formatted(
                                ref.namespace(),
                                views.driver().node(),
                                ref.name(),
                                others.isEmpty() ? "" : " | grep -vE '" + String.join("|", others) + "'"),
                "# delete the pods that it shows: kubectl -n %s delete pod POD".formatted(ref.namespace()));
    }

    /** Deletes a claim with its pods, after which the driver unprepares it. */
    List<String> deleteForgotten(ClaimRef ref) {
        List<String> lines = new ArrayList<>(deletePods(ref));
        views.present(ref.uid())
                .filter(present -> json(present).at("/metadata/ownerReferences").isEmpty())
                .map(Fixes::deleteClaim)
                .filter(delete -> !lines.contains(delete))
                .ifPresent(lines::add);
        return lines;
    }

    private static String deleteClaim(ClaimRef ref) {
        return "kubectl -n %s delete resourceclaim %s".formatted(ref.namespace(), ref.name());
    }

    private Stream<JsonNode> reservedFor(ClaimRef present) {
        return json(present).at("/status/reservedFor").valueStream();
    }

    private JsonNode json(ClaimRef present) {
        try {
            return JSON.readTree(views.object(present)
                    .map(claim -> ClaimCodec.known(claim.json()))
                    .orElse("{}"));
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    /** Deletes pods of which only UIDs are known. */
    List<String> deletePodsByUid(List<String> uids) {
        return List.of(
                "kubectl get pods -A -o custom-columns=NS:.metadata.namespace,POD:.metadata.name,UID:.metadata.uid | grep -E '%s'"
                        .formatted(String.join("|", uids)),
                "# delete the pods that it shows: kubectl -n NS delete pod POD");
    }

    /** Restarts the driver, which repairs its files when it starts. */
    List<String> restartDriver() {
        return List.of(
                "kubectl get pods -A --field-selector spec.nodeName="
                        + views.driver().node(),
                "# restart the driver's pod among them: kubectl -n NAMESPACE delete pod POD");
    }

    /** Lets the driver clean up. */
    List<String> awaitDriver() {
        List<String> lines = new ArrayList<>();
        lines.add("# the driver unprepares it ten minutes after the claim is gone, if it runs; if it"
                + " does not, start it:");
        lines.add("kubectl get pods -A --field-selector spec.nodeName="
                + views.driver().node());
        return lines;
    }
}
