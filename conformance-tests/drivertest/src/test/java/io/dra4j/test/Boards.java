// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Mount;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.PrepareException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Two FPGAs, one of which may be shared, with a clock that claims set. */
class Boards implements DeviceProvider {

    static final String DRIVER = "fpga.example.com";
    static final ConfigType<Clock> CLOCK = ConfigType.builder("fpga.example.com/v1", "Clock", Clock.class)
            .defaults(() -> new Clock(100))
            .validate(clock -> clock.megahertz() > 500 ? List.of("megahertz must be at most 500") : List.of())
            .build();

    private final String node;
    private final List<String> names = new CopyOnWriteArrayList<>(List.of("fpga-0", "fpga-1"));
    private volatile String model = "A1";
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
        return Device.builder(name)
                .attribute("model", model)
                .allowMultipleAllocations(name.equals("fpga-1"))
                .capacity("luts", "1000")
                .build();
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext progress) {
        progress.checkpoint(new ProviderState(1, "\"begun\""));
        if (claim.devices().size() > 1) {
            throw new PrepareException("one board at a time");
        }
        return PreparedClaim.of(claim.devices().stream().map(Boards::prepared).toList())
                .withEdits(ContainerEdits.builder().env("FPGA_NODE", node).build())
                .withState(new ProviderState(1, "\"done\""));
    }

    private static PreparedDevice prepared(AllocatedDevice device) {
        ContainerEdits edits = ContainerEdits.builder()
                .env("FPGA", device.device().value())
                .env("CLOCK", "" + device.config(CLOCK).value().megahertz())
                .deviceNode(DeviceNode.of("/dev/fpga", "/dev/null"))
                .mount(Mount.readOnly("/opt/fpga", "/usr/lib/fpga"))
                .build();
        return PreparedDevice.of(device, edits);
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext progress) {}
}
