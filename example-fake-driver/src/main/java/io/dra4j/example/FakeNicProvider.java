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
import java.util.List;
import java.util.stream.IntStream;

/**
 * Offers fake NICs, {@code nic-0} and up: claims share each of them, and get a virtual function
 * with the bandwidth that they ask for.
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
}
