// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverOptions;
import io.dra4j.runtime.DriverProgram;
import io.dra4j.runtime.InventoryWatch;
import io.dra4j.runtime.ProviderWithoutClaims;
import io.dra4j.runtime.RecordState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * A driver of devices that have nothing behind them, or of hardware that it changes after it has recorded each change.
 *
 * <p>Its hardware is a directory: a device in use is a file there that holds the claim's UID. It
 * tolerates no error of the SDK: a device that is in use cannot be taken, and what is not in the
 * state that it gets back stays in use for ever. Or it gives each claim a slot that no other has,
 * under a lock or serialized; the page about providers quotes that region.
 */
public final class TestDriverMain {

    static final int DEVICES = 8;

    private TestDriverMain() {}

    /** Runs until SIGTERM. */
    public static void main(String[] args) {
        DriverProgram program =
                new DriverProgram("test-driver", "A driver of files.", TestDriver.NAME, TestDriverMain.class);
        DriverMain.of(program, new Options(), Provider::new)
                .abilities((options, driver) -> {
                    driver.healthService();
                    if (options.isSerialized) {
                        driver.serialized();
                    }
                })
                .controller(options -> new FilePools(Objects.requireNonNull(options.pools)))
                .run(args);
    }

    static PreparedDevice prepared(AllocatedDevice device) {
        String name = device.device().value();
        return PreparedDevice.of(
                device, ContainerEdits.builder().env("GPU", name).build());
    }

    /** The driver's own options. */
    static final class Options extends DriverOptions {
        @Option(names = "--hardware")
        private @Nullable Path hardware;

        /** Of lines with a device that is left out and a reason each. */
        @Option(names = "--left-out")
        private @Nullable Path leftOut;

        /** Of the reason for a restart, if it exists. */
        @Option(names = "--restart-reason")
        private @Nullable Path restartReason;

        /** Of lines with a pool of all nodes and the number of its devices, for the controller. */
        @Option(names = "--pools")
        private @Nullable Path pools;

        /** To give each claim a slot. */
        @Option(names = "--slots")
        private boolean hasSlots;

        @Option(names = "--serialized")
        private boolean isSerialized;

        /** Exists while the provider is suspended. */
        @Option(names = "--suspended")
        private @Nullable Path suspended;
    }

    private static final class FilePools extends ProviderWithoutClaims {
        private final Path file;
        private @Nullable InventoryWatch watch;

        FilePools(Path file) {
            this.file = file;
        }

        @Override
        public void start(DriverContext context) {
            watch = InventoryWatch.ofFile(file, context::inventoryChanged);
        }

        @Override
        public Inventory inventory() throws IOException {
            return new Inventory(Files.readAllLines(file).stream()
                    .map(line -> line.split(" "))
                    .map(words -> pool(words[0], Integer.parseInt(words[1])))
                    .toList());
        }

        private static Pool pool(String name, int devices) {
            return Pool.builder(name)
                    .placement(new Placement.AllNodes())
                    .counterSet(CounterSet.builder("links").counter("lanes", 1).build())
                    .devices(IntStream.range(0, devices)
                            .mapToObj(i -> Device.builder("gpu-" + i)
                                    .taint(Taint.of("example.com/bad", null, Taint.Effect.NO_SCHEDULE))
                                    .consumes(CounterConsumption.builder("links")
                                            .counter("lanes", 1)
                                            .build())
                                    .build())
                            .toList())
                    .build();
        }

        @Override
        public void close() {
            if (watch != null) {
                watch.close();
            }
        }
    }

    @SuppressWarnings("try") // the lock is held, and not looked at
    private static final class Provider implements DeviceProvider {
        private static final Pattern DEVICE = Pattern.compile("gpu-[0-9]");
        private final Options options;
        private DriverContext driver;
        private @Nullable InventoryWatch watch;

        Provider(Options options) {
            this.options = options;
        }

        @Override
        public void start(DriverContext context) {
            driver = context;
            if (options.hardware != null && !Files.isDirectory(options.hardware)) {
                throw new DraException("There is no hardware at " + options.hardware);
            }
            if (options.leftOut != null) {
                watch = InventoryWatch.ofFile(options.leftOut, context::inventoryChanged);
            }
        }

        @Override
        public void suspend() throws IOException {
            if (options.suspended != null) {
                Files.createFile(options.suspended);
            }
        }

        @Override
        public void resume() throws IOException {
            if (options.suspended != null) {
                Files.delete(options.suspended);
            }
        }

