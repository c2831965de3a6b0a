// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What is published can be had. */
@Lane.On(Lane.SLICES)
final class PreparableRules {

    /** A claim has room for 32; fewer leave room for slow drivers in the kubelet's 45 s. */
    private static final int AT_A_TIME = 8;

    private final Bench bench;

    PreparableRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-SLICE-19")
    void everyPublishedDeviceCanBePrepared() {
        List<PublishedDevice> together = bench.devices().usable();
        List<PublishedDevice> alone = new ArrayList<>(bench.devices().all());
        alone.removeIf(d -> together.contains(d) || d.isTainted() || d.isBound());
        if (together.isEmpty() && alone.isEmpty()) {
            bench.devices().one(); // which says why there is none
        }
        if (bench.devices().areShaped()) {
            together.forEach(device -> prepare(List.of(device)));
            alone.removeIf(device -> Reported.names(together).contains(device.toString()));
            bench.remark(remark(together, alone));
            return;
        }
        for (int from = 0; from < together.size(); from += AT_A_TIME) {
            prepare(together.subList(from, Math.min(together.size(), from + AT_A_TIME)));
        }
        alone.forEach(device -> prepare(List.of(device)));
    }

    private static String remark(List<PublishedDevice> tried, List<PublishedDevice> others) {
        return "by %d claims of the shape in driver.claims%s"
                .formatted(
                        tried.size(),
                        others.isEmpty() ? "" : ", which leave out the devices " + others);
    }

    private void prepare(List<PublishedDevice> devices) {
        KubeletClaim claim = bench.claims().create(bench.claims().draft().request("r0", devices));
        CallResult result = bench.calls().prepare(claim);
        if (result.complaint().isPresent() && devices.size() > 1) {
            bench.calls().unprepared(claim);
            devices.forEach(device -> prepare(List.of(device))); // which of them is it?
            return;
        }
        result.complaint()
                .ifPresent(
                        complaint -> {
                            throw new Violation(
                                    "the published device %s can't be prepared under this pool and name: %s"
                                            .formatted(devices.get(0), complaint));
                        });
        ClaimAnswer answer = result.answers().get(claim.uid());
        Set<String> answered = Reported.names(answer);
        for (String device : Reported.names(devices)) {
            Violation.unless(
                    answered.contains(device),
                    "the device %s was published and prepared, and the answer names %s instead",
                    device,
                    answered);
        }
        bench.calls().unprepared(claim);
    }
}
