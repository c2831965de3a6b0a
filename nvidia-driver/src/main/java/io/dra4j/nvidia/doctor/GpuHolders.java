// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.nvml.Gpu;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks that no daemon keeps a GPU open that is yet to be switched to MIG mode.
 *
 * @param node its GPUs
 * @param isDynamic whether the driver switches MIG mode
 * @param proc the node's proc file system
 */
record GpuHolders(NodeReading node, boolean isDynamic, Path proc) implements Check {

    /** The kernel's thread that is process 2 of each node, and of no container. */
    private static final String OF_NODES = "kthreadd";

    /** The units of daemons, by the first 15 letters of their names, which the kernel keeps. */
    private static final Map<String, String> UNITS =
            Map.of(
                    "nvidia-persiste", "nvidia-persistenced",
                    "nv-hostengine", "nvidia-dcgm",
                    "dcgm-exporter", "dcgm-exporter");

    @Override
    public String id() {
        return "gpu-holders";
    }

    @Override
    public Result look() {
        if (!isDynamic) {
            return Result.healthy("MIG mode is not switched");
        }
        Set<String> nodes = toSwitch();
        if (nodes.isEmpty()) {
            return Result.healthy("no GPU is yet to be switched to MIG mode");
        }
        if (!name(proc.resolve("2")).equals(OF_NODES)) {
            throw new NotCheckedException(
                    "this pod does not see the node's processes: run it on the node, or with hostPID");
        }
        List<Finding> findings = new ArrayList<>();
        holders(nodes).forEach((unit, held) -> findings.add(finding(unit, held)));
        return new Result("no daemon keeps a GPU open", findings);
    }

    /** The device nodes of GPUs that are not in MIG mode. */
    private Set<String> toSwitch() {
        try {
            return node.reading().present().stream()
                    .filter(gpu -> gpu.mig() != null && !gpu.mig().enabled())
                    .map(Gpu::minor)
                    .map(minor -> "/dev/nvidia" + minor)
                    .collect(Collectors.toSet());
        } catch (DraException e) {
            throw new NotCheckedException("NVML can't be used: nvml", e);
        }
    }

    private Map<String, Set<String>> holders(Set<String> nodes) {
        Map<String, Set<String>> holders = new TreeMap<>();
        for (Path process : children(proc)) {
            String unit = UNITS.get(name(process));
            if (unit != null) {
                for (Path file : children(process.resolve("fd"))) {
                    String target = target(file);
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
        try {
            return Files.readString(process.resolve("comm")).strip();
        } catch (IOException e) {
            return "";
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            return "";
        }
    }

    private Finding finding(String unit, Set<String> held) {
        List<String> mend = new ArrayList<>(List.of("sudo systemctl stop " + unit));
        if (!unit.equals("nvidia-persistenced")) {
            mend.add(
                    "# by GPU Operator: kubectl label node NODE nvidia.com/gpu.deploy.dcgm=false"
                            + " nvidia.com/gpu.deploy.dcgm-exporter=false");
        }
        mend.add("# start it again once the GPUs are in MIG mode");
        return new Finding(
                id(),
                Severity.WARNING,
                unit,
                "it keeps %s open, which %s not in MIG mode yet"
                        .formatted(String.join(", ", held), held.size() == 1 ? "is" : "are"),
                "a GPU that is open can't be switched to MIG mode or be reset: claims for MIG devices"
                        + " fail to be prepared",
                mend);
    }
}
