// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class ClaimsTest {

    private static final String MANIFEST = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata:
              name: crypto
            spec:
              devices:
                requests:
                - name: board
                  firstAvailable:
                  - name: fast
                    deviceClassName: fast.example.com
                config:
                - requests: [board]
                  opaque:
                    driver: fpga.example.com
                    parameters:
                      apiVersion: fpga.example.com/v1
                      kind: Clock
                      megahertz: 200
            """;

    private final Boards boards = new Boards("node-a");

    private AllocatedClaims claims() throws Exception {
        return AllocatedClaims.of(Boards.DRIVER, boards);
    }

    @Nested
    class AnAllocatedClaim {

        @Test
        void hasDevicesAndDefaults() throws Exception {
            AllocatedClaim claim = claims().device("fpga-0").build();

            assertThat(claim.ref()).isEqualTo(new ClaimRef("default", "claim", "uid"));
            AllocatedDevice device = claim.devices().get(0);
            assertThat(device.pool()).hasToString("node-a");
            assertThat(device.request()).isEqualTo("devices");
            assertThat(device.deviceClass()).isEqualTo(Boards.DRIVER);
            assertThat(device.config(Boards.CLOCK).value()).isEqualTo(new Boards.Clock(100));
            assertThat(device.config(Boards.CLOCK).source()).isEqualTo(ConfigSource.DEFAULT);
        }

        @Test
        void hasConfigurationsOfClassAndClaim() throws Exception {
            String clock = "{apiVersion: fpga.example.com/v1, kind: Clock, megahertz: %d}";

            AllocatedClaims claims = claims().named("team-a", "crypto", "u-1")
                    .device("fpga-0")
                    .config(clock.formatted(400), "others")
                    .classConfig(clock.formatted(100))
                    .classConfig(clock.formatted(200), "devices");

            assertThat(claims.build().devices().get(0).config(Boards.CLOCK).value())
                    .isEqualTo(new Boards.Clock(200));
            AllocatedClaim claim = claims.config(clock.formatted(300)).build();

            assertThat(claim.ref()).isEqualTo(new ClaimRef("team-a", "crypto", "u-1"));
            assertThat(claim.devices().get(0).config(Boards.CLOCK).value()).isEqualTo(new Boards.Clock(300));
        }

        @Test
        void hasSharesAndAdminAccess() throws Exception {
            AllocatedClaim claim = claims().share("fpga-1", "share-1", Map.of("luts", new Quantity("10")))
                    .adminAccess("fpga-0")
                    .build();

            assertThat(claim.devices().get(0).shareId()).isEqualTo("share-1");
            assertThat(claim.devices().get(0).consumedCapacity())
                    .containsExactly(Map.entry("luts", new Quantity("10")));
            assertThat(claim.devices().get(0).adminAccess()).isFalse();
            assertThat(claim.devices().get(1).adminAccess()).isTrue();
        }

        @Test
        void isAllocatedAsASchedulerDoes() throws Exception {
            String amount = "adminAccess: true, capacity: {requests: {luts: 150}}";

            AllocatedDevice device = claims().yaml(MANIFEST.replace(
                            "firstAvailable:\n      - name: fast\n        deviceClassName: fast.example.com",
                            "exactly: {deviceClassName: fast.example.com, " + amount + "}"))
                    .device("fpga-1")
                    .build()
                    .devices()
                    .get(0);

            assertThat(device.shareId()).hasSize(36);
            assertThat(device.adminAccess()).isTrue();
            assertThat(device.consumedCapacity()).containsExactly(Map.entry("luts", new Quantity("200")));
        }

        @Test
        void isReadFromAManifest() throws Exception {
            AllocatedClaim claim = claims().yaml(MANIFEST).device("fpga-0").build();

            assertThat(claim.ref().name()).isEqualTo("crypto");
            AllocatedDevice device = claim.devices().get(0);
            assertThat(device.request()).isEqualTo("board");
            assertThat(device.subrequest()).isEqualTo("fast");
            assertThat(device.deviceClass()).isEqualTo("fast.example.com");
            assertThat(device.config(Boards.CLOCK).value()).isEqualTo(new Boards.Clock(200));
        }

        @Test
        void isRefusedInTheWordsOfTheRuntime() throws Exception {
            String bad = MANIFEST.replace("200", "900");

            assertThatThrownBy(() -> claims().yaml(bad).device("fpga-0").build())
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContaining("megahertz must be at most 500");
            assertThatThrownBy(() -> claims().build())
                    .isInstanceOf(PrepareException.class)
                    .hasMessage("the claim is not allocated");
            assertThatThrownBy(() -> claims().device("fpga-7"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("The inventory has no device fpga-7");
        }

        @Test
        void isNeverReadFromAnythingElse() {
            assertThatThrownBy(() -> claims().yaml("just words"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("The claim is not an object: just words");
            assertThatThrownBy(() -> claims().config("{"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("The configuration is neither YAML nor JSON: ");
        }
    }

    @Nested
    class AHeldClaim {

        @Test
        void isWhatWasPrepared() throws Exception {
            AllocatedClaim claim = claims().device("fpga-0").build();
            PreparedClaim prepared = boards.prepare(claim, new RecordingClaimContext());

            HeldClaim held = HeldClaims.prepared(claim, prepared);

            assertThat(held.ref()).isEqualTo(claim.ref());
            assertThat(held.phase()).isEqualTo(Phase.PREPARED);
            assertThat(held.devices()).containsExactly(claim.devices().get(0).held());
            assertThat(held.state()).isEqualTo(new ProviderState(1, "\"done\""));
        }

        @Test
        void hasTheLastCheckpointOfAnInterruptedPrepare() throws Exception {
            AllocatedClaim claim = claims().device("fpga-0").device("fpga-1").build();
            RecordingClaimContext context = new RecordingClaimContext();
            assertThatThrownBy(() -> boards.prepare(claim, context)).hasMessage("one board at a time");

            HeldClaim held = HeldClaims.interrupted(claim, context);

            assertThat(held.phase()).isEqualTo(Phase.PREPARING);
            assertThat(held.devices()).hasSize(2);
            assertThat(held.state()).isEqualTo(new ProviderState(1, "\"begun\""));
            assertThat(HeldClaims.prepared(claim, PreparedClaim.empty(), context)
                            .state())
                    .isEqualTo(held.state());
            assertThat(HeldClaims.interrupted(claim, new RecordingClaimContext())
                            .state())
                    .isNull();
        }
    }
}
