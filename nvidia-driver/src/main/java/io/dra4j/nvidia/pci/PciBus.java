// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.pci;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.PciAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kernel's information on PCI devices; missing values are empty. */
public record PciBus(Path sysfs) {

    private static final Pattern ROOT = Pattern.compile("pci[0-9a-f]{4,8}:[0-9a-f]{2}");
    private static final int BARS = 6; // the lines of "resource" before that of the ROM
    private static final long MEMORY = 0x200; // IORESOURCE_MEM of the kernel's ioport.h

    /**
     * Returns NVIDIA's GPUs in the order of their addresses, without the virtual functions that vGPUs use.
     *
     * @throws DraException if sysfs can't be read: unknown does not mean none
     */
    public List<PciFunction> gpus() {
        return functions(sysfs.resolve("bus/pci/devices"))
                .filter(PciFunction::isGpu)
                .filter(gpu -> !Files.exists(folder(gpu.address()).resolve("physfn")))
                .toList();
    }

    /**
     * Returns whether NVSwitches connect the GPUs.
     *
     * <p>They are on the bus or, since Blackwell, behind network adapters that report it.
     */
    public boolean hasNvswitches() {
        return functions(sysfs.resolve("bus/pci/devices")).anyMatch(PciFunction::isNvswitch) || managesNvswitches();
    }

    private boolean managesNvswitches() {
        try (Stream<Path> adapters = Files.list(sysfs.resolve("class/infiniband"))) {
            return adapters.flatMap(it -> text(it.resolve("device/vpd")).stream())
                    .anyMatch(it -> it.contains("SW_MNG"));
        } catch (IOException | UncheckedIOException e) {
            return false; // the bus has none
        }
    }

    /** Returns the functions of an IOMMU group, which only one user of vfio can open. */
    public List<PciFunction> group(String group) {
        return functions(sysfs.resolve("kernel/iommu_groups").resolve(group).resolve("devices"))
                .toList();
    }

    private Stream<PciFunction> functions(Path folder) {
        try (Stream<Path> found = Files.list(folder)) {
            return found.map(path -> path.getFileName().toString()).sorted().toList().stream()
                    .filter(PciAddress::isOne)
                    .flatMap(name -> find(new PciAddress(name)).stream());
        } catch (NoSuchFileException e) {
            return Stream.empty(); // a machine without PCI, or without the group
        } catch (IOException | UncheckedIOException e) {
            throw new DraException("Can't list the PCI devices in " + folder + ": " + e, e);
        }
    }

    /** Returns a function; empty if it is not there, or not readable. */
    public Optional<PciFunction> find(PciAddress address) {
        Path folder = folder(address);
        try {
            return Optional.of(new PciFunction(
                    address,
                    number(folder.resolve("vendor")),
                    number(folder.resolve("device")),
                    number(folder.resolve("class")) >> 8,
                    target(folder.resolve("driver")),
                    target(folder.resolve("iommu_group")),
                    Files.exists(folder.resolve("vfio-dev"))));
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static int number(Path file) throws IOException {
        return Integer.decode(Files.readString(file).strip());
    }

    private static @Nullable String target(Path link) {
        return link(link).map(target -> target.getFileName().toString()).orElse(null);
    }

    /**
     * Returns the memory that a GPU maps: that of its BARs, each rounded up to a power of two, as in NVIDIA's driver.
     */
    public Optional<Long> addressableMemory(PciAddress gpu) {
        try {
            return Optional.of(Files.readAllLines(folder(gpu).resolve("resource")).stream()
                    .limit(BARS)
                    .mapToLong(PciBus::memory)
                    .sum());
        } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    /** Reads a line with start, end and flags. */
    private static long memory(String bar) {
        String[] words = bar.strip().split(" +");
        if ((Long.decode(words[2]) & MEMORY) == 0) {
            return 0;
        }
        long size = Long.decode(words[1]) - Long.decode(words[0]) + 1;
        long highest = Long.highestOneBit(size);
        return size == highest ? size : highest << 1;
    }

    /** Returns the root complex of a device, {@code pci0000:00}. */
    public Optional<String> pcieRoot(PciAddress device) {
        for (Path part : link(folder(device)).orElse(Path.of(""))) {
            if (ROOT.matcher(part.toString()).matches()) {
                return Optional.of(part.toString());
            }
        }
        return Optional.empty();
    }

    /** Returns the NUMA node of a device, which may have only memory. */
    public Optional<Long> numaNode(PciAddress device) {
        return text(folder(device).resolve("numa_node")).flatMap(PciBus::parsed).filter(node -> node >= 0);
    }

    public long virtualFunctions(PciAddress device) {
        return text(folder(device).resolve("sriov_numvfs"))
                .flatMap(PciBus::parsed)
                .orElse(0L);
    }

    /** Returns a file of the kernel without the white space around its text; empty if it can't be read. */
    public static Optional<String> text(Path file) {
        try {
            return Optional.of(
                    Files.readString(file, StandardCharsets.ISO_8859_1).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns the target of a link of the kernel, as it is written; empty if it can't be read. */
    public static Optional<Path> link(Path file) {
        try {
            return Optional.of(Files.readSymbolicLink(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    static Optional<Long> parsed(String number) {
        try {
            return Optional.of(Long.parseLong(number));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Returns whether the kernel has iommufd, whose device is {@code /dev/iommu}. */
    public boolean hasIommufd() {
        return Files.exists(sysfs.resolve("class/misc/iommu"));
    }

    /**
     * Returns whether the kernel has {@code /dev/vfio/vfio}, the older interface of vfio.
     *
     * <p>iommufd may also be built to provide it.
     */
    public boolean hasVfioContainers() {
        return Files.exists(sysfs.resolve("class/misc/vfio"));
    }

    /** Returns {@code vfio3}, the name of a device in {@code /dev/vfio/devices}, if it has one. */
    public Optional<String> vfioDevice(PciAddress device) {
        try (Stream<Path> found = Files.list(folder(device).resolve("vfio-dev"))) {
            return found.map(path -> path.getFileName().toString()).sorted().findFirst();
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }

    public boolean isLoaded(String driver) {
        return Files.isDirectory(driver(driver));
    }

    /** Returns the directory of a driver, which exists while the driver is loaded. */
    public Path driver(String name) {
        return sysfs.resolve("bus/pci/drivers").resolve(name);
    }

    public Path folder(PciAddress device) {
        return sysfs.resolve("bus/pci/devices").resolve(device.text());
    }
}
