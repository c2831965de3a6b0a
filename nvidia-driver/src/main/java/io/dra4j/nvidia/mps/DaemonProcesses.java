// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mps;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.MpsProgram;
import io.dra4j.nvidia.pci.PciBus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The processes of daemons and their servers, started by this process or by an earlier one that was killed.
 *
 * <p>They are identified by their name and by the directory of their sockets in their environment, which is unique to
 * the group. A PID that was reused is thus not mistaken for one of them, and {@link ProcessHandle} compares the start
 * time before it kills.
 */
final class DaemonProcesses {

    /** The directory of the sockets, by which programs and this driver find daemons. */
    static final String VARIABLE = "CUDA_MPS_PIPE_DIRECTORY";

    private static final int BETWEEN_LOOKS_MILLIS = 20;
    private static final Path PROC = Path.of("/proc");
    private static final Set<String> NAMES = Set.of("nvidia-cuda-mps", MpsNamespace.NAME);

    private DaemonProcesses() {}

    static List<ProcessHandle> of(GroupFolder folder) {
        return ProcessHandle.allProcesses().filter(one -> isOf(one, folder)).toList();
    }

    /** Returns whether the daemon runs, even if it answers no question now. */
    static boolean isRunning(GroupFolder folder) {
        return running().contains(marker(folder));
    }

    /** Returns the markers of all groups whose daemons run, in one pass over the processes of the node. */
    static Set<String> running() {
        return ProcessHandle.allProcesses()
                .filter(one -> NAMES.contains(text(one, "comm")))
                .filter(one -> !text(one, "cmdline").contains(MpsProgram.SERVER)) // which may outlive its daemon
                .flatMap(DaemonProcesses::environment)
                .filter(entry -> entry.startsWith(VARIABLE + "="))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the entry of the environment by which the processes of a group are found. */
    static String marker(GroupFolder folder) {
        return VARIABLE + "=" + folder.pipes();
    }

    private static boolean isOf(ProcessHandle process, GroupFolder folder) {
        return NAMES.contains(text(process, "comm")) && environment(process).anyMatch(marker(folder)::equals);
    }

    /** A zombie has no environment, so it is excluded although its PID is in use. */
    private static Stream<String> environment(ProcessHandle process) {
        return Stream.of(text(process, "environ").split("\0"));
    }

    /** Returns nothing of a process that has ended, or belongs to a user whose processes can't be inspected. */
    private static String text(ProcessHandle process, String name) {
        return PciBus.text(PROC.resolve(String.valueOf(process.pid())).resolve(name))
                .orElse("");
    }

    /** Kills the processes of a group, and waits for their end. */
    static void kill(GroupFolder folder, Duration timeout) {
        of(folder).forEach(ProcessHandle::destroyForcibly);
        if (!haveEnded(folder, timeout)) {
            throw new DraException("Processes %s of an MPS daemon do not end; they use %s"
                    .formatted(of(folder).stream().map(ProcessHandle::pid).toList(), folder.path()));
        }
    }

    /** Waits for the end of the processes of a group. */
    static boolean haveEnded(GroupFolder folder, Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        List<ProcessHandle> left = of(folder);
        while (!left.isEmpty()) {
            if (System.nanoTime() >= end) {
                return false;
            }
            awaitChange(left.get(0));
            left = left.stream().filter(one -> isOf(one, folder)).toList();
        }
        return true;
    }

    private static void awaitChange(ProcessHandle process) {
        try {
            process.onExit().get(BETWEEN_LOOKS_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return; // checked again later
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DraException("The wait for the end of an MPS daemon was interrupted", e);
        }
    }
}
