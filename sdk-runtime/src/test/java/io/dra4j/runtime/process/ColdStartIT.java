// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * GetInfo must answer within 1 s of the registration socket's appearance, class loading included:
 * the kubelet gives up then, and comes back later and later.
 */
@Tag("nightly")
@Tag("counts")
class ColdStartIT {

    private static final int STARTS = Boolean.getBoolean("dra4j.nightly") ? 20 : 2;

    @Test
    void theFirstGetInfoOfAColdJvmIsInTime() throws Exception {
        List<String> times = new ArrayList<>();
        start(new ArrayList<>()); // so that the kubelet, at least, is warm
        for (int i = 0; i < STARTS; i++) {
            start(times);
        }
        System.out.printf("%d cold starts, GetInfo answered %s%n", STARTS, times);
        assertThat(times).hasSize(STARTS);
    }

    private static void start(List<String> times) throws Exception {
        try (TestNode node = TestDriver.coldNode()) {
            node.start();
            node.awaitRegistered();
            node.kubelet().events(Kind.INFO, 0).forEach(event -> times.add(event.detail()));
            assertThat(node.kubelet().events(Kind.REGISTRATION_FAILED, 0))
                    .as("no attempt failed, so none took more than 1 s")
                    .isEmpty();
        }
    }
}
