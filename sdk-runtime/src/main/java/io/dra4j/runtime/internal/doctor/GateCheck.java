// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.doctor;

import io.dra4j.api.device.PoolName;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.publish.plan.CounterLayout;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.FeatureProbe;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Checks by dry runs that the API server keeps what the driver's options need.
 *
 * @param needed the feature gate of Kubernetes that each option needs
 */
record GateCheck(SliceStore store, String node, Map<String, String> needed) implements Check {

    @Override
    public String id() {
        return "feature-gates";
    }

    @Override
    public Result look() {
        List<Finding> findings = new ArrayList<>();
        needed.forEach((option, gate) -> {
            if (!isOn(gate)) {
                findings.add(finding(option, gate));
            }
        });
        return new Result(
                needed.isEmpty()
                        ? "no option needs one"
                        : "on: "
                                + String.join(
                                        ", ", needed.values().stream().sorted().toList()),
                findings);
    }

    private boolean isOn(String gate) {
        Feature feature = Arrays.stream(Feature.values())
                .filter(one -> one.gate().name().equals(gate))
                .findFirst()
                .orElseThrow();
        try {
            return FeatureProbe.isKept(feature, store, new PoolName(node), this::layout);
        } catch (ClusterException e) {
            throw new NotCheckedException(String.valueOf(e.getMessage()), e);
        }
    }

    private CounterLayout layout() {
        int minor = store.kubernetesMinor().orElse(Integer.MAX_VALUE);
        return CounterLayout.of(KubernetesVersion.nearest(minor));
    }

    private Finding finding(String option, String gate) {
        return new Finding(
                id(),
                Severity.ERROR,
                "API server",
                "its feature gate %s is off, and the driver runs with %s".formatted(gate, option),
                "the server drops these fields of slices without an error; devices that need them are"
                        + " not published",
                List.of(
                        "# add %s=true to --feature-gates of kube-apiserver, kube-scheduler and".formatted(gate)
                                + " kube-controller-manager, and restart them; or start the driver without "
                                + option,
                        "kubectl get --raw /metrics | grep 'kubernetes_feature_enabled{name=\"%s\"'".formatted(gate)));
    }
}
