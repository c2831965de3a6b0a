// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.StandardAttributes;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Offers fake NICs, {@code nic-0} and up, and gives claims virtual functions with the requested bandwidth.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5075-dra-consumable-capacity">
 *     KEP-5075</a>
 */
final class FakeNicProvider extends FakeProvider {

    private static final String INGRESS = "ingressBandwidth";
    private static final String EGRESS = "egressBandwidth";

    private final String nodeName;
    private final int deviceCount;

    FakeNicProvider(String driverName, String nodeName, int deviceCount) {
        super(driverName, nodeName, "NET_DEVICE_");
        this.nodeName = nodeName;
        this.deviceCount = deviceCount;
    }

    @Override
    public List<ConfigType<?>> configTypes() {
        return List.of(NetConfig.TYPE);
    }

    @Override
    List<Device> devices() {
        return IntStream.range(0, deviceCount).mapToObj(this::nic).toList();
    }

    private Device nic(int number) {
        PciSlot slot = PciSlot.ofNic(number);
        FakeInterface port = new FakeInterface(nodeName, "nic-" + number, "");
        return Device.builder("nic-" + number)
                .attribute("index", number)
                .attribute("uuid", "net-" + port.uuid())
                .attribute("model", "LATEST-NET-MODEL")
                .version("driverVersion", "1.0.0")
                .attribute("ifName", port.name())
                .attribute("mac", port.mac())
                .attribute(StandardAttributes.PCIE_ROOT, slot.root())
                .attribute(StandardAttributes.PCI_BUS_ID, slot.busId())
                .allowMultipleAllocations(true)
                .capacity("vfs", virtualFunctions())
                .capacity(INGRESS, bandwidth())
                .capacity(EGRESS, bandwidth())
                .build();
    }

    private static Capacity virtualFunctions() {
        Quantity one = Quantity.of(1);
        return new Capacity(Quantity.of(100), RequestPolicy.values(one, List.of(one)));
    }

    private static Capacity bandwidth() {
        Quantity most = new Quantity("100G");
        ValidRange range = new ValidRange(new Quantity("100M"), most, new Quantity("1M"));
        return new Capacity(most, RequestPolicy.range(new Quantity("1G"), range));
    }

    @Override
    void describe(AllocatedDevice nic, String variable, ContainerEdits.Builder edits) {
        FakeInterface port = FakeInterface.of(nodeName, nic);
        edits.env(variable + "_IFNAME", port.name()).env(variable + "_MAC", port.mac());
        edits.env(variable + "_MTU", "" + nic.config(NetConfig.TYPE).value().mtu());
        describeRate(nic, INGRESS, variable + "_INGRESS_RATE", edits);
        describeRate(nic, EGRESS, variable + "_EGRESS_RATE", edits);
    }

    private static void describeRate(
            AllocatedDevice nic, String capacity, String variable, ContainerEdits.Builder edits) {
        Quantity rate = nic.consumedCapacity().get(capacity);
        if (rate != null) {
            edits.env(variable, rate.amount().toBigInteger().toString());
        }
    }

    /**
     * The opaque configuration of a claim or a DeviceClass that says how a claim uses a fake NIC.
     *
     * <pre>{@code
     * apiVersion: net.resource.example.com/v1alpha1
     * kind: NetConfig
     * mtu: 9000
     * }</pre>
     *
     * @param mtu the largest packet in bytes; {@code null} means 1500
     */
    record NetConfig(@Nullable Integer mtu) {

        /** The kind, with its defaults and rules; a NIC without an applicable entry has the defaults. */
        static final ConfigType<NetConfig> TYPE = ConfigType.builder(
                        "net.resource.example.com/v1alpha1", "NetConfig", NetConfig.class)
                .defaults(() -> new NetConfig(NetConfig.USUAL_MTU))
                .normalize(NetConfig::normalized)
                .validate(NetConfig::problems)
                .build();

        private static final int USUAL_MTU = 1500;
        private static final int LEAST_MTU = 68; // of IPv4
        private static final int MOST_MTU = 9216;

        private NetConfig normalized() {
            return mtu == null ? new NetConfig(USUAL_MTU) : this;
        }

        private List<String> problems() {
            return mtu != null && mtu >= LEAST_MTU && mtu <= MOST_MTU
                    ? List.of()
                    : List.of("invalid mtu: " + mtu + "; write " + LEAST_MTU + " to " + MOST_MTU);
        }
    }

    /**
     * The network interface of a fake NIC, or of a virtual function, which is a share of the NIC. Its addresses stay the
     * same after a restart, and differ between nodes.
     *
     * @param nodeName the node
     * @param nic the NIC's name
     * @param share the id of the share; empty for the NIC itself
     */
    record FakeInterface(String nodeName, String nic, String share) {

        static FakeInterface of(String nodeName, AllocatedDevice nic) {
            @Nullable String share = nic.shareId();
            return new FakeInterface(nodeName, nic.device().value(), share == null ? "" : share);
        }

        /** Returns the interface's name in the container: {@code eth3} for {@code nic-3}. */
        String name() {
            return "eth" + nic.substring("nic-".length());
        }

        UUID uuid() {
            String all = String.join("/", nodeName, nic, share);
            return UUID.nameUUIDFromBytes(all.getBytes(StandardCharsets.UTF_8));
        }

        /** Returns a locally administered address. */
        String mac() {
            return "02:%02x:%02x:%02x:%02x:%02x".formatted(octet(0), octet(1), octet(2), octet(3), octet(4));
        }

        /** Returns a private address with its prefix length. */
        String ip() {
            return "10.%d.%d.%d/8".formatted(octet(0), octet(1), octet(2));
        }

        private long octet(int position) {
            return uuid().getMostSignificantBits() >>> 8 * position & 0xff;
        }
    }
}
