// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import io.dra4j.test.RecordingDriverContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The second sample of the page about providers does what the page says. */
class SampleNicProviderTest {

    private static final String DRIVER = "nic.example.com";

    @TempDir
    Path root;

    private final RecordingDriverContext context = new RecordingDriverContext(DRIVER, "node-a");

    @BeforeEach
    void addCards() throws IOException {
        Files.createDirectory(root.resolve("nic-0"));
        Files.createDirectory(root.resolve("nic-1"));
    }

    private SampleNicProvider provider(SampleNicProvider.Mode mode) {
        return new SampleNicProvider("node-a", root, mode);
    }

    @ParameterizedTest
    @CsvSource({"SHARED, 2", "PARTITIONED, 34", "FABRIC, 2"})
    void eachInventoryCanBePublished(SampleNicProvider.Mode mode, int devices) throws Exception {
        Inventory inventory = provider(mode).inventory();

        assertThat(SlicePreview.problems(inventory)).isEmpty();
        assertThat(inventory.pools().get(0).devices()).hasSize(devices);
    }

    @Test
    void aShareHasItsBandwidthAndReportsItsLink() throws Exception {
        SampleNicProvider provider = provider(SampleNicProvider.Mode.SHARED);
        provider.start(context);
        AllocatedClaim claim = AllocatedClaims.of(DRIVER, provider)
                .share("nic-0", "0e55b3a4-7c0f-4dd2-b9c6-2f1a9f0d8f11", Map.of("bandwidth", new Quantity("5G")))
                .build();

        PreparedDevice prepared =
                provider.prepare(claim, new RecordingClaimContext()).devices().get(0);
        provider.linkIsUp(claim.ref(), claim.devices().get(0).held());
        provider.close();

        assertThat(prepared.edits().env()).containsEntry("NIC_BANDWIDTH", "5G");
        assertThat(prepared.status().conditions().get(0).status()).isEqualTo(ConditionStatus.UNKNOWN);
        DeviceStatus later = context.statuses().get(0).status();
        assertThat(later.conditions().get(0).status()).isEqualTo(ConditionStatus.TRUE);
        assertThat(later.networkData().ips()).containsExactly("10.40.0.10/24");
    }

    @Test
    void aFaultIsReported() throws Exception {
        Files.writeString(root.resolve("nic-1/fault"), "no signal\n");
        SampleNicProvider provider = provider(SampleNicProvider.Mode.SHARED);

        provider.start(context);
        provider.close();

        assertThat(context.health("nic-0").orElseThrow().state()).isEqualTo(HealthState.HEALTHY);
        assertThat(context.health("nic-1").orElseThrow().message()).isEqualTo("no signal");
    }
}
