// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.kubelet.PluginInfo;

/** How a driver registers with the kubelet, and stays registered. */
@Lane.On(Lane.CALLS)
final class RegistrationRules {

    private final Bench bench;

    RegistrationRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-REG-06")
    void aNewKubeletHearsTheSame() throws InterruptedException {
        PluginInfo before = bench.driver().info();
        bench.restartKubelet();
        Violation.unless(
                bench.kubelet().awaitRegistered(bench.place().driver(), bench.patience().soon()),
                "a new kubelet could not register the driver: %s",
                bench.kubelet().events());
        PluginInfo after = bench.driver().info();
        Violation.unless(before.equals(after), "GetInfo changed from %s to %s", before, after);
    }
}
