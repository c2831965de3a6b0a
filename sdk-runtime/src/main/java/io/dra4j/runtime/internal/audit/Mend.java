// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;

/** The commands that mend what an audit finds. */
final class Mend {

    private static final JsonMapper JSON = new JsonMapper();

    private final Views views;

    Mend(Views views) {
        this.views = views;
    }

    /** Deletes the pods of a claim, after which the kubelet unprepares it. */
    List<String> deletePods(ClaimRef ref) {
        List<String> pods =
                views.claims().isRead()
                        ? views.object(ref).map(Mend::reservedFor).orElse(List.of())
                        : List.of();
        String delete = "kubectl -n %s delete pod ".formatted(ref.namespace());
        return List.of(
                pods.isEmpty()
                        ? delete
                                + "$(kubectl -n %s get resourceclaim %s -o jsonpath='{.status.reservedFor[*].name}')"
                                        .formatted(ref.namespace(), ref.name())
                        : delete + String.join(" ", pods));
    }

    private static List<String> reservedFor(ClaimObject claim) {
        try {
            JsonNode users = JSON.readTree(claim.json()).path("status").path("reservedFor");
            return StreamSupport.stream(users.spliterator(), false)
                    .filter(user -> user.path("resource").asText().equals("pods"))
                    .map(user -> user.path("name").asText())
                    .toList();
        } catch (JsonProcessingException e) {
            return List.of();
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
                "kubectl get pods -A --field-selector spec.nodeName=" + views.driver().node(),
                "# restart the driver's pod among them: kubectl -n NAMESPACE delete pod POD");
    }

    /** Lets the driver clean up by itself. */
    List<String> awaitDriver() {
        List<String> lines = new ArrayList<>();
        lines.add(
                "# the driver unprepares it ten minutes after the claim is gone, if it runs; if it"
                        + " does not, start it:");
        lines.add("kubectl get pods -A --field-selector spec.nodeName=" + views.driver().node());
        return lines;
    }
}
