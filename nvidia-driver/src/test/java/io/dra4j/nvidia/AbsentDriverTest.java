// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A provider that is there before NVIDIA's driver, or while that is replaced. */
class AbsentDriverTest extends ProviderOnBoards {

    private static final String MIG = "gpu-0-mig-3g40gb-9-4";
    private static final int DRIVER_NOT_LOADED = 9;
    private static final int UNKNOWN = 999;

    private Path away;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder, "h100-80");
        hardware = node.state();
        away = folder.resolve("away");
    }

    /** Each test reads for itself. */
    @Override
    void readFirst(NvidiaDeviceProvider provider) {}

    private static AllocatedClaim claim(String device) {
        return AllocatedClaim.builder(new ClaimRef("default", "claim", "0b5c9d52-1111"))
                .devices(List.of(AllocatedDevice.builder("gpu", new PoolName("node-1"), new DeviceName(device))
                        .build()))
                .build();
    }

    /** A call may hang. */
    @Test
    void asksNothingOfNvmlBeforeTheFirstReading() {
        hardware.fails("nvmlDeviceGetCount_v2", NodeState.ALL, UNKNOWN, 2);

        NvidiaDeviceProvider provider = startAgain(true, false);

        assertThat(hardware.hasFailed(2)).isFalse();
        assertThatThrownBy(provider::inventory).isInstanceOf(NvmlException.class);
        assertThat(hardware.hasFailed(2)).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"true, No NVIDIA driver below", "false, Can't load"})
    void startsWithoutALibraryThatCanBeLoadedAndOffersTheDevicesWhenItAppears(boolean isAbsent, String reason)
            throws Exception {
        Path moved = isAbsent ? node.root() : node.library();
        Files.move(moved, away);
        if (!isAbsent) {
            Files.writeString(moved, "half of a library");
        }

        NvidiaDeviceProvider provider = startAgain(false, false);

        assertThatThrownBy(provider::inventory)
                .isInstanceOf(NvmlException.class)
                .hasMessageContaining(reason + " " + moved);
        assertThatThrownBy(() -> claims.prepare(provider, claim("gpu-0")))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining(reason + " " + moved);

        assertThat(provider.restartReason()).isEmpty();
        Files.move(away, moved, StandardCopyOption.REPLACE_EXISTING);

        assertThat(provider.inventory().pools().get(0).devices()).hasSize(8);
        assertThat(claims.prepare(provider, claim("gpu-0")).devices()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void unpreparesWhatHasEndedWithTheKernelsDriver(boolean hasLibrary) throws Exception {
        NvidiaDeviceProvider before = startAgain(true, false);
        before.inventory();
        AllocatedClaim claim = claim(MIG);
        claims.prepare(before, claim);
        before.close();
        assertThat(node.unload()).isZero();
        if (hasLibrary) {
            hardware.initFails(DRIVER_NOT_LOADED);
        } else {
            Files.move(node.root(), away);
        }
        NvidiaDeviceProvider provider = startAgain(true, false);
        assertThatThrownBy(provider::inventory).isInstanceOf(NvmlException.class);

        claims.unprepare(provider, claim.ref());

        assertThat(claims.held).isEmpty();
    }
}
