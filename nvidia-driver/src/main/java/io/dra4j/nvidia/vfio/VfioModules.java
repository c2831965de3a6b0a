// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciBus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The kernel's modules by which programs have PCI devices for themselves: vfio-pci, and for some
 * devices one that does more, such as for the memory of GPUs on Grace boards.
 *
 * @param bus the PCI bus
 * @param proc the mount point of procfs, by which the files of the node are seen as its first
 *     process sees them
 * @see <a href="https://docs.kernel.org/driver-api/vfio.html">VFIO, PCI variant drivers</a>
 */
record VfioModules(PciBus bus, Path proc) {

    private static final Pattern ALIAS = Pattern.compile("alias vfio_pci:(\\S+) (\\S+)");

    /**
     * Returns the driver to which a device has to be bound: as sysfs names it, or its module if it is
     * not loaded. Names of modules have underscores, where those of drivers may have hyphens.
     */
    String driver(PciAddress device) {
        String module = module(device).filter(name -> !name.equals("vfio_pci")).orElse(PassthroughGpus.VFIO);
        String hyphened = module.replace('_', '-');
        return Files.isDirectory(bus.driver(hyphened)) ? hyphened : module;
    }

    /** Returns the module whose alias fits with the fewest wildcards. */
    private Optional<String> module(PciAddress device) {
        String wanted = PciBus.text(bus.folder(device).resolve("modalias")).orElse("");
        return aliases().stream()
                .filter(alias -> fits("pci:" + alias.group(1), wanted))
                .min(Comparator.comparingLong(alias ->
                        alias.group(1).chars().filter(one -> one == '*').count()))
                .map(alias -> alias.group(2));
    }

    private static boolean fits(String pattern, String device) {
        return FileSystems.getDefault().getPathMatcher("glob:" + pattern).matches(Path.of(device));
    }

    private List<Matcher> aliases() {
        String release = PciBus.text(proc.resolve("sys/kernel/osrelease")).orElse("");
        try (Stream<String> lines = Files.lines(proc.resolve("1/root/lib/modules/" + release + "/modules.alias"))) {
            return lines.map(ALIAS::matcher).filter(Matcher::matches).toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of(); // vfio-pci is for all devices
        }
    }
}
