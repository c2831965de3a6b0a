// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.cluster.ClusterApi.Answer;
import java.util.List;

/** Checks by a dry run that no admission policy or webhook refuses the driver's slices. */
record Admission(ClusterView cluster) implements Check {

    @Override
    public String id() {
        return "admission";
    }

    @Override
    public CheckResult look() {
        Answer answer = cluster.create(ClusterView.SLICES + "?dryRun=All", slice());
        String message = answer.body().path("message").asText("no message");
        if (answer.status() / 100 == 2) {
            return CheckResult.healthy("a slice of %s would be admitted".formatted(cluster.node()));
        }
        if (answer.status() == 404 || message.contains("cannot create resource")) {
            throw new NotCheckedException("slices can't be created at all: " + message);
        }
        if (message.contains("dry run")) {
            throw new NotCheckedException(message);
        }
        return CheckResult.found(finding(answer.status(), message));
    }

    private ObjectNode slice() {
        ObjectNode slice = JsonNodeFactory.instance
                .objectNode()
                .put("apiVersion", "resource.k8s.io/v1")
                .put("kind", "ResourceSlice");
        slice.putObject("metadata").put("generateName", "dra-doctor-");
        ObjectNode spec =
                slice.putObject("spec").put("driver", cluster.driver()).put("nodeName", cluster.node());
        spec.putObject("pool").put("name", cluster.node()).put("generation", 1).put("resourceSliceCount", 1);
        spec.putArray("devices").addObject().put("name", "doctor");
        return slice;
    }

    private Finding finding(int status, String message) {
        return new Finding(
                id(),
                Severity.ERROR,
                "resourceslices",
                "a slice of %s for %s would be refused (%d): %s"
                        .formatted(cluster.driver(), cluster.node(), status, message),
                "the driver publishes nothing, and its pods look healthy",
                List.of(
                        "kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings,validatingwebhookconfigurations",
                        "# exempt the driver's ServiceAccount in the policy that the message names; one of a"
                                + " chart of dra4j wants a token with the node's name: run doctor in the driver's pod"));
    }
}
