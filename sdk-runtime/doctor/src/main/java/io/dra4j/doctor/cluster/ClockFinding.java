// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Severity;
import java.time.Duration;
import java.util.List;

/** A clock that disagrees with the API server's. */
final class ClockFinding {

    private ClockFinding() {}

    static Finding of(String object, Duration ahead) {
        return new Finding(
                "clock",
                Severity.WARNING,
                object,
                "its clock is %d s %s the API server's"
                        .formatted(ahead.abs().toSeconds(), ahead.isNegative() ? "behind" : "ahead of"),
                "tokens and certificates are not yet valid or have expired, so the driver loses the API server; times of taints and Events are wrong",
                List.of("chronyc tracking", "sudo systemctl enable --now chronyd && sudo chronyc makestep"));
    }
}
