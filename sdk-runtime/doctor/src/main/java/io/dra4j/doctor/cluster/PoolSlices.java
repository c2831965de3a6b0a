// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.util.ArrayList;
import java.util.List;

/** Checks that each pool has all slices of its newest generation: the scheduler waits for them. */
record PoolSlices(ClusterView cluster) implements Check {

    @Override
    public String id() {
        return "pool-incomplete";
    }

    @Override
    public Result look() {
        List<List<SliceFacts>> pools = cluster.pools();
        List<Finding> findings = new ArrayList<>();
        for (List<SliceFacts> slices : pools) {
            long newest =
                    slices.stream().mapToLong(SliceFacts::generation).max().orElse(0);
            List<SliceFacts> current =
                    slices.stream().filter(one -> one.generation() == newest).toList();
            if (current.size() < current.get(0).slicesOfPool()) {
                findings.add(finding(current));
            }
        }
        return new Result(Words.number(pools.size(), "pool") + ", all complete", findings);
    }

    private Finding finding(List<SliceFacts> current) {
        SliceFacts one = current.get(0);
        return new Finding(
                id(),
                Severity.ERROR,
                "pool/" + one.pool(),
                "the driver %s has published %d of the %d slices of generation %d"
                        .formatted(one.driver(), current.size(), one.slicesOfPool(), one.generation()),
                "the scheduler allocates nothing of a pool that is incomplete; pods wait",
                List.of(
                        one.node().isEmpty()
                                ? "kubectl get events --field-selector involvedObject.kind=Node"
                                : "kubectl get events --field-selector involvedObject.kind=Node,involvedObject.name="
                                        + one.node(),
                        "# and the log of the driver's pod: it says which slice is refused, and why"));
    }
}
