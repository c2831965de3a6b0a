// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.fabric.FabricManager;
import io.dra4j.nvidia.fabric.Partitions.Partition;
import io.dra4j.nvidia.gates.NvidiaGate;
import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.NvmlProblem;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.pci.PciFunction;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The checks of a node with NVIDIA's GPUs. */
public final class NvidiaChecks {

    private final InstallOptions install;
    private final Roots roots;
    private final NodeReading node;

    private NvidiaChecks(InstallOptions install, Roots roots) {
        this.install = install;
        this.roots = roots;
        this.node = new NodeReading(install, roots.proc());
    }

    /**
     * Returns the checks, none of which has run yet.
     *
     * @param hook the program that an option names; null for the driver's own
     * @param directory the driver's directory, to which it copies its own
     */
    public static List<Check> of(InstallOptions install, Roots roots, @Nullable Path hook, Path directory) {
        return new NvidiaChecks(install, roots).all(hook, directory);
    }

    private List<Check> all(@Nullable Path hook, Path directory) {
        HookProgram copied = HookProgram.copied(directory);
        HookProgram given = hook == null ? null : HookProgram.at(hook);
        String otherwise = "# start the driver without --nvidia-cdi-hook-path (charts: nvidiaCDIHookPath)";
        Edits edits = new Edits(roots, copied);
        List<Check> checks = new ArrayList<>();
        checks.add(Check.of("driver-root", this::driverRoot));
        checks.add(Check.of("nvml", this::nvml));
        checks.add(Check.of("hook", () -> given == null ? ownHook(copied, directory) : hook(given, otherwise)));
        checks.add(Check.of("driver-files", () -> files(edits)));
        checks.add(new GpuHolders(
                node,
                new GpuHolders.Changes(install.isDynamicMig(), install.isPassthrough()),
                install.nvidiaSmi(),
                roots.proc()));
        if (install.gates().featureGates().isOn(NvidiaGate.MPSSupport)) {
            checks.add(new MpsProcesses(roots.proc()));
        }
        if (install.isPartitioned()) {
            checks.add(Check.of("fabric-manager", this::fabricManager));
        }
        if (install.isPassthrough()) {
            checks.addAll(new VfioChecks(install.sysfs(), roots.proc()).all());
        }
        return checks;
    }

    private static CheckResult error(String id, String object, String what, String why, String... fix) {
        return CheckResult.found(new Finding(id, Severity.ERROR, object, what, why, List.of(fix)));
    }

    private CheckResult ownHook(HookProgram program, Path directory) {
        return Files.isDirectory(directory)
                ? hook(program, "kubectl --namespace NAMESPACE delete pod POD    # of the driver on this node")
                : CheckResult.healthy("the driver copies it to %s when it starts".formatted(directory));
    }

    private CheckResult hook(HookProgram program, String fix) {
        String path = program.path().toString();
        try {
            program.requireThere(roots);
            return CheckResult.healthy(path);
        } catch (PrepareException e) {
            return error(
                    "hook",
                    path,
                    String.valueOf(e.getMessage()),
                    "claims can't be prepared, and containers of earlier ones can't start again",
                    "ls -l %s    # on the node".formatted(path),
                    fix);
        }
    }

    private CheckResult fabricManager() {
        FabricManager.Reading found = install.fabricManager().read();
        if (found.problem() != null) {
            return error(
                    "fabric-manager",
                    "the fabric manager",
                    found.problem(),
                    "claims of whole GPUs can't be prepared: their partitions can't be activated",
                    "systemctl status nvidia-fabricmanager    # or in the driver container");
        }
        List<Partition> all = found.partitions().all();
        return CheckResult.healthy("%d partitions, %d active"
                .formatted(all.size(), all.stream().filter(Partition::isActive).count()));
    }

    private CheckResult driverRoot() {
        try {
            return CheckResult.healthy(node.library().toString());
        } catch (DraException e) {
            if (node.isForMachines()) {
                return CheckResult.healthy("virtual machines have all GPUs: it is not needed");
            }
            return error(
                    "driver-root",
                    roots.driver().here().toString(),
                    String.valueOf(e.getMessage()),
                    "the driver publishes no GPU, and containers would get no libraries",
                    "nvidia-smi    # on the node: does NVIDIA's driver work at all?",
                    "find / -name 'libnvidia-ml.so.1' 2>/dev/null    # below another root, or in an unknown folder?",
                    "# start the driver with --nvidia-driver-root=/run/nvidia/driver, for example (charts:"
                            + " nvidiaDriverRoot); / is for drivers that the node's packages installed",
                    "# or with the folder in --driver-library-folders (charts: driverFolders.libraries)");
        }
    }

    private CheckResult files(Edits edits) {
        if (node.isForMachines()) {
            return CheckResult.healthy("virtual machines have all GPUs: they are not needed");
        }
        String version = version();
        if (node.reading().present().isEmpty()) {
            return CheckResult.healthy("no GPU needs them");
        }
        try {
            edits.requireFiles(version);
            return CheckResult.healthy("all that CUDA needs, of driver " + version);
        } catch (PrepareException e) {
            return error(
                    "driver-files",
                    "containers",
                    String.valueOf(e.getMessage()),
                    "devices are published, but no claim for them can be prepared",
                    "ls -l /dev/nvidia*    # on the node",
                    "sudo nvidia-modprobe -u -c0    # loads the modules, and creates the nodes",
                    "# libraries in another folder: --driver-library-folders (charts: driverFolders.libraries)");
        }
    }

    private String version() {
        try {
            return node.reading().driverVersion();
        } catch (DraException e) {
            throw new NotCheckedException("the driver's version is not known: nvml", e);
        }
    }

    private CheckResult nvml() {
        if (node.isForMachines()) {
            return CheckResult.healthy("virtual machines have all GPUs");
        }
        if (!node.hasLibrary()) {
            throw new NotCheckedException("NVML is not found: driver-root");
        }
        try {
            return nvml(node.reading());
        } catch (DraException e) {
            return nvmlFails(String.valueOf(e.getMessage()));
        }
    }

    /** NVML does not see the GPUs of virtual machines. */
    private CheckResult nvml(Reading reading) {
        int gpus = reading.present().size();
        boolean passthrough = install.isPassthrough();
        List<PciFunction> bound = gpus == 0 && passthrough ? node.ofNvidiasDriver() : List.of();
        return gpus > 0 || passthrough && bound.isEmpty()
                ? CheckResult.healthy(
                        "driver %s, %d GPU%s".formatted(reading.driverVersion(), gpus, gpus == 1 ? "" : "s"))
                : nvmlFails("NVML reports no GPU" + of(bound) + unread(reading));
    }

    private static String unread(Reading reading) {
        return reading.problems().stream()
                .filter(problem -> problem.cost() == NvmlProblem.Cost.GPU)
                .map(problem -> "; " + problem.subject() + " " + problem.reason())
                .collect(Collectors.joining());
    }

    private static String of(List<PciFunction> bound) {
        return bound.stream()
                .map(gpu -> gpu.address().text())
                .reduce((some, more) -> some + ", " + more)
                .map(all -> ", and on the PCI bus its driver has " + all)
                .orElse("");
    }

    private static CheckResult nvmlFails(String what) {
        return error(
                "nvml",
                "NVML",
                what,
                "the driver publishes no GPU",
                "nvidia-smi",
                "cat /proc/driver/nvidia/version    # the kernel's driver: the same version as the library?",
                "sudo dmesg | grep -i 'NVRM\\|Xid' | tail",
                "# after an update of NVIDIA's packages: reboot the node, or unload and load the module");
    }
}
