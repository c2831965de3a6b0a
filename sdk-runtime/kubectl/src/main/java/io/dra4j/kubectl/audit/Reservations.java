// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.kubectl.read.Snapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Contradictions between claims and the pods that they are reserved for. */
final class Reservations {

    private final Map<String, ClaimInfo> claims;
    private final List<PodInfo> pods;
    private final Map<String, PodInfo> byName = new HashMap<>();

    Reservations(Snapshot snapshot, List<PodInfo> pods) {
        this.claims = new TreeMap<>(snapshot.claims());
        this.pods = pods;
        pods.forEach(pod -> byName.put(pod.fullName(), pod));
    }

    Result forNoPod() {
        List<Finding> findings = new ArrayList<>();
        claims.forEach((claim, info) -> {
            for (String pod : info.pods()) {
                String name = info.claim().namespace() + "/" + pod;
                PodInfo found = byName.get(name);
                if (found == null || found.ended()) {
                    findings.add(forNoPod(claim, name, found != null));
                }
            }
        });
        return Newest.result(findings, claims.size(), "claim");
    }

    private static Finding forNoPod(String claim, String pod, boolean hasEnded) {
        return new Finding(
                "reserved-for-no-pod",
                Severity.WARNING,
                "claim %s for pod %s".formatted(claim, pod),
                "the claim is reserved for the pod, which " + (hasEnded ? "has ended" : "does not exist"),
                "its devices are not free for others",
                List.of(
                        "# kube-controller-manager removes it within a minute; if it stays, see"
                                + " whether that runs:",
                        "kubectl -n kube-system get pods -l component=kube-controller-manager"));
    }

    Result missing() {
        List<Finding> findings = new ArrayList<>();
        for (PodInfo pod : pods) {
            if (!pod.node().isEmpty() && !pod.ended()) {
                for (String claim : pod.claims()) {
                    ClaimInfo info = claims.get(pod.namespace() + "/" + claim);
                    if (info == null || !info.grouped() && !info.pods().contains(pod.name())) {
                        findings.add(missing(pod, claim, info != null));
                    }
                }
            }
        }
        return Newest.result(findings, pods.size(), "pod");
    }

    private static Finding missing(PodInfo pod, String claim, boolean exists) {
        return new Finding(
                "pod-not-reserved",
                Severity.ERROR,
                "pod %s with claim %s".formatted(pod.fullName(), claim),
                "it is placed on node %s, and the claim %s"
                        .formatted(pod.node(), exists ? "is not reserved for it" : "does not exist"),
                "the kubelet refuses to start it; a pod with spec.nodeName passes the scheduler by",
                List.of("kubectl -n %s delete pod %s".formatted(pod.namespace(), pod.name())));
    }
}
