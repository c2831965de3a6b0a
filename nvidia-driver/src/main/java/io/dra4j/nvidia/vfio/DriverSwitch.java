// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Binds functions of PCI devices to another driver of the kernel. It writes {@code driver_override}, {@code unbind} and
 * {@code bind}, as the kernel's documentation {@code ABI/testing/sysfs-bus-pci} describes. Each step has a deadline,
 * and is complete only when sysfs shows the result.
 */
record DriverSwitch(PciBus bus, KernelWrites writes) {

    private static final Logger LOG = LoggerFactory.getLogger(DriverSwitch.class);
    private static final long LOOK_NANOS = 20_000_000;
    private static final String NO_OVERRIDE = "\n";
    private static final String NULL = "(null)"; // printed by the kernel for none

    boolean isAnyPending() {
        return writes.isAnyPending();
    }

    /** Returns the only driver that may be bound to a function; null if the kernel chooses it. */
    @Nullable
    String override(PciAddress function) {
        return PciBus.text(overrideOf(function))
                .filter(driver -> !driver.isEmpty() && !driver.equals(NULL))
                .orElse(null);
    }

    /**
     * Sets the only driver of a function. The kernel does not answer before a driver that is being unbound has released
     * the function.
     *
     * @param driver null if the kernel is to choose it
     * @return whether it has answered within the time
     */
    boolean override(PciAddress function, @Nullable String driver, StepDeadline deadline) {
        return writes.write(function, overrideOf(function), driver == null ? NO_OVERRIDE : driver, deadline);
    }

    private Path overrideOf(PciAddress function) {
        return bus.folder(function).resolve("driver_override");
    }

    /**
     * Unbinds a function from its driver, if it has one.
     *
     * @return whether that is done within the time; otherwise the kernel continues
     */
    boolean unbind(PciFunction function, StepDeadline deadline) {
        String driver = function.driver();
        if (driver == null) {
            return true;
        }
        Path file = bus.driver(driver).resolve("unbind");
        return writes.write(function.address(), file, function.address().text(), deadline)
                && shows(function.address(), found -> !found.isBoundTo(driver), deadline);
    }

    /** Waits for the end of an {@link #unbind} that took longer. */
    boolean awaitUnbound(PciFunction function, StepDeadline deadline) {
        String driver = function.driver();
        return writes.settled(function.address(), deadline)
                && shows(function.address(), found -> driver == null || !found.isBoundTo(driver), deadline);
    }

    /** Binds a function without a driver to a driver. */
    void bind(PciAddress function, String driver, StepDeadline deadline) {
        Path file = bus.driver(driver).resolve("bind");
        boolean isBound = writes.write(function, file, function.text(), deadline)
                && shows(function, found -> found.isBoundTo(driver), deadline);
        if (!isBound) {
            throw new DraException(
                    "PCI device %s was not bound to %s within %s: the kernel's log (dmesg) has the reason"
                            .formatted(function, driver, deadline.text()));
        }
        LOG.atInfo()
                .addKeyValue("pci.address", function)
                .addKeyValue("driver", driver)
                .log("Bound a PCI device to another driver");
    }

    private boolean shows(PciAddress function, Predicate<PciFunction> wanted, StepDeadline deadline) {
        while (bus.find(function).filter(wanted).isEmpty()) {
            if (deadline.isOver() || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return true;
    }
}
