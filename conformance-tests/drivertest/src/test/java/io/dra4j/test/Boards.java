// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Mount;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Two FPGAs, one of which may be shared, with a clock that claims set, and an address for each claim. */
class Boards implements DeviceProvider {

    static final String DRIVER = "fpga.example.com";
    static final ConfigType<Clock> CLOCK = ConfigType.builder("fpga.example.com/v1", "Clock", Clock.class)
            .defaults(() -> new Clock(100))
            .validate(clock -> clock.megahertz() > 500 ? List.of("megahertz must be at most 500") : List.of())
            .build();

    private static final RequestPolicy LUTS = RequestPolicy.range(
            new Quantity("1000"),
            new RequestPolicy.ValidRange(new Quantity("100"), new Quantity("1000"), new Quantity("100")));

    private final String node;
    private final List<String> names = new CopyOnWriteArrayList<>(List.of("fpga-0", "fpga-1"));
    private final AtomicInteger addresses = new AtomicInteger();
    private volatile String model = "A1";
    private volatile boolean remembers;
    private volatile @Nullable DriverContext context;

    Boards(String node) {
        this.node = node;
    }

    record Clock(int megahertz) {}

    @Override
    public List<ConfigType<?>> configTypes() {
        return List.of(CLOCK);
    }

    @Override
    public void start(DriverContext started) {
        context = started;
    }

    /** Lets it count the addresses in this process, instead of by the claims that the driver holds. */
    void remember() {
        remembers = true;
    }

    void report(String name, HealthState state) {
        Objects.requireNonNull(context)
                .reportHealth(List.of(new DeviceHealth(
                        new PoolName(node), new DeviceName(name), state, "by the test", Duration.ofMinutes(1))));
    }

    void unplug(String name) {
        names.remove(name);
        changed();
    }

    /** Adds a board, and gives all boards a model, which may be longer than the API allows. */
    void plug(String name, String modelOfAll) {
        names.add(name);
        model = modelOfAll;
        changed();
    }

    private void changed() {
        DriverContext running = context;
        if (running != null) {
            running.inventoryChanged();
        }
    }

    @Override
    public Inventory inventory() {
        return Inventory.of(Pool.ofNode(node, names.stream().map(this::device).toList()));
    }

    private Device device(String name) {
        boolean shared = name.equals("fpga-1");
        return Device.builder(name)
                .attribute("model", model)
                .allowMultipleAllocations(shared)
                .capacity("luts", new Capacity(new Quantity("1000"), shared ? LUTS : null))
                .build();
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext progress) {
        progress.checkpoint(new ProviderState(1, "\"begun\""));
        if (claim.devices().size() > 1) {
            throw new PrepareException("one board at a time");
        }
        return PreparedClaim.of(claim.devices().stream().map(this::prepared).toList())
                .withEdits(ContainerEdits.builder().env("FPGA_NODE", node).build())
                .withState(new ProviderState(1, "\"done\""));
    }

    private PreparedDevice prepared(AllocatedDevice device) {
        ContainerEdits edits = ContainerEdits.builder()
                .env("FPGA", device.device().value())
                .env("CLOCK", "" + device.config(CLOCK).value().megahertz())
                .deviceNode(DeviceNode.of("/dev/fpga", "/dev/null"))
                .mount(Mount.readOnly("/opt/fpga", "/usr/lib/fpga"))
                .build();
        DriverContext running = context;
        int held = running == null ? 0 : running.held().size();
        String address = "10.40.0.%d/24".formatted(remembers ? addresses.incrementAndGet() : held);
        return PreparedDevice.of(device, edits)
                .withStatus(DeviceStatus.builder()
                        .networkData(new NetworkData("rdma0", List.of(address), null))
                        .build());
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext progress) {}
}
