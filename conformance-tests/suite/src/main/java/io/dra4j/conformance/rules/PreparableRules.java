// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A rule that published devices can be prepared. */
@ExecutionGroup.On(ExecutionGroup.SLICES)
record PreparableRules(TestContext context) {

    /** A claim has room for 32; fewer leave room for slow drivers in the kubelet's 45 s. */
    private static final int AT_A_TIME = 8;

    @Rule("DRA-SLICE-19")
    void everyPublishedDeviceCanBePrepared() {
        List<PublishedDevice> together = context.devices().usable();
        List<PublishedDevice> alone = new ArrayList<>(context.devices().all());
        alone.removeIf(d -> together.contains(d) || d.isTainted() || d.isBound());
        if (together.isEmpty() && alone.isEmpty()) {
            context.devices().one(); // which reports why there is none
        }
        if (context.devices().areShaped()) {
            together.forEach(device -> prepare(List.of(device)));
            alone.removeIf(device -> Reported.names(together).contains(device.toString()));
            context.remark(remark(together, alone));
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
        KubeletClaim claim = context.claims().allocate(devices);
        CallResult result = context.calls().prepare(claim);
        if (result.complaint().isPresent() && devices.size() > 1) {
            context.calls().unprepared(claim);
            devices.forEach(device -> prepare(List.of(device))); // which of them is it?
            return;
        }
        Violation.ifPresent(
                result.complaint(),
                "the published device %s can't be prepared under this pool and name: %s",
                devices.get(0));
        ClaimResult answer = result.results().get(claim.uid());
        Set<String> answered = Reported.names(answer);
        for (String device : Reported.names(devices)) {
            Violation.unless(answered.contains(device))
                    .because(
                            "the device %s was published and prepared, and the answer names %s instead",
                            device, answered);
        }
        context.calls().unprepared(claim);
    }
}
