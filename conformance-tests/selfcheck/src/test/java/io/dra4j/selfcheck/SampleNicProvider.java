// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.HealthWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The second provider of docs-site/how-to/write-your-provider.md, which quotes the regions: cards
 * below a directory, each with a file {@code fault} if it does not work, in one of three modes.
 */
final class SampleNicProvider implements DeviceProvider {

    /** The kinds of inventories. */
    enum Mode {
        SHARED,
        PARTITIONED,
        FABRIC
    }

    private final String nodeName;
    private final Path root;
    private final Mode mode;
    private DriverContext context;

    SampleNicProvider(String nodeName, Path root, Mode mode) {
        this.nodeName = nodeName;
        this.root = root;
        this.mode = mode;
    }

    @Override
    public Inventory inventory() throws IOException {
        List<String> cards = cards();
        return switch (mode) {
            case SHARED ->
                Inventory.of(Pool.ofNode(
                        nodeName, cards.stream().map(SampleNicProvider::shared).toList()));
            case PARTITIONED -> Inventory.of(partitioned(cards));
            case FABRIC -> Inventory.of(fabric(cards));
        };
    }

    private List<String> cards() throws IOException {
        try (Stream<Path> directories = Files.list(root)) {
            return directories
                    .map(card -> card.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    // #region shares
    /** A claim takes 1G of the card's 100G, or as much as it requests. */
    private static Device shared(String card) {
        Quantity one = new Quantity("1G");
        Quantity all = new Quantity("100G");
        RequestPolicy policy = RequestPolicy.range(one, new ValidRange(one, all, one));
        return Device.builder(card)
                .physicalId(card)
                .allowMultipleAllocations(true)
                .capacity("bandwidth", new Capacity(all, policy))
                .build();
    }

    // #endregion shares

    // #region partitions
    /** Each card is either one device, or up to 16 functions: both use up the card's counter. */
    private Pool partitioned(List<String> cards) {
        List<Device> devices = new ArrayList<>();
        List<CounterSet> counters = new ArrayList<>();
        for (String card : cards) {
            counters.add(CounterSet.of(card, Map.of("functions", Quantity.of(16))));
            for (int number = 0; number < 16; number++) {
                devices.add(part(card, card + "-vf-" + number, 1));
            }
            devices.add(part(card, card + "-pf", 16));
        }
        return Pool.builder(nodeName).devices(devices).counterSets(counters).build();
    }

    private static Device part(String card, String name, long functions) {
        return Device.builder(name)
                .physicalId(name)
                .consumes(CounterConsumption.of(card, Map.of("functions", Quantity.of(functions))))
                .build();
    }

    // #endregion partitions

    // #region fabric
    /** Devices that all nodes of the rack reach. */
    private static Pool fabric(List<String> cards) {
        List<Device> devices = cards.stream()
                .map(card -> Device.builder(card).physicalId(card).build())
                .toList();
        NodeSelector rack = NodeSelector.labelIn("topology.example.com/rack", "rack-7");
        return Pool.builder("rack-7")
                .placement(new Placement.MatchingNodes(rack))
                .devices(devices)
                .build();
    }

    // #endregion fabric

    // #region health
    private HealthWatch watch;

    @Override
    public void start(DriverContext runtime) {
        context = runtime;
        watch = HealthWatch.ofProbe(Duration.ofSeconds(10), this::health, context::reportHealth);
    }

    private List<DeviceHealth> health() throws IOException {
        List<DeviceHealth> health = new ArrayList<>();
        for (String card : cards()) {
            Path fault = root.resolve(card).resolve("fault");
            boolean broken = Files.exists(fault);
            health.add(new DeviceHealth(
                    new PoolName(nodeName),
                    new DeviceName(card),
                    broken ? HealthState.UNHEALTHY : HealthState.HEALTHY,
                    broken ? Files.readString(fault).strip() : "",
                    Duration.ofSeconds(30)));
        }
        return health;
    }

    @Override
    public void close() {
        if (watch != null) { // a provider may be closed without a start
            watch.close();
        }
    }

    // #endregion health

    // #region prepare
    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext call) {
        List<PreparedDevice> devices = new ArrayList<>();
        for (AllocatedDevice nic : claim.devices()) {
            Quantity bandwidth = nic.consumedCapacity().get("bandwidth"); // null for a device that is not shared
            ContainerEdits edits = ContainerEdits.builder()
                    .env("NIC_BANDWIDTH", bandwidth == null ? "all" : bandwidth.text())
                    .build();
            devices.add(PreparedDevice.of(nic, edits).withStatus(linkIs(ConditionStatus.UNKNOWN, nic.held())));
        }
        return PreparedClaim.of(devices);
    }

    /** The card's agent calls this, on its own thread, when the link of a container is up. */
    void linkIsUp(ClaimRef claim, HeldDevice nic) {
        context.updateStatus(claim, nic, linkIs(ConditionStatus.TRUE, nic));
    }

    private static DeviceStatus linkIs(ConditionStatus up, HeldDevice nic) {
        return DeviceStatus.builder()
                .condition(new Condition("LinkUp", up, "Negotiated", ""))
                .networkData(new NetworkData("eth1", List.of("10.40.0.10/24"), null))
                .data("{\"card\": \"" + nic.device() + "\"}")
                .build();
    }

    // #endregion prepare

    // #region nothing
    /** The card's agent acts when a container starts and ends, and not before. */
    @Override
    public boolean changesNothing(AllocatedClaim claim) {
        return true;
    }

    // #endregion nothing

    @Override
    public void unprepare(HeldClaim claim, ClaimContext call) {}

    // #region embed
    /** Starts a driver in a JVM that does more; closing it ends only the driver. */
    static DraDriver started(String nodeName, SampleNicProvider nics) throws InterruptedException {
        DraDriver driver = DraDriver.builder("nic.example.com", nodeName, nics)
                .healthService()
                .httpEndpoint("127.0.0.1:0") // metrics and probes
                .build();
        driver.start();
        int port = driver.httpPort().orElseThrow();
        System.out.println("metrics at http://127.0.0.1:" + port + "/metrics");
        return driver;
    }
    // #endregion embed
}
