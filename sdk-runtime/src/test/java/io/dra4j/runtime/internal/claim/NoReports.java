// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.cluster.ClaimStatuses;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** The reports of providers that report nothing: nothing is sent to the cluster. */
final class NoReports implements ClaimStatuses {

    private NoReports() {}

    static ClaimReports in(Path directory) {
        return new ClaimReports(
                new ClaimReports.Parts(
                        "gpu.example.com",
                        "node",
                        directory,
                        ref -> Optional.empty(),
                        new NoReports(),
                        List.of("v1beta1"),
                        Clock.systemUTC()),
                new ManualLoop());
    }

    @Override
    public void apply(ClaimRef claim, String fieldManager, List<String> devices) {
        throw new AssertionError("nothing was reported");
    }

    @Override
    public boolean exists(ClaimRef claim) {
        throw new AssertionError("nothing was reported");
    }
}
