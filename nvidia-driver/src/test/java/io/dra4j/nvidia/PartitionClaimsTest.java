// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.fabric.FabricManager;
import io.dra4j.nvidia.health.HealthPolicy.ErrorWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PartitionClaimsTest extends ProviderOnBoards {

    private final AtomicInteger looks = new AtomicInteger(); // for NVSwitches

    @Override
    FabricManager fabricManager() {
        return new FabricManager(() -> looks.incrementAndGet() < 0, () -> Path.of("none"), "localhost");
    }

    /** The VPD of a network adapter, which shows the NVSwitches behind it, takes long to read. */
    @Test
    void nvswitchesAreLookedForOncePerReading() throws Exception {
        watch = ErrorWatch.never;
        rescan = Duration.ofHours(1);
        install("h100-80");
        provider.inventory();
        int before = looks.get();

        claims.prepare(provider, claim(ONE, "", "gpu-0", "gpu-1"));
        claims.unprepare(provider, ONE);
        assertThat(looks).hasValue(before);

        provider.inventory();
        assertThat(looks).hasValue(before + 1);
    }
}
