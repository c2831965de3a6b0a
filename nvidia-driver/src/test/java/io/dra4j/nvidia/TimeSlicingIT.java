// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Time slices of a driver that is killed in a call of nvidia-smi. */
@Tag("gate")
class TimeSlicingIT extends SharingCrashes {

    private static final String LONG = "{strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}";
    private static final int CALLS = 4; // compute mode, time slices before and now, and their reset

    @Override
    void assertNothingIsLeft() throws Exception {
        assertThat(smi.slice(gpu)).isZero();
        assertIsEmpty("time-slices");
    }

    @Test
    void areResetAfterAKillThatTheySurvived() throws Exception {
        start();

        crash(LONG, 3, false);
    }

    @Test
    @Tag("nightly")
    void areResetAfterAKillInAnyCall() throws Exception {
        start();

        for (int call = 1; call <= CALLS; call++) {
            crash(LONG, call, true);
            crash(LONG, call, false);
        }
    }
}
