// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverOptions;
import io.dra4j.runtime.DriverProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Option;

/**
 * A driver that changes hardware, and records before each change what it is about to do.
 *
 * <p>Its hardware is a folder: a device in use is a file there that holds the claim's UID. It
 * forgives the SDK nothing: a device that is in use still cannot be taken, and what is not in the
 * state that it gets back stays in use for ever.
 */
public final class HardwareDriverMain {

    private HardwareDriverMain() {}

    /** Runs until SIGTERM. */
    public static void main(String[] args) {
        DriverProgram program =
                new DriverProgram(
                        "hardware-driver",
                        "A driver of files.",
                        DriverUnderTest.DRIVER,
                        HardwareDriverMain.class);
        DriverMain.run(args, program, new Options(), Hardware::new);
    }

    /** Where the hardware is. */
    static final class Options extends DriverOptions {
        @Option(names = "--hardware", required = true)
        private Path folder;
    }

    private static final class Hardware implements DeviceProvider {
        private static final int DEVICES = 8;
        private static final Pattern DEVICE = Pattern.compile("gpu-[0-9]");
        private final Path folder;
        private final String node;

        Hardware(Options options) {
            folder = options.folder;
            node = options.nodeName();
        }

        @Override
        public Inventory inventory() {
            List<Device> devices =
                    IntStream.range(0, DEVICES)
                            .mapToObj(i -> Device.builder("gpu-" + i).build())
                            .toList();
            return Inventory.of(Pool.ofNode(node, devices));
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, Progress progress) throws IOException {
            List<String> names = claim.devices().stream().map(d -> d.device().value()).toList();
            progress.record(
                    new ProviderState(
                            1,
                            names.stream()
                                    .map(name -> '"' + name + '"')
                                    .collect(Collectors.joining(",", "[", "]"))));
            for (String name : names) {
                Files.writeString(
                        folder.resolve(name), claim.ref().uid(), StandardOpenOption.CREATE_NEW);
            }
            return PreparedClaim.of(claim.devices().stream().map(Hardware::prepared).toList());
        }

        private static PreparedDevice prepared(AllocatedDevice device) {
            String name = device.device().value();
            return PreparedDevice.of(device, ContainerEdits.builder().env("GPU", name).build());
        }

        @Override
        public void unprepare(HeldClaim claim, Progress progress) throws IOException {
            ProviderState state = claim.state();
            if (state == null) {
                return;
            }
            Matcher devices = DEVICE.matcher(state.json());
            while (devices.find()) {
                Files.deleteIfExists(folder.resolve(devices.group()));
            }
            progress.record(new ProviderState(1, "[]"));
        }
    }
}
