// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.HealthWatch;
import io.dra4j.runtime.InventoryWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Taints and unplugs devices as a {@link FaultFile} says while the driver runs, and reports their health.
 *
 * <p>A device that a claim holds stays prepared despite any fault: the cluster decides by the taint whether the pod
 * continues or is evicted.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5055-dra-device-taints-and-tolerations">
 *     KEP-5055</a>
 */
final class FaultyDevices extends DecoratedDevices {

    private static final Duration INTERVAL = Duration.ofSeconds(2);
    /** The validity of a report, during which some tests may be late or fail. */
    private static final Duration VALID = Duration.ofSeconds(10);

    private final FaultFile file;
    private final String taintKey;
    private @Nullable HealthWatch tests; // set by start, which comes before close, as is the watch
    private @Nullable InventoryWatch watch;
    private volatile @Nullable Inventory last; // undecorated

    FaultyDevices(DeviceProvider devices, Path file, String driverName) {
        super(devices);
        this.file = new FaultFile(file);
        this.taintKey = driverName + "/fault";
    }

    @Override
    public void start(DriverContext context) throws Exception {
        super.start(context);
        HealthWatch started = HealthWatch.ofProbe(INTERVAL, this::health, context::reportHealth);
        tests = started;
        watch = InventoryWatch.ofFile(file.path(), () -> {
            context.inventoryChanged();
            started.look();
        });
    }

    private List<DeviceHealth> health() throws Exception {
        List<DeviceHealth> health = new ArrayList<>();
        Inventory known = last; // reading all devices at each test would take long
        Inventory undecorated = known == null ? read() : known;
        Map<String, DeviceFault> faults = faults(undecorated);
        for (Pool pool : undecorated.pools()) {
            for (Device device : pool.devices()) {
                health(pool, device, faults.get(device.name().value())).ifPresent(health::add);
            }
        }
        return health;
    }

    /** Returns the health report of a device; empty if the device is absent or its test hangs. */
    private static Optional<DeviceHealth> health(Pool pool, Device device, @Nullable DeviceFault fault) {
        if (fault instanceof DeviceFault.Absent || fault instanceof DeviceFault.Silent) {
            return Optional.empty();
        }
        HealthState state = HealthState.HEALTHY;
        String message = "";
        if (fault instanceof DeviceFault.Unwell unwell) {
            state = unwell.state();
            message = unwell.message();
        } else if (fault instanceof DeviceFault.Tainted tainted && tainted.effect() != Taint.Effect.NONE) {
            state = HealthState.UNHEALTHY;
            message = tainted.reason();
        }
        return Optional.of(new DeviceHealth(pool.name(), device.name(), state, message, VALID));
    }

    private Inventory read() throws Exception {
        Inventory undecorated = unlessChanged(last, undecorated());
        last = undecorated;
        return undecorated;
    }

    @Override
    public Inventory inventory() throws Exception {
        Inventory undecorated = read();
        Map<String, DeviceFault> faults = faults(undecorated); // once, so that all pools have those of one moment
        return new Inventory(
                undecorated.pools().stream().map(pool -> decorate(pool, faults)).toList(), undecorated.leftOut());
    }

    private Pool decorate(Pool pool, Map<String, DeviceFault> faults) {
        List<Device> devices = new ArrayList<>();
        for (Device device : pool.devices()) {
            DeviceFault fault = faults.get(device.name().value());
            if (fault instanceof DeviceFault.Tainted tainted) {
                devices.add(taint(device, tainted));
            } else if (!(fault instanceof DeviceFault.Absent)) {
                devices.add(device);
            }
        }
        return pool.toBuilder().devices(devices).build();
    }

    private Device taint(Device device, DeviceFault.Tainted fault) {
        return device.toBuilder()
                .taint(Taint.of(taintKey, fault.reason(), fault.effect()))
                .build();
    }

