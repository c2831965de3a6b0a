// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.pci.PciBus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks that no daemon keeps open a GPU that the driver has to change.
 *
 * @param changes the driver's changes to GPUs, during which no process may have them open
 * @param smi switches persistence mode off, so that nvidia-persistenced releases a GPU
 */
record GpuHolders(NodeReading node, Changes changes, NvidiaSmi smi, Path proc) implements Check {

    /**
     * The changes that the driver makes to GPUs.
     *
     * @param ofDriver takes GPUs from NVIDIA's driver, for virtual machines
     */
    record Changes(boolean ofMigMode, boolean ofDriver) {}

    private static final String PERSISTENCED = "nvidia-persistenced";
    private static final Duration SMI_TIMEOUT = Duration.ofSeconds(5);

    /** The kernel thread that is process 2 on every node, but in no container. */
    private static final String OF_NODES = "kthreadd";

    /** The units of daemons, by the first 15 letters of their names, which the kernel keeps. */
    private static final Map<String, String> UNITS = Map.of(
            "nvidia-persiste", PERSISTENCED,
            "nv-hostengine", "nvidia-dcgm",
            "dcgm-exporter", "dcgm-exporter");

    @Override
    public String id() {
        return "gpu-holders";
    }

    @Override
    public CheckResult look() {
        if (!changes.ofMigMode() && !changes.ofDriver()) {
            return CheckResult.healthy("MIG mode is not switched");
        }
        Set<String> toSwitch = toSwitch();
        Set<String> toTake = toTake();
        Set<String> nodes = new HashSet<>(toSwitch);
        nodes.addAll(toTake);
        if (nodes.isEmpty()) {
            return CheckResult.healthy(
                    changes.ofDriver()
                            ? "no GPU is to be switched to MIG mode, or taken for a virtual machine"
                            : "no GPU remains to be switched to MIG mode");
        }
        if (!name(proc.resolve("2")).equals(OF_NODES)) {
            throw new NotCheckedException(
                    "this pod does not see the node's processes: run it on the node, or with hostPID");
        }
        List<Finding> findings = new ArrayList<>();
        holders(nodes).forEach((unit, held) -> {
            Set<String> others = new TreeSet<>(held);
            others.removeAll(toSwitch);
            held.retainAll(toSwitch);
            if (!held.isEmpty()) {
                findings.add(ofMigMode(unit, held));
            }
            if (!others.isEmpty() && (!unit.equals(PERSISTENCED) || !canLetGo())) {
                findings.add(ofDriver(unit, others));
            }
        });
        return new CheckResult("no daemon keeps a GPU open", findings);
    }

    /** The device nodes of GPUs that are not in MIG mode. */
    private Set<String> toSwitch() {
        return changes.ofMigMode()
                ? nodes(gpu -> gpu.mig() != null && !gpu.mig().enabled())
                : Set.of();
    }

    /** The device nodes of GPUs that are offered to virtual machines: whole ones. */
    private Set<String> toTake() {
        return changes.ofDriver()
                ? nodes(gpu -> gpu.mig() == null || gpu.mig().devices().isEmpty())
                : Set.of();
    }

    private Set<String> nodes(Predicate<Gpu> isChanged) {
        try {
            return node.reading().present().stream()
                    .filter(isChanged)
                    .map(Gpu::minor)
                    .map(minor -> "/dev/nvidia" + minor)
                    .collect(Collectors.toSet());
        } catch (DraException e) {
            throw new NotCheckedException("NVML can't be used: nvml", e);
        }
    }

    /** The driver switches persistence mode off before it takes a GPU, if it has the program. */
    private boolean canLetGo() {
        try {
            node.reading().present().stream()
                    .findFirst()
                    .ifPresent(gpu -> smi.isPersistent(gpu.pci().text(), SMI_TIMEOUT));
            return true;
        } catch (SmiException e) {
            return false;
        }
    }

    private Map<String, Set<String>> holders(Set<String> nodes) {
        Map<String, Set<String>> holders = new TreeMap<>();
        for (Path process : children(proc)) {
            String unit = UNITS.get(name(process));
            if (unit != null) {
                for (Path file : children(process.resolve("fd"))) {
                    String target = PciBus.link(file).map(Path::toString).orElse("");
                    if (nodes.contains(target)) {
                        holders.computeIfAbsent(unit, any -> new TreeSet<>()).add(target);
                    }
                }
            }
        }
        return holders;
    }

    private static List<Path> children(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        } catch (AccessDeniedException e) {
            throw new NotCheckedException(folder + " can't be read: run it as root", e);
        } catch (IOException | UncheckedIOException e) {
            return List.of(); // the process has ended, before or while its files are listed
        }
    }

    private static String name(Path process) {
        return PciBus.text(process.resolve("comm")).orElse("");
    }

    private Finding ofMigMode(String unit, Set<String> held) {
        List<String> fix = new ArrayList<>(stop(unit));
        fix.add("# start it again once the GPUs are in MIG mode");
        return new Finding(
                id(),
                Severity.WARNING,
                unit,
                "it keeps %s open, which %s not in MIG mode yet"
                        .formatted(String.join(", ", held), held.size() == 1 ? "is" : "are"),
                "a GPU that is open can't be switched to MIG mode or reset: claims for MIG devices"
                        + " can't be prepared",
                fix);
    }

    private Finding ofDriver(String unit, Set<String> held) {
        List<String> fix = new ArrayList<>(stop(unit));
        fix.add(
                unit.equals(PERSISTENCED)
                        ? "# or provide nvidia-smi below the driver root, so that the driver can switch persistence mode off"
                        : "# keep it off this node: it opens the GPUs again when it starts");
        return new Finding(
                id(),
                Severity.WARNING,
                unit,
                "it keeps %s open".formatted(String.join(", ", held)),
                "a GPU that is open can't be taken from NVIDIA's driver: claims for virtual machines can't"
                        + " be prepared",
                fix);
    }

    private static List<String> stop(String unit) {
        String stop = "sudo systemctl stop " + unit;
        return unit.equals(PERSISTENCED)
                ? List.of(stop)
                : List.of(
                        stop,
                        "# with GPU Operator: kubectl label node NODE nvidia.com/gpu.deploy.dcgm=false"
                                + " nvidia.com/gpu.deploy.dcgm-exporter=false --overwrite");
    }
}
