// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Inventory;
import io.dra4j.nvidia.standin.Await;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A provider that is suspended leaves the GPUs to an admin. */
class SuspensionTest extends ProviderOnBoards {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** Some intervals of the watch. */
    private static final long WHILE = Duration.ofMillis(800).toNanos();

    private static final int SUCCESS = 0;

    private boolean hasSession() throws IOException {
        return node.hasSession(ProcessHandle.current().pid());
    }

    private void assertLeftAlone() throws IOException {
        for (long end = System.nanoTime() + WHILE; System.nanoTime() < end; ) {
            assertThat(hasSession()).isFalse();
        }
    }

    @Test
    void gpusCanBeResetUntilItResumes() throws Exception {
        NvidiaDeviceProvider provider = start("l40s", false);
        Inventory before = provider.inventory();
        Await.until("the session for events", LIMIT, this::hasSession);

        provider.suspend();

        assertLeftAlone();
        assertThat(node.administrator().reset(0)).isEqualTo(SUCCESS);
        assertThat(provider.restartReason()).isEmpty();
        provider.resume();
        assertThat(provider.inventory()).isEqualTo(before);
        Await.until("the session for events", LIMIT, this::hasSession);
    }

    @Test
    void aSecondMaintenanceIsAsTheFirst() throws Exception {
        NvidiaDeviceProvider provider = start("mixed", true);
        for (int i = 0; i < 2; i++) {
            provider.suspend();
            assertLeftAlone();
            provider.resume();
            Await.until("the session for events", LIMIT, this::hasSession);
        }
    }
}
