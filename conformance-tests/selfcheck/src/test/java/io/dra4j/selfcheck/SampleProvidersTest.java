// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.health.HealthState;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.HeldClaims;
import io.dra4j.test.RecordingClaimContext;
import io.dra4j.test.RecordingDriverContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The samples of the page about providers do what the page says. */
class SampleProvidersTest {

    @Nested
    class Fpgas {

        private static final String DRIVER = "fpga.example.com";

        @TempDir
        Path root;

        private final RecordingDriverContext context = new RecordingDriverContext(DRIVER, "node-a");

        @AutoClose
        private SampleFpgaProvider provider;

        @BeforeEach
        void start() throws Exception {
            add("fpga-0", "S0");
            provider = new SampleFpgaProvider("node-a", root);
            provider.start(context);
        }

        private void add(String name, String serial) throws IOException {
            Path directory = Files.createDirectory(root.resolve(name));
            Files.writeString(directory.resolve("serial"), serial);
            Files.writeString(directory.resolve("image"), "golden");
        }

        private AllocatedClaims claim() throws Exception {
            return AllocatedClaims.of(DRIVER, provider).device("fpga-0");
        }

        private String image() throws IOException {
            return Files.readString(root.resolve("fpga-0/image"));
        }

        @Test
        void itsInventoryCanBePublished() throws Exception {
            assertThat(SlicePreview.problems(provider.inventory())).isEmpty();
            assertThat(provider.inventory().pools().get(0).devices()).hasSize(1);
        }

        @Test
        void aCardWithoutASerialNumberIsLeftOut() throws Exception {
            add("fpga-1", "");

            assertThat(provider.inventory().leftOut())
                    .containsExactly(new LeftOut("fpga-1", "The card reports no serial number; reseat it"));
            assertThat(provider.inventory().pools().get(0).devices()).hasSize(1);
        }

        @Test
        void aConfigurationIsCompletedAndProgrammed() throws Exception {
            AllocatedClaim claim = claim().config(
                            "{apiVersion: fpga.example.com/v1alpha1, kind: Bitstream, image: aes}")
                    .build();

            PreparedClaim prepared = provider.prepare(claim, new RecordingClaimContext());

            assertThat(prepared.devices().get(0).edits().env()).containsEntry("FPGA_0_IMAGE", "aes");
            assertThat(image()).isEqualTo("aes");
        }

        @Test
        void aNameThatIsNoneIsRefused() throws Exception {
            AllocatedClaims claim =
                    claim().config("{apiVersion: fpga.example.com/v1alpha1, kind: Bitstream, image: ../x}");

            assertThatThrownBy(claim::build).hasMessageContaining("image must be a name");
        }

        @Test
        void whatWasThereBeforeComesBackAfterACrash() throws Exception {
            AllocatedClaim claim = claim().build();
            RecordingClaimContext kept = new RecordingClaimContext();
            provider.prepare(claim, kept);
            assertThat(image()).isEqualTo("blank");

            provider.unprepare(HeldClaims.interrupted(claim, kept), new RecordingClaimContext());

            assertThat(image()).isEqualTo("golden");
        }

        @Test
        void anFpgaThatAnotherClaimMayUseIsNotProgrammed() throws Exception {
            AllocatedClaim claim =
                    AllocatedClaims.of(DRIVER, provider).adminAccess("fpga-0").build();

            assertThatThrownBy(() -> provider.prepare(claim, new RecordingClaimContext()))
                    .hasMessageContaining("admin access");
            assertThat(image()).isEqualTo("golden");
        }

        @Test
        void anFpgaWhoseRecordIsLostIsBlanked() throws Exception {
            Files.writeString(root.resolve("fpga-0/image"), "secret");

            HeldClaim damaged = HeldClaims.builder(claim().build())
                    .phase(HeldClaim.Phase.DAMAGED)
                    .build();
            provider.unprepare(damaged, new RecordingClaimContext());

            assertThat(image()).isEqualTo("blank");
        }

        @Test
        void aDeviceThatComesIsNoticed() throws Exception {
            add("fpga-1", "S1");

            assertThat(context.awaitInventoryChanges(1, Duration.ofSeconds(30))).isTrue();
        }

        @Test
        void theMeterHasThePowerOfACardThatMeasuresIt() throws Exception {
            HeldDevice fpga = HeldDevice.builder("fpga", new PoolName("node-a"), new DeviceName("fpga-0"))
                    .physicalId("S0")
                    .build();
            HeldClaim claim = HeldClaim.builder(new ClaimRef("ns", "claim", "uid"))
                    .phase(HeldClaim.Phase.PREPARED)
                    .device(fpga)
                    .build();

            assertThat(provider.meter().measure(claim, fpga).values()).isEmpty();
            Files.writeString(root.resolve("fpga-0/milliwatts"), "12500\n");
            assertThat(provider.meter().measure(claim, fpga).values())
                    .containsExactly(entry(DeviceMeasure.POWER, 12.5));
            assertThat(provider.meter().measure(claim, fpga).uuid()).isEqualTo("S0");
        }
    }

    @Nested
    class Nics {

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

            PreparedDevice prepared = provider.prepare(claim, new RecordingClaimContext())
                    .devices()
                    .get(0);
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
}
