// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import io.dra4j.nvidia.vfio.PassthroughChecks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Checks that the node's GPUs can be assigned to virtual machines, according to sysfs.
 *
 * @see <a href="https://docs.kernel.org/driver-api/vfio.html">VFIO: groups, and device nodes</a>
 */
final class VfioChecks {

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
            fix.add("echo %1$s | sudo tee /sys/bus/pci/devices/%1$s/driver/unbind    # if the node can do without it"
                    .formatted(other.address()));
        }
        fix.add("# otherwise move the GPU to another slot, or enable ACS in the firmware, which makes smaller groups");
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
