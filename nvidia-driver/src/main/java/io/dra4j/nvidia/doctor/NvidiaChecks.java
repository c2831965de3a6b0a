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
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.vfio.PassthroughChecks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
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
        try {
            node.library();
        } catch (DraException e) {
            throw new NotCheckedException("NVML is not found: driver-root", e);
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

    /**
     * Checks that the node's GPUs can be assigned to virtual machines, according to sysfs.
     *
     * @see <a href="https://docs.kernel.org/driver-api/vfio.html">VFIO: groups, and device nodes</a>
     */
    private static final class VfioChecks {

        private final PciBus bus;
        private final PassthroughChecks conditions;

        VfioChecks(Path sysfs, Path proc) {
            bus = new PciBus(sysfs);
            conditions = new PassthroughChecks(bus, proc);
        }

        List<Check> all() {
            return List.of(
                    check("iommu", this::iommu),
                    check("vfio-module", this::module),
                    check("iommu-group", this::groups),
                    check("vfio-nodes", this::nodes));
        }

        private Check check(String id, Function<List<PciFunction>, CheckResult> look) {
            return Check.of(id, () -> {
                List<PciFunction> gpus = NodeReading.onBus(bus);
                return gpus.isEmpty() ? CheckResult.healthy("no GPU is on the PCI bus") : look.apply(gpus);
            });
        }

        private CheckResult iommu(List<PciFunction> gpus) {
            String without = gpus.stream()
                    .filter(gpu -> gpu.group() == null)
                    .map(gpu -> gpu.address().text())
                    .collect(Collectors.joining(", "));
            return without.isEmpty()
                    ? CheckResult.healthy("each GPU has an IOMMU group")
                    : found(
                            "iommu",
                            Severity.ERROR,
                            "GPU " + without,
                            "it has no IOMMU group: the IOMMU is off",
                            "no virtual machine can use it: claims for it can't be prepared",
                            List.of(
                                    "ls /sys/kernel/iommu_groups    # empty while the IOMMU is off",
                                    "# switch it on in the firmware: VT-d on Intel, AMD-Vi on AMD, the SMMU on Arm",
                                    "cat /proc/cmdline    # on Intel, the kernel may need intel_iommu=on, and a reboot"));
        }

        private CheckResult module(List<PciFunction> gpus) {
            Map<Boolean, List<String>> modules = conditions.modulesOf(gpus);
            String missing = String.join(" ", modules.get(false));
            return missing.isEmpty()
                    ? CheckResult.healthy(String.join(", ", modules.get(true)) + " is loaded")
                    : found(
                            "vfio-module",
                            Severity.ERROR,
                            missing,
                            "the kernel module is not loaded",
                            "GPUs can't be bound to it: claims for virtual machines can't be prepared",
                            List.of(
                                    "sudo modprobe -a " + missing,
                                    "printf '%%s\\n' %s | sudo tee /etc/modules-load.d/vfio.conf    # at each boot"
                                            .formatted(missing),
                                    "modinfo %s    # not found: the kernel lacks it, or a package with more modules"
                                            .formatted(missing)));
        }

        /** A group is reported once, however many GPUs it has. */
        private CheckResult groups(List<PciFunction> gpus) {
            Map<String, Finding> findings = new TreeMap<>();
            for (PciFunction gpu : gpus) {
                List<PciFunction> conflicting = conditions.conflicting(gpu);
                if (!conflicting.isEmpty()) {
                    findings.putIfAbsent(String.valueOf(gpu.group()), shared(gpu, conflicting));
                }
            }
            return new CheckResult("each GPU has its own IOMMU group", new ArrayList<>(findings.values()));
        }

        private static Finding shared(PciFunction gpu, List<PciFunction> conflicting) {
            List<String> fix = new ArrayList<>();
            fix.add("ls -l /sys/kernel/iommu_groups/%s/devices".formatted(gpu.group()));
            for (PciFunction other :
                    conflicting.stream().filter(one -> !one.isGpu()).toList()) {
                fix.add(
                        "echo %1$s | sudo tee /sys/bus/pci/devices/%1$s/driver/unbind    # if the node can do without it"
                                .formatted(other.address()));
            }
            fix.add(
                    "# otherwise move the GPU to another slot, or enable ACS in the firmware, which makes smaller groups");
            return new Finding(
                    "iommu-group",
                    Severity.ERROR,
                    "IOMMU group " + gpu.group(),
                    "GPU %s is in it with %s".formatted(gpu.address(), PassthroughChecks.named(conflicting)),
                    conflicting.stream().anyMatch(PciFunction::isGpu)
                            ? "the kernel assigns a group as a whole: its GPUs are not offered to virtual machines, because one could reach the GPU of another"
                            : "the kernel assigns a group as a whole: claims for the GPU can't be prepared, because the node would lose the other devices",
                    fix);
        }

        private CheckResult nodes(List<PciFunction> gpus) {
            List<String> missing = conditions.modulesOf(gpus).get(false);
            if (!missing.isEmpty()) {
                throw new NotCheckedException(String.join(", ", missing) + " is not loaded: vfio-module");
            }
            if (bus.hasVfioContainers()) {
                return CheckResult.healthy("/dev/vfio/vfio" + (bus.hasIommufd() ? ", /dev/iommu" : ""));
            }
            return bus.hasIommufd()
                    ? found(
                            "vfio-nodes",
                            Severity.WARNING,
                            "/dev/vfio/vfio",
                            "the kernel has only /dev/iommu",
                            "a claim without backendPolicy PreferIommuFD gets nodes that do not exist, or"
                                    + " that can't be used: its containers or its machine do not start",
                            List.of(
                                    "# in DeviceClass or claim, set iommu.backendPolicy of VfioDeviceConfig to PreferIommuFD",
                                    "grep VFIO_CONTAINER /boot/config-$(uname -r)    # or start a kernel that was built with it"))
                    : found(
                            "vfio-nodes",
                            Severity.ERROR,
                            "/dev/vfio/vfio",
                            "the kernel has neither it nor /dev/iommu",
                            "no program can open a GPU: virtual machines with one do not start",
                            List.of(
                                    "sudo modprobe vfio; sudo modprobe iommufd",
                                    "grep -E 'VFIO|IOMMUFD' /boot/config-$(uname -r)    # what the kernel was built with"));
        }

        private static CheckResult found(
                String id, Severity severity, String object, String what, String why, List<String> fix) {
            return CheckResult.found(new Finding(id, severity, object, what, why, fix));
        }
    }
}