    private Map<String, DeviceFault> faults(Inventory undecorated) {
        return file.read(undecorated.pools().stream()
                .flatMap(pool -> pool.devices().stream())
                .map(device -> device.name().value())
                .collect(Collectors.toSet()));
    }

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
        if (tests != null) {
            tests.close();
        }
        super.close();
    }

    /**
     * A stand-in for the hardware's self-test: a text file that lists the faults of devices.
     *
     * <pre>
     * # a comment
     * gpu-0 NoExecute ecc-error
     * gpu-1 absent
     * gpu-2 unhealthy fell off the bus
     * gpu-3 unknown
     * gpu-4 silent
     * </pre>
     *
     * <p>Stateless, and therefore thread-safe: each call reads the current file.
     *
     * @param path the file; it need not exist
     */
    private record FaultFile(Path path) {

        private static final String FORM = "write \"<device> NoSchedule|NoExecute|None <reason>\", \"<device> absent\","
                + " \"<device> unhealthy|unknown [message]\" or \"<device> silent\"";

        /** The form of a taint's value, which is a label value. */
        private static final Pattern REASON = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?");

        /**
         * Reads the current faults.
         *
         * @param devices the names of all devices: a misspelt name must not hide a fault
         * @return faults by the device's name, in the order of the lines; empty if the file does not exist
         * @throws DraException if the file can't be read or parsed; the message has the syntax
         */
        Map<String, DeviceFault> read(Set<String> devices) {
            Map<String, DeviceFault> faults = new LinkedHashMap<>();
            int number = 0;
            for (String line : lines()) {
                number++;
                String[] words = line.strip().split("\\s+");
                if (words[0].isEmpty() || words[0].startsWith("#")) {
                    continue;
                }
                if (!devices.contains(words[0])) {
                    throw badLine(number, "unknown device \"" + words[0] + "\"; use its published name");
                }
                if (faults.put(words[0], fault(words, number)) != null) {
                    throw badLine(number, "a second line for " + words[0] + "; keep one of them");
                }
            }
            return faults;
        }

        private List<String> lines() {
            try {
                return Files.readAllLines(path);
            } catch (NoSuchFileException e) {
                return List.of();
            } catch (IOException e) {
                throw new DraException(
                        "Can't read the fault file "
                                + path
                                + ": "
                                + e
                                + "; make it a UTF-8 text file that this user can read, or remove it",
                        e);
            }
        }

        private DeviceFault fault(String[] words, int number) {
            if (words.length == 2 && words[1].equals("absent")) {
                return new DeviceFault.Absent();
            }
            if (words.length == 2 && words[1].equals("silent")) {
                return new DeviceFault.Silent();
            }
            if (words.length > 1 && (words[1].equals("unhealthy") || words[1].equals("unknown"))) {
                return new DeviceFault.Unwell(
                        HealthState.valueOf(words[1].toUpperCase(Locale.ROOT)),
                        Arrays.stream(words).skip(2).collect(Collectors.joining(" ")));
            }
            if (words.length != 3) {
                throw badLine(number, "\"" + String.join(" ", words) + "\"; " + FORM);
            }
            if (!REASON.matcher(words[2]).matches()) {
                throw badLine(
                        number,
                        "the reason \""
                                + words[2]
                                + "\" becomes a taint's value; write at most 63 letters, digits, '-',"
                                + " '_' and '.', such as ecc-error");
            }
            return new DeviceFault.Tainted(effect(words[1], number), words[2]);
        }

        private Taint.Effect effect(String name, int number) {
            return Arrays.stream(Taint.Effect.values())
                    .filter(effect -> effect.apiName().equals(name))
                    .findFirst()
                    .orElseThrow(() -> badLine(number, "unknown effect \"" + name + "\"; " + FORM));
        }

        private DraException badLine(int number, String problem) {
            return new DraException("Fault file " + path + ", line " + number + ": " + problem);
        }
    }

    /** A fault of a device. */
    private sealed interface DeviceFault {

        /** The device works badly or not at all, and is offered with a taint. */
        record Tainted(Taint.Effect effect, String reason) implements DeviceFault {}

        /** The device is absent, and is not offered. */
        record Absent() implements DeviceFault {}

        /** The device is offered as before, and its self-test reports the message. */
        record Unwell(HealthState state, String message) implements DeviceFault {}

        /** The device is offered as before, and its self-test hangs. */
        record Silent() implements DeviceFault {}
    }
}
