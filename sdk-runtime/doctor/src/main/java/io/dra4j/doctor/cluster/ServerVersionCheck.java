// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Release;
import java.util.List;
import java.util.Optional;

/** Checks that the API server serves {@code resource.k8s.io/v1}. */
record ServerVersionCheck(ClusterView cluster) implements Check {

    private static final String API = "resource.k8s.io/v1";

    @Override
    public String id() {
        return "server-version";
    }

    @Override
    public CheckResult look() {
        String version = cluster.find("version")
                .map(one -> one.path("gitVersion").asText())
                .filter(text -> !text.isEmpty())
                .orElseThrow(() -> new NotCheckedException("the server has no /version"));
        Optional<Release> release = Release.of(version);
        if (cluster.find("apis/" + API).filter(ServerVersionCheck::hasSlices).isPresent()) {
            return new CheckResult(
                    "Kubernetes %s serves %s".formatted(version, API),
                    release.filter(Release::isNewerThanKnown).map(this::unknown).stream()
                            .toList());
        }
        return CheckResult.found(new Finding(
                id(),
                Severity.ERROR,
                "API server",
                "Kubernetes %s does not serve %s".formatted(version, API),
                "drivers can't publish devices, and pods with claims are refused",
                isBefore(release, KubernetesVersion.V1_34)
                        ? upgrade()
                        : enable(isBefore(release, KubernetesVersion.V1_35))));
    }

    private Finding unknown(Release release) {
        return new Finding(
                id(),
                Severity.WARNING,
                "API server",
                "Kubernetes %s is newer than this program knows".formatted(release),
                "it is treated as 1.%d; rules, fields and feature gates that are new are not known"
                        .formatted(release.nearest().minor()),
                List.of("# update the driver, and kubectl dra, to a version that knows Kubernetes " + release));
    }

    private static boolean hasSlices(JsonNode group) {
        for (JsonNode one : group.path("resources")) {
            if (one.path("name").asText().equals("resourceslices")) {
                return true;
            }
        }
        return false;
    }

    private static List<String> upgrade() {
        return List.of(
                "# upgrade the control plane to Kubernetes 1.34 or newer, then the kubelets",
                "kubectl api-resources --api-group=resource.k8s.io");
    }

    private static boolean isBefore(Optional<Release> release, KubernetesVersion first) {
        return release.filter(one -> one.isBefore(1, first.minor())).isPresent();
    }

    /** The gate is locked from 1.35 on, and does not exist from 1.38 on (#141946). */
    private static List<String> enable(boolean hasGate) {
        return List.of(
                "# remove resource.k8s.io/v1=false from --runtime-config of kube-apiserver"
                        + (hasGate ? ", and DynamicResourceAllocation=false from --feature-gates" : ""),
                "kubectl api-resources --api-group=resource.k8s.io");
    }
}
