// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.util.List;

/** Checks that the API server serves the API of devices. */
record ServerVersion(ClusterView cluster) implements Check {

    private static final String API = "resource.k8s.io/v1";

    @Override
    public String id() {
        return "server-version";
    }

    @Override
    public Result look() {
        String version = cluster.find("version")
                .map(one -> one.path("gitVersion").asText())
                .filter(text -> !text.isEmpty())
                .orElseThrow(() -> new NotCheckedException("the server has no /version"));
        if (cluster.find("apis/" + API).filter(ServerVersion::hasSlices).isPresent()) {
            return Result.healthy("Kubernetes %s serves %s".formatted(version, API));
        }
        boolean old = Release.of(version).filter(Release::isWithoutDra).isPresent();
        return new Result(
                "",
                List.of(new Finding(
                        id(),
                        Severity.ERROR,
                        "API server",
                        "Kubernetes %s does not serve %s".formatted(version, API),
                        "drivers can't publish devices, and pods with claims are refused",
                        old ? upgrade() : enable())));
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

    private static List<String> enable() {
        return List.of(
                "# remove resource.k8s.io/v1=false from --runtime-config of kube-apiserver, and"
                        + " DynamicResourceAllocation=false from --feature-gates",
                "kubectl api-resources --api-group=resource.k8s.io");
    }
}
