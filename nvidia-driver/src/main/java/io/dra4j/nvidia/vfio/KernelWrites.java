// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.PciAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Writes to files of the kernel that may not return for a long time: the kernel takes a device from
 * a driver only while no process uses it, and no signal ends that wait.
 *
 * <p>Each write has its own thread, which continues after a timeout. Until it has returned, nothing else is written for
 * the same device, because the kernel completes what it has begun. Thread-safe; different devices are independent.
 */
final class KernelWrites {

    private final Map<PciAddress, FutureTask<Boolean>> pending = new ConcurrentHashMap<>();

    /**
     * Writes a text to a file.
     *
     * @return whether the kernel has answered within the time
     */
    boolean write(PciAddress device, Path file, String text, StepDeadline deadline) {
        if (!settled(device, deadline)) {
            return false;
        }
        FutureTask<Boolean> write = new FutureTask<>(() -> {
            Files.writeString(file, text, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
            return true;
        });
        pending.put(device, write);
        Thread thread = new Thread(write, "dra4j-vfio-" + device);
        thread.setDaemon(true);
        thread.start();
        try {
            return has(device, write, deadline);
        } catch (ExecutionException e) {
            throw refused(file, text.strip(), e.getCause());
        }
    }

    private boolean has(PciAddress device, FutureTask<Boolean> write, StepDeadline deadline) throws ExecutionException {
        try {
            return write.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            if (write.isDone()) {
                pending.remove(device, write);
            }
        }
    }

    private static DraException refused(Path file, String text, Throwable cause) {
        String why = cause instanceof IOException io ? String.valueOf(io.getMessage()) : "" + cause;
        return new DraException(
                "The kernel refuses to write \"%s\" to %s: %s; its log (dmesg) may say more".formatted(text, file, why),
                cause);
    }

    /** Waits until no earlier write for a device is running; sysfs shows its result. */
    boolean settled(PciAddress device, StepDeadline deadline) {
        FutureTask<Boolean> earlier = pending.get(device);
        try {
            return earlier == null || has(device, earlier, deadline);
        } catch (ExecutionException e) { // the caller checks the state of the device
            return true;
        }
    }

    boolean isAnyPending() {
        return pending.values().stream().anyMatch(write -> !write.isDone());
    }
}
