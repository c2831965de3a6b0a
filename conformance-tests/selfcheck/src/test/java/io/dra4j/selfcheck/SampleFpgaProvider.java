// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.runtime.InventoryWatch;
import io.dra4j.runtime.RecordState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The provider of docs-site/how-to/write-your-provider.md, which quotes the regions: FPGAs below a directory, each a
 * directory with a file {@code serial}, that are programmed by a file {@code image}.
 */
final class SampleFpgaProvider implements DeviceProvider {

    // #region config
    record Bitstream(String image, Integer clockMHz) {

        static final ConfigType<Bitstream> TYPE = ConfigType.builder(
                        "fpga.example.com/v1alpha1", "Bitstream", Bitstream.class)
                .defaults(() -> new Bitstream("blank", 100))
                .normalize(given -> given.clockMHz == null ? new Bitstream(given.image, 100) : given)
                .validate(Bitstream::problems)
                .build();

        private List<String> problems() {
            boolean safe = image != null && image.matches("[a-z0-9][a-z0-9-]{0,62}");
            return safe ? List.of() : List.of("image must be a name of lower-case letters, digits and '-'");
        }
    }

    @Override
    public List<ConfigType<?>> configTypes() {
        return List.of(Bitstream.TYPE);
    }

    // #endregion config

    private final String nodeName;
    private final Path root;

    SampleFpgaProvider(String nodeName, Path root) {
        this.nodeName = nodeName;
        this.root = root;
    }

    // #region watch
    private InventoryWatch watch;

    @Override
    public void start(DriverContext context) {
        watch = InventoryWatch.ofProbe(Duration.ofSeconds(1), this::fpgas, context::inventoryChanged);
    }

    @Override
    public void close() {
        if (watch != null) { // a provider may be closed without a start
            watch.close();
        }
    }

    // #endregion watch

    // #region inventory
    @Override
    public Inventory inventory() throws IOException {
        List<Device> devices = new ArrayList<>();
        List<LeftOut> leftOut = new ArrayList<>();
        for (Map.Entry<String, String> fpga : fpgas().entrySet()) {
            String name = fpga.getKey();
            String serial = fpga.getValue();
            if (serial.isEmpty()) {
                leftOut.add(new LeftOut(name, "The card reports no serial number; reseat it"));
            } else {
                devices.add(Device.builder(name)
                        .physicalId(serial)
                        .attribute("serial", serial)
                        .build());
            }
        }
        return Inventory.of(Pool.ofNode(nodeName, devices)).withLeftOut(leftOut);
    }

    // #endregion inventory

    /** Serials by name. */
    private Map<String, String> fpgas() throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> directories = Files.list(root)) {
            for (Path directory : directories.toList()) {
                String serial = Files.readString(directory.resolve("serial")).strip();
                found.put(directory.getFileName().toString(), serial);
            }
        }
        return found;
    }

    private Path image(String fpga) {
        return root.resolve(fpga).resolve("image");
    }

    // #region state
    /** The images by serial: a name may be that of another FPGA after a reboot. */
    record Before(Map<String, String> images) {
        static final RecordState<Before> STATE = RecordState.of(1, Before.class);
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws IOException {
        Map<String, String> serials = fpgas();
        Map<String, String> images = new TreeMap<>();
        for (AllocatedDevice fpga : claim.devices()) {
            if (fpga.adminAccess()) { // another claim may be using it
                throw new PrepareException("an FPGA can't be programmed with admin access");
            }
            String name = fpga.device().toString();
            images.put(serials.get(name), Files.readString(image(name)));
        }
        context.checkpoint(Before.STATE.write(new Before(images)));
        List<PreparedDevice> devices = new ArrayList<>();
        for (AllocatedDevice fpga : claim.devices()) {
            String name = fpga.device().toString();
            String image = fpga.config(Bitstream.TYPE).value().image();
            Files.writeString(image(name), image);
            String variable = name.replace('-', '_').toUpperCase(Locale.ROOT) + "_IMAGE";
            ContainerEdits edits = ContainerEdits.builder().env(variable, image).build();
            devices.add(PreparedDevice.of(fpga, edits));
        }
        return PreparedClaim.of(devices);
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) throws IOException {
        if (claim.phase() == HeldClaim.Phase.DAMAGED) {
            for (HeldDevice fpga : claim.devices()) {
                Files.writeString(image(fpga.device().toString()), "blank"); // what was there is lost
            }
        } else if (claim.state() != null) { // otherwise nothing was done to hardware yet
            Before before = Before.STATE.read(claim.state());
            for (Map.Entry<String, String> fpga : fpgas().entrySet()) {
                String image = before.images().get(fpga.getValue());
                if (image != null) {
                    Files.writeString(image(fpga.getKey()), image);
                }
            }
        }
    }

    // #endregion state

    // #region meter
    @Override
    public DeviceMeter meter() {
        return (claim, fpga) -> {
            Path power = root.resolve(fpga.device().toString()).resolve("milliwatts");
            DeviceReadings.Builder readings = DeviceReadings.builder().uuid(fpga.physicalId());
            if (Files.exists(power)) { // not every card measures it
                String milliwatts = Files.readString(power).strip();
                readings.value(DeviceMeasure.POWER, Long.parseLong(milliwatts) / 1000.0);
            }
            return readings.build();
        };
    }

    // #endregion meter
}
