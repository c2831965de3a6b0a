// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.HealthWatch;
import io.dra4j.runtime.InventoryWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Taints and unplugs devices by a {@link FaultFile} while the driver runs, and reports how they are
 * doing.
 *
 * <p>A device that a claim holds stays prepared with any fault: that the pod goes on or is evicted
 * is for the cluster to decide, by the taint.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/5055-dra-device-taints-and-tolerations">
 *     KEP-5055</a>
 */
final class FaultyDevices extends DecoratedDevices {

    private static final Duration INTERVAL = Duration.ofSeconds(2);
    /** Of a report: some tests may come late or fail. */
    private static final Duration VALID = Duration.ofSeconds(10);

    private final FaultFile file;
    private final String taintKey;
    private @Nullable HealthWatch tests; // set by start, which comes before close, as is the watch
    private @Nullable InventoryWatch watch;

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
        for (Pool pool : undecorated().pools()) {
            Map<String, Fault> faults = file.read(names(pool));
            for (Device device : pool.devices()) {
                health(pool, device, faults.get(device.name().value())).ifPresent(health::add);
            }
        }
        return health;
    }

    /** Returns what is to be reported of a device; nothing if it is not there or its test hangs. */
    private static Optional<DeviceHealth> health(Pool pool, Device device, @Nullable Fault fault) {
        if (fault instanceof Fault.Absent || fault instanceof Fault.Silent) {
            return Optional.empty();
        }
        HealthState state = HealthState.HEALTHY;
        String message = "";
        if (fault instanceof Fault.Unwell unwell) {
            state = unwell.state();
            message = unwell.message();
        } else if (fault instanceof Fault.Tainted tainted && tainted.effect() != Taint.Effect.NONE) {
            state = HealthState.UNHEALTHY;
            message = tainted.reason();
        }
        return Optional.of(new DeviceHealth(pool.name(), device.name(), state, message, VALID));
    }

    @Override
    Pool decorate(Pool pool) {
        Map<String, Fault> faults = file.read(names(pool));
        List<Device> devices = new ArrayList<>();
        for (Device device : pool.devices()) {
            Fault fault = faults.get(device.name().value());
            if (fault instanceof Fault.Tainted tainted) {
                devices.add(taint(device, tainted));
            } else if (!(fault instanceof Fault.Absent)) {
                devices.add(device);
            }
        }
        return pool.toBuilder().devices(devices).build();
    }

    private Device taint(Device device, Fault.Tainted fault) {
        return device.toBuilder()
                .taint(Taint.of(taintKey, fault.reason(), fault.effect()))
                .build();
    }

    private static Set<String> names(Pool pool) {
        return pool.devices().stream().map(device -> device.name().value()).collect(Collectors.toSet());
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
}