        private void requireNotSuspended() {
            if (options.suspended != null && Files.exists(options.suspended)) {
                throw new IllegalStateException("suspended");
            }
        }

        @Override
        public void close() {
            if (watch != null) {
                watch.close();
            }
        }

        @Override
        public Inventory inventory() throws IOException {
            requireNotSuspended();
            List<LeftOut> broken = leftOut();
            List<String> names = broken.stream().map(LeftOut::device).toList();
            List<Device> devices = IntStream.range(0, DEVICES)
                    .mapToObj(i -> "gpu-" + i)
                    .filter(name -> !names.contains(name))
                    .map(name -> Device.builder(name).build())
                    .toList();
            return Inventory.of(Pool.ofNode(options.nodeName(), devices)).withLeftOut(broken);
        }

        private List<LeftOut> leftOut() throws IOException {
            return options.leftOut == null
                    ? List.of()
                    : Files.readAllLines(options.leftOut).stream()
                            .map(line -> line.split(" ", 2))
                            .map(words -> new LeftOut(words[0], words[1]))
                            .toList();
        }

        @Override
        public Optional<String> restartReason() {
            try {
                return options.restartReason == null || !Files.exists(options.restartReason)
                        ? Optional.empty()
                        : Optional.of(Files.readString(options.restartReason));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws IOException {
            requireNotSuspended();
            if (options.hasSlots) {
                return withSlot(claim, context);
            }
            if (options.hardware != null) {
                take(options.hardware, claim, context);
            }
            return PreparedClaim.of(
                    claim.devices().stream().map(TestDriverMain::prepared).toList());
        }

        @Override
        public boolean changesNothing(AllocatedClaim claim) {
            return options.hardware == null && !options.hasSlots;
        }

        private static void take(Path hardware, AllocatedClaim claim, ClaimContext context) throws IOException {
            List<String> names =
                    claim.devices().stream().map(d -> d.device().value()).toList();
            context.checkpoint(new ProviderState(
                    1, names.stream().map(name -> '"' + name + '"').collect(Collectors.joining(",", "[", "]"))));
            for (String name : names) {
                Files.writeString(hardware.resolve(name), claim.ref().uid(), StandardOpenOption.CREATE_NEW);
            }
        }

        /** Each device has every value, and so does the hardware that it is a part of. */
        @Override
        public DeviceMeter meter() {
            return (claim, device) -> {
                DeviceReadings.Builder readings =
                        DeviceReadings.builder().uuid("TEST-" + device.device()).parentUuid("TEST");
                for (DeviceMeasure measure : DeviceMeasure.values()) {
                    readings.value(measure, 0.5).parentValue(measure, 1);
                }
                return readings.build();
            };
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) throws IOException {
            requireNotSuspended();
            ProviderState state = claim.state();
            if (options.hardware == null || state == null) {
                return;
            }
            Matcher devices = DEVICE.matcher(state.rawJson());
            while (devices.find()) {
                Files.deleteIfExists(options.hardware.resolve(devices.group()));
            }
            context.checkpoint(new ProviderState(1, "[]"));
        }

        private PreparedClaim withSlot(AllocatedClaim claim, ClaimContext context) {
            Slot slot = options.isSerialized ? choose(context) : slot(context);
            ContainerEdits edits =
                    ContainerEdits.builder().env("SLOT", "" + slot.number()).build();
            return PreparedClaim.of(claim.devices().stream()
                    .map(device -> PreparedDevice.of(device, edits))
                    .toList());
        }

        // #region slots
        record Slot(int number) {
            static final RecordState<Slot> STATE = RecordState.of(1, Slot.class);
        }

        private Slot slot(ClaimContext claim) {
            try (NodeLock lock = driver.lock("slots", Duration.ofSeconds(20))) {
                return choose(claim);
            }
        }

        /** The checkpoint is made before the lock ends: the next holder sees the slot. */
        private Slot choose(ClaimContext claim) {
            Set<Slot> taken = driver.held().stream()
                    .filter(held -> held.state() != null)
                    .map(held -> Slot.STATE.read(held.state()))
                    .collect(Collectors.toSet());
            Slot free = IntStream.range(0, DEVICES)
                    .mapToObj(Slot::new)
                    .filter(slot -> !taken.contains(slot))
                    .findFirst()
                    .orElseThrow(() -> new PrepareException("all slots are in use"));
            claim.checkpoint(Slot.STATE.write(free));
            return free;
        }
        // #endregion slots
    }
}
