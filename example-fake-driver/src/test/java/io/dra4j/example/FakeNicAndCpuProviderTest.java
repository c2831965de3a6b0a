// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.AttributeValue.OfString;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.example.FakeNicProvider.NetConfig;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The fake NICs, and the fake CPUs. */
class FakeNicAndCpuProviderTest {

    private static final String SHARE = "11111111-2222-4333-8444-555555555555";
    private static final String MAC = "02(:[0-9a-f]{2}){5}";

    private final FakeNicProvider provider = new FakeNicProvider("net.example.com", "node-a", 2);

    private static List<Device> devices(DeviceProvider of) throws Exception {
        return of.inventory().pools().get(0).devices();
    }

    private static String text(Device device, String attribute) {
        return ((OfString) device.attributes().get(attribute)).value();
    }

    @Nested
    class TheInventory {

        @Test
        void describesANic() throws Exception {
            Device nic = devices(provider).get(1);

            assertThat(devices(provider)).hasSize(2);
            assertThat(nic.name()).hasToString("nic-1");
            assertThat(nic.attributes())
                    .containsEntry("index", AttributeValue.of(1))
                    .containsEntry("ifName", AttributeValue.of("eth1"))
                    .containsEntry("model", AttributeValue.of("LATEST-NET-MODEL"))
                    .containsEntry("driverVersion", AttributeValue.version("1.0.0"));
            assertThat(text(nic, "mac")).matches(MAC);
            assertThat(text(nic, "uuid")).startsWith("net-");
        }

        @Test
        void letsClaimsShareANicAndItsBandwidth() throws Exception {
            Device nic = devices(provider).get(0);

            assertThat(nic.allowMultipleAllocations()).isTrue();
            assertThat(nic.capacities()).containsOnlyKeys("vfs", "ingressBandwidth", "egressBandwidth");
            assertThat(nic.capacities().get("egressBandwidth").requestPolicy().validRange())
                    .isEqualTo(new ValidRange(new Quantity("100M"), new Quantity("100G"), new Quantity("1M")));
            assertThat(nic.capacities().get("vfs").requestPolicy().validValues())
                    .containsExactly(Quantity.of(1));
        }

        @Test
        void givesEachNicAddressesOfItsOwnForever() throws Exception {
            Device nic = devices(provider).get(0);
            Device again = devices(new FakeNicProvider("n", "node-a", 1)).get(0);
            Device elsewhere = devices(new FakeNicProvider("n", "node-b", 1)).get(0);

            assertThat(text(again, "mac")).isEqualTo(text(nic, "mac"));
            assertThat(text(elsewhere, "mac")).isNotEqualTo(text(nic, "mac"));
            assertThat(text(devices(provider).get(1), "mac")).isNotEqualTo(text(nic, "mac"));
        }

        @Test
        void putsTheGpuAndTheNicOfOneNumberBelowOneRoot() throws Exception {
            List<Device> gpus = devices(new FakeGpuProvider("g", "node-a", 70));
            List<Device> nics = devices(new FakeNicProvider("n", "node-a", 70));
            String root = "resource.kubernetes.io/pcieRoot";
            String busId = "resource.kubernetes.io/pciBusID";

            for (int i = 0; i < gpus.size(); i++) {
                assertThat(text(gpus.get(i), root)).isEqualTo(text(nics.get(i), root));
                assertThat(text(gpus.get(i), root)).matches("pci[0-9a-f]{4}:[0-9a-f]{2}");
                assertThat(text(gpus.get(i), busId))
                        .matches("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]")
                        .isNotEqualTo(text(nics.get(i), busId));
            }
            assertThat(gpus).extracting(gpu -> text(gpu, root)).doesNotHaveDuplicates();
            assertThat(text(gpus.get(1), root)).isEqualTo("pci0000:04");
            assertThat(text(nics.get(65), busId)).isEqualTo("0001:06:00.0");
        }
    }

    @Nested
    class APreparedNic {

        @Test
        void showsItselfWithItsSettings() throws Exception {
            Map<String, Quantity> consumed = Map.of(
                    "vfs", Quantity.of(1),
                    "ingressBandwidth", new Quantity("10G"),
                    "egressBandwidth", new Quantity("500M"));

            Map<String, String> env = prepare(provider, claim().share("nic-1", SHARE, consumed))
                    .edits()
                    .env();

            assertThat(env)
                    .containsEntry("NET_DEVICE_1", "nic-1")
                    .containsEntry("NET_DEVICE_1_RESOURCE_CLAIM", "uid")
                    .containsEntry("NET_DEVICE_1_IFNAME", "eth1")
                    .containsEntry("NET_DEVICE_1_MTU", "1500")
                    .containsEntry("NET_DEVICE_1_INGRESS_RATE", "10000000000")
                    .containsEntry("NET_DEVICE_1_EGRESS_RATE", "500000000")
                    .doesNotContainKey("DRA_ADMIN_ACCESS");
            assertThat(env.get("NET_DEVICE_1_MAC")).matches(MAC);
        }

        @Test
        void showsAdminAccessToWhoHasIt() throws Exception {
            assertThat(prepare(provider, claim().adminAccess("nic-1")).edits().env())
                    .containsEntry("DRA_ADMIN_ACCESS", "true");
        }

        @Test
        void hasAnAddressForEachShare() throws Exception {
            List<String> addresses =
                    new ArrayList<>(List.of(text(devices(provider).get(1), "mac")));
            for (AllocatedClaims claim : List.of(claim().device("nic-1"), claim().share("nic-1", SHARE, Map.of()))) {
                addresses.add(prepare(provider, claim).edits().env().get("NET_DEVICE_1_MAC"));
            }

            assertThat(addresses).doesNotContainNull().doesNotHaveDuplicates();
        }

