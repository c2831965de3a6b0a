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

    private NvidiaChecks() {}

    /**
     * Returns the checks, none of which has run yet.
     *
     * @param install the options that locate NVIDIA's driver
     * @param roots the roots of the driver
     * @param hook the program that an option names; null for the driver's own
     * @param directory the driver's directory, to which it copies its own
     */
    public static List<Check> of(InstallOptions install, Roots roots, @Nullable Path hook, Path directory) {
        NodeReading node = new NodeReading(install, roots.proc());
        List<Check> checks = new ArrayList<>();
        checks.add(new DriverRootCheck(roots.driver().here(), node));
        checks.add(new NvmlCheck(node, install.isPassthrough()));
        checks.add(
                hook == null
                        ? new HookCheck(HookProgram.copied(directory), roots, directory)
                        : new HookCheck(HookProgram.at(hook), roots, null));
        checks.add(new ContainersCheck(new Edits(roots, HookProgram.copied(directory)), node));
        checks.add(new GpuHolders(
                node,
                new GpuHolders.Changes(install.isDynamicMig(), install.isPassthrough()),
                install.nvidiaSmi(),
                roots.proc()));
        if (install.gates().featureGates().isOn(NvidiaGate.MPSSupport)) {
            checks.add(new MpsProcesses(roots.proc()));
        }
        if (install.isPartitioned()) {
            checks.add(new FabricCheck(install.fabricManager()));
        }
        if (install.isPassthrough()) {
            checks.addAll(new VfioChecks(install.sysfs(), roots.proc()).all());
        }
        return checks;
    }

    /**
     * Checks that the program which prepares containers is there.
     *
     * @param program the program, as the driver names it in CDI specs
     * @param roots the roots of the driver
     * @param copied the folder to which the driver copies the program; null if an option names it
     */
    private record HookCheck(
            HookProgram program, Roots roots, @Nullable Path copied) implements Check {

        @Override
        public String id() {
            return "hook";
        }

        @Override
        public CheckResult look() {
            if (copied != null && !Files.isDirectory(copied)) {
                return CheckResult.healthy("the driver copies it to %s when it starts".formatted(copied));
            }
            try {
                program.requireThere(roots);
                return CheckResult.healthy(program.path().toString());
            } catch (PrepareException e) {
                return new CheckResult("", List.of(finding(String.valueOf(e.getMessage()))));
            }
        }

        private Finding finding(String what) {
            return new Finding(
                    id(),
                    Severity.ERROR,
                    program.path().toString(),
                    what,
                    "claims can't be prepared, and containers of earlier ones can't start again",
                    List.of(
                            "ls -l %s    # on the node".formatted(program.path()),
                            copied == null
                                    ? "# start the driver without --nvidia-cdi-hook-path (charts: nvidiaCDIHookPath)"
                                    : "kubectl --namespace NAMESPACE delete pod POD    # of the driver on this node"));
        }
    }

    /** Checks that the fabric manager answers, if claims need partitions. */
    private record FabricCheck(FabricManager fabric) implements Check {

        @Override
        public String id() {
            return "fabric-manager";
        }

        @Override
        public CheckResult look() {
            FabricManager.Reading found = fabric.read();
            if (found.problem() != null) {
                return new CheckResult("", List.of(finding(found.problem())));
            }
            List<Partition> all = found.partitions().all();
            return CheckResult.healthy("%d partitions, %d active"
                    .formatted(
                            all.size(), all.stream().filter(Partition::isActive).count()));
        }

        private Finding finding(String what) {
            String why = "claims of whole GPUs can't be prepared: their partitions can't be activated";
            List<String> next = List.of("systemctl status nvidia-fabricmanager    # or in the driver container");
            return new Finding(id(), Severity.ERROR, "the fabric manager", what, why, next);
        }
    }

    /**
     * Checks that NVIDIA's driver is below the driver root.
     *
     * @param root the driver root, as this program sees it
     */
    private record DriverRootCheck(Path root, NodeReading node) implements Check {

        @Override
        public String id() {
            return "driver-root";
        }

        @Override
        public CheckResult look() {
            try {
                return CheckResult.healthy(node.library().toString());
            } catch (DraException e) {
                if (node.isForMachines()) {
                    return CheckResult.healthy("virtual machines have all GPUs: it is not needed");
                }
                return new CheckResult("", List.of(finding(String.valueOf(e.getMessage()))));
            }
        }

        private Finding finding(String what) {
            return new Finding(
                    id(),
                    Severity.ERROR,
                    root.toString(),
                    what,
                    "the driver publishes no GPU, and containers would get no libraries",
                    List.of(
                            "nvidia-smi    # on the node: does NVIDIA's driver work at all?",
                            "find / -name 'libnvidia-ml.so.1' 2>/dev/null    # below another root, or in an unknown folder?",
                            "# start the driver with --nvidia-driver-root=/run/nvidia/driver, for example (charts:"
                                    + " nvidiaDriverRoot); / is for drivers that the node's packages installed",
                            "# or with the folder in --driver-library-folders (charts: driverFolders.libraries)"));
        }
    }

    /** Checks that the device nodes and files for containers exist. */
    private record ContainersCheck(Edits edits, NodeReading node) implements Check {

        @Override
        public String id() {
            return "driver-files";
        }

        @Override
        public CheckResult look() {
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
                return new CheckResult("", List.of(finding(String.valueOf(e.getMessage()))));
            }
        }

        private String version() {
            try {
                return node.reading().driverVersion();
            } catch (DraException e) {
                throw new NotCheckedException("the driver's version is not known: nvml", e);
            }
        }

        private Finding finding(String what) {
            return new Finding(
                    id(),
                    Severity.ERROR,
                    "containers",
                    what,
                    "devices are published, but no claim for them can be prepared",
                    List.of(
                            "ls -l /dev/nvidia*    # on the node",
                            "sudo nvidia-modprobe -u -c0    # loads the modules, and creates the nodes",
                            "# libraries in another folder: --driver-library-folders (charts: driverFolders.libraries)"));
        }
    }

    /**
     * Checks that NVML works with the kernel's driver, and reports GPUs.
     *
     * @param passthrough whether GPUs may be assigned to virtual machines, where NVML does not see them
     */
    private record NvmlCheck(NodeReading node, boolean passthrough) implements Check {

        @Override
        public String id() {
            return "nvml";
        }

        @Override
        public CheckResult look() {
            if (node.isForMachines()) {
                return CheckResult.healthy("virtual machines have all GPUs");
            }
            if (!node.hasLibrary()) {
                throw new NotCheckedException("NVML is not found: driver-root");
            }
            try {
                int gpus = node.reading().present().size();
                List<PciFunction> bound = gpus == 0 && passthrough ? node.ofNvidiasDriver() : List.of();
                if (gpus > 0 || passthrough && bound.isEmpty()) {
                    return CheckResult.healthy("driver %s, %d GPU%s"
                            .formatted(node.reading().driverVersion(), gpus, gpus == 1 ? "" : "s"));
                }
                return new CheckResult(
                        "", List.of(finding("NVML reports no GPU" + of(bound) + unread(node.reading()))));
            } catch (DraException e) {
                return new CheckResult("", List.of(finding(String.valueOf(e.getMessage()))));
            }
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

        private Finding finding(String what) {
            return new Finding(
                    id(),
                    Severity.ERROR,
                    "NVML",
                    what,
                    "the driver publishes no GPU",
                    List.of(
                            "nvidia-smi",
                            "cat /proc/driver/nvidia/version    # the kernel's driver: the same version as the library?",
                            "sudo dmesg | grep -i 'NVRM\\|Xid' | tail",
                            "# after an update of NVIDIA's packages: reboot the node, or unload and load the module"));
        }
    }
}