        @Test
        void reportsItsAddressesIfConfigured() throws Exception {
            PreparedDevice silent = prepare(provider, claim().share("nic-1", SHARE, Map.of()));
            PreparedDevice nic =
                    prepare(new ReportingNics(provider, "node-a"), claim().share("nic-1", SHARE, Map.of()));

            assertThat(silent.status()).isNull();
            assertThat(nic.edits()).isEqualTo(silent.edits());
            assertThat(nic.status().conditions())
                    .extracting(condition -> condition.type())
                    .containsExactly("Ready");
            NetworkData network = nic.status().networkData();
            assertThat(network.interfaceName()).isEqualTo("eth1");
            assertThat(network.hardwareAddress()).isEqualTo(nic.edits().env().get("NET_DEVICE_1_MAC"));
            assertThat(network.ips()).singleElement().asString().matches("10(\\.\\d{1,3}){3}/8");
        }

        private AllocatedClaims claim() throws Exception {
            return AllocatedClaims.of("net.example.com", provider);
        }

        private PreparedDevice prepare(DeviceProvider nics, AllocatedClaims claim) throws Exception {
            return nics.prepare(claim.build(), new RecordingClaimContext())
                    .devices()
                    .get(0);
        }
    }

    @Nested
    class TheConfig {

        @Test
        void hasTheUsualMtuByDefault() {
            assertThat(NetConfig.TYPE.normalize().apply(new NetConfig(null)).mtu())
                    .isEqualTo(1500);
        }

        @ParameterizedTest
        @CsvSource({"68,true", "9216,true", "67,false", "9217,false", "-1,false"})
        void hasLimits(int mtu, boolean valid) {
            assertThat(NetConfig.TYPE.validate().apply(new NetConfig(mtu)).isEmpty())
                    .isEqualTo(valid);
        }

        @Test
        void hasTheValidValuesInItsError() {
            assertThat(NetConfig.TYPE.validate().apply(new NetConfig(20)))
                    .containsExactly("invalid mtu: 20; write 68 to 9216");
        }
    }

    @Nested
    class Cpus {

        private static final String CPU = "cpu.example.com/cpu";
        private static final String SHARE = "11111111-2222-4333-8444-555555555555";

        private final FakeCpuProvider provider = new FakeCpuProvider("cpu.example.com", "node-a", 2, 16);

        @Test
        void offersNumaNodesOfWhichClaimsTakeWholeCores() {
            List<Device> devices = provider.inventory().pools().get(0).devices();

            assertThat(devices).extracting(d -> d.name().value()).containsExactly("numa-0", "numa-1");
            Device second = devices.get(1);
            assertThat(second.allowMultipleAllocations()).isTrue();
            assertThat(second.attributes())
                    .containsOnly(
                            entry("numaNodeID", AttributeValue.of(1)),
                            entry("resource.kubernetes.io/numaNode", AttributeValue.of(1)));
            Quantity one = Quantity.of(1);
            Quantity all = Quantity.of(16);
            assertThat(second.capacities()).containsOnlyKeys(CPU);
            assertThat(second.capacities().get(CPU).value()).isEqualTo(all);
            assertThat(second.capacities().get(CPU).requestPolicy())
                    .isEqualTo(RequestPolicy.range(one, new ValidRange(one, all, one)));
        }

        @Test
        void mapsItsCoresToTheAllocatableCpusOfTheNode() {
            Device numaNode = provider.inventory().pools().get(0).devices().get(0);

            NodeAllocatableResource cpu = numaNode.nodeAllocatableResources().get("cpu");
            assertThat(cpu.mapping()).isEqualTo(new NodeAllocatableResource.OfCapacity(CPU, Quantity.of(1)));
            assertThat(cpu.mayBeLeftOut()).isTrue();
            assertThat(SlicePreview.problems("cpu.example.com", provider.inventory()))
                    .isEmpty();
        }

        @ParameterizedTest
        @ValueSource(strings = {CPU, "cpu"})
        void setsTheNumberOfCores(String capacity) throws Exception {
            PreparedClaim prepared = prepare(false, capacity);

            assertThat(prepared.edits().env())
                    .containsExactly(
                            entry("KUBERNETES_NODE_NAME", "node-a"),
                            entry("DRA_RESOURCE_DRIVER_NAME", "cpu.example.com"));
            assertThat(prepared.devices().get(0).edits().env())
                    .containsExactly(
                            entry("CPU_DEVICE_1", "numa-1"),
                            entry("CPU_DEVICE_1_RESOURCE_CLAIM", "uid"),
                            entry("CPU_DEVICE_1_CONSUMED_CPU", "3"));
        }

        @Test
        void showsAdminAccessToWhoHasIt() throws Exception {
            assertThat(prepare(true, CPU).devices().get(0).edits().env()).containsEntry("DRA_ADMIN_ACCESS", "true");
        }

        @Test
        void hasNothingToConfigure() {
            assertThat(provider.configTypes()).isEmpty();
        }

        private PreparedClaim prepare(boolean adminAccess, String capacity) throws Exception {
            AllocatedClaims claim = AllocatedClaims.of("cpu.example.com", provider);
            if (adminAccess) {
                claim.adminAccess("numa-1");
            } else {
                claim.share("numa-1", SHARE, Map.of(capacity, Quantity.of(3)));
            }
            return provider.prepare(claim.build(), new RecordingClaimContext());
        }
    }
}
