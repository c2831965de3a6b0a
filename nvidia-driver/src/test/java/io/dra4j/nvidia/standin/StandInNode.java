// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.node.DeviceFolder;
import io.dra4j.nvidia.node.DriverRoot;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A node with boards that do not exist: the stand-in of NVML in an installed driver, and what the
 * kernel reports of the boards.
 *
 * @param folder where all of it is
 */
public record StandInNode(Path folder) {

    /** The version of the driver that most nodes have. */
    public static final String VERSION = "550.163.01";

    /** The directory of the built stand-in; another module says where it is. */
    static final Path BUILT = Path.of(System.getProperty("dra4j.nvml", "target/nvml"));

    private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu/";

    /** The most compute instances in each GPU instance. */
    private static final List<Integer> COMPUTES = List.of(7, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1);

    private static final List<String> FILES = List.of(
            LIBRARIES + "libcuda.so." + VERSION,
            LIBRARIES + "libnvidia-ml.so." + VERSION,
            LIBRARIES + "libnvidia-ptxjitcompiler.so." + VERSION,
            LIBRARIES + "libGLX_nvidia.so." + VERSION,
            LIBRARIES + "libnvidia-egl-gbm.so.1.1.1",
            LIBRARIES + "vdpau/libvdpau_nvidia.so." + VERSION,
            "usr/bin/nvidia-smi",
            "usr/bin/nvidia-cdi-hook",
            "usr/share/vulkan/icd.d/nvidia_icd.json",
            "lib/firmware/nvidia/" + VERSION + "/gsp_ga10x.bin",
            "run/nvidia-persistenced/socket");

    /** Beside those of the GPUs. */
    private static final List<String> NODES = List.of("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools");

    /** Installs the driver, with boards of a name. */
    public static StandInNode install(Path folder, String boards) {
        return install(folder, boards, "now");
    }

    /** Installs an older driver, which lacks what came late. */
    public static StandInNode installOlder(Path folder, String boards) {
        return install(folder, boards, "older");
    }

    private static StandInNode install(Path folder, String boards, String age) {
        StandInNode node = new StandInNode(folder);
        try {
            for (String file : FILES) {
                Files.createDirectories(node.root().resolve(file).getParent());
                Files.writeString(node.root().resolve(file), "");
            }
            Files.setPosixFilePermissions(node.hook(), PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.copy(BUILT.resolve(age).resolve("libnvidia-ml.so.1"), node.library());
            node.boards(text("boards/" + boards + ".txt"));
            for (String name : NODES) {
                node.deviceNode(name);
            }
            node.link("libcuda.so.1", "libcuda.so." + VERSION);
            node.kernel();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return node;
    }

    /** Replaces the library by that of another architecture, after all that it is to say here is known. */
    public void useLibraryOf(String architecture) {
        try {
            Path built = BUILT.resolve(architecture).resolve("libnvidia-ml.so.1");
            Files.copy(built, library(), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("The build makes no stand-in of NVML for " + architecture, e);
        }
    }

    /** Reads a file of the stand-ins. */
    static String text(String path) throws IOException {
        String name = "/io/dra4j/nvidia/" + path;
        try (InputStream file = StandInNode.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(file, name).readAllBytes());
        }
    }

    /** Sets what boards there are, before anybody has opened the library. */
    public void boards(String text) throws IOException {
        Files.writeString(Path.of(library() + ".boards"), text);
    }

    private void link(String name, String target) throws IOException {
        Files.createSymbolicLink(library().resolveSibling(name), Path.of(target));
    }

    /** Writes the files of the kernel for each board. */
    private void kernel() throws IOException {
        try (Nvml nvml = Nvml.open(library())) {
            for (Gpu gpu : nvml.read().gpus()) {
                deviceNode("nvidia" + gpu.minor());
                device(gpu);
                if (gpu.mig() != null) {
                    capabilities(gpu.minor());
                }
            }
        }
        Files.createDirectories(module());
        Files.createDirectories(proc());
        Files.writeString(
                proc().resolve("devices"), "Character devices:\n195 nvidia\n234 nvidia-caps\n\nBlock devices:\n");
        Path boot = proc().resolve("sys/kernel/random/boot_id");
        Files.createDirectories(boot.getParent());
        Files.writeString(boot, UUID.randomUUID() + "\n");
        booted(Instant.now().minus(Duration.ofHours(1)));
    }

    /** Sets the time at which the node was booted. */
    public void booted(Instant time) throws IOException {
        Files.writeString(
                proc().resolve("stat"),
                "cpu  1 0 1 9 0 0 0 0 0 0\nctxt 9\nbtime %d\nprocesses 9\n".formatted(time.getEpochSecond()));
    }

    /** Sets that processes see only those of their own container. */
    public void hideProcesses() throws IOException {
        for (String link : List.of("self/ns/pid", "self/ns/mnt", "1/ns/mnt")) {
            Files.createDirectories(proc().resolve(link).getParent());
            Files.createSymbolicLink(
                    proc().resolve(link), Path.of(link.endsWith("pid") ? "pid:[4026532000]" : "mnt:[1]"));
        }
    }

    private void device(Gpu gpu) throws IOException {
        Path real = sysfs().resolve("devices/pci0000:00/0000:00:01.0")
                .resolve(gpu.pci().text());
        Files.createDirectories(real.resolve("drm/renderD" + (128 + gpu.minor())));
        Files.writeString(real.resolve("numa_node"), gpu.minor() / 4 + "\n");
        Path link = sysfs().resolve("bus/pci/devices").resolve(gpu.pci().text());
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, link.getParent().relativize(real));
        deviceNode("dri/renderD" + (128 + gpu.minor()));
    }

    /** Only root can make one: it is a file. */
    private void deviceNode(String name) throws IOException {
        Path node = root().resolve("dev").resolve(name);
        Files.createDirectories(node.getParent());
        Files.writeString(node, "");
    }

    /** A GPU has about a hundred of these files, and no test changes them: all nodes share them. */
    private void capabilities(int minor) throws IOException {
        String name = "gpu" + minor;
        Path shared = BUILT.toAbsolutePath().resolve("capabilities").resolve(name);
        if (!Files.exists(shared)) {
            share(writeCapabilities(minor), shared);
        }
        Path link = proc().resolve("driver/nvidia/capabilities").resolve(name);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, shared);
    }

    private static void share(Path written, Path shared) throws IOException {
        Files.createDirectories(shared.getParent());
        try {
            Files.move(written, shared, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            if (!Files.exists(shared)) { // else another process was first
                throw e;
            }
        }
    }

    /** As many as there can be: the smaller an instance, the larger its number. */
    private static Path writeCapabilities(int minor) throws IOException {
        Path written = Files.createTempDirectory(BUILT, "gpu");
        for (int instance = 0; instance < COMPUTES.size(); instance++) {
            String folder = "mig/gi" + instance;
            int number = 3 + (minor * COMPUTES.size() + instance) * 9;
            writeCapability(written.resolve(folder).resolve("access"), number);
            for (int compute = 0; compute < COMPUTES.get(instance); compute++) {
                writeCapability(
                        written.resolve(folder).resolve("ci" + compute).resolve("access"), number + 1 + compute);
            }
        }
        return written;
    }

    private static void writeCapability(Path file, int number) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "DeviceFileMinor: " + number + "\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
    }

    private Path module() {
        return sysfs().resolve("module/nvidia");
    }

    /** Unloads the kernel's driver and returns NVML's code: 19 while a process has a session. */
    public int unload() throws IOException {
        int code = administrator().unload();
        if (code == 0) {
            hideModule();
        }
        return code;
    }

    /** Loads a version of the kernel's driver, whose directory in sysfs has another inode. */
    public void load(String version) throws IOException {
        if (Files.exists(module())) {
            hideModule();
        }
        Files.createDirectory(module());
        administrator().load();
        state().replaced(version);
    }

    /** Keeps the directory, so that no other gets its inode, which the kernel does not reuse. */
    private void hideModule() throws IOException {
        Files.move(module(), folder.resolve("unloaded-" + UUID.randomUUID()));
    }

    /** Replaces the files of the driver by those of another version, as a package does. */
    public void update(String version) throws IOException {
        Path fresh = library("fresh");
        Files.copy(BUILT.resolve("now/libnvidia-ml.so.1"), fresh);
        Files.move(fresh, library(), StandardCopyOption.REPLACE_EXISTING);
        Files.delete(library("libcuda.so.1"));
        for (Path file : filesOf(installedVersion())) {
            Files.deleteIfExists(file);
        }
        for (Path file : filesOf(version)) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, "");
        }
        link("libcuda.so.1", "libcuda.so." + version);
    }

    private List<Path> filesOf(String version) {
        return FILES.stream()
                .filter(file -> file.contains(VERSION))
                .map(file -> root().resolve(file.replace(VERSION, version)))
                .toList();
    }

    private String installedVersion() throws IOException {
        try (Stream<Path> files = Files.list(library().getParent())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("libcuda.so.") && name.length() > 13)
                    .map(name -> name.substring("libcuda.so.".length()))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Returns the program's NVML of this node, without a session. */
    public Nvml nvml() {
        return options().nvml(proc());
    }

    /** Returns the options that locate this node's driver. */
    public InstallOptions options(String... more) {
        InstallOptions options = new InstallOptions();
        CommandSpec command = CommandSpec.create();
        command.addMixin("install", CommandSpec.forAnnotatedObject(options));
        List<String> all = new ArrayList<>(List.of("--nvidia-driver-root=" + root(), "--sysfs-root=" + sysfs()));
        all.addAll(List.of(more));
        new CommandLine(command).parseArgs(all.toArray(String[]::new));
        return options;
    }

    /** Returns whether a process has a session open. */
    public boolean hasSession(long pid) throws IOException {
        return openFiles(pid).contains(session());
    }

    /** Returns the files of this node that a process has open. */
    public List<Path> openFiles(long pid) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
            return files.flatMap(StandInNode::target)
                    .filter(file -> file.startsWith(folder))
                    .toList();
        }
    }

    private static Stream<Path> target(Path link) {
        try {
            return Stream.of(Files.readSymbolicLink(link));
        } catch (IOException e) {
            return Stream.empty(); // closed since
        }
    }

    /** The root of the driver. */
    public Path root() {
        return folder.resolve("driver");
    }

    /** The stand-in. */
    public Path library() {
        return root().resolve(LIBRARIES + "libnvidia-ml.so.1");
    }

    /** A library of the driver. */
    public Path library(String name) {
        return root().resolve(LIBRARIES + name);
    }

    /** The program that prepares containers. */
    public Path hook() {
        return root().resolve("usr/bin/nvidia-cdi-hook");
    }

    /** Returns the mount point of sysfs. */
    public Path sysfs() {
        return folder.resolve("sys");
    }

    /** Returns the mount point of procfs. */
    public Path proc() {
        return folder.resolve("proc");
    }

    /** The roots as they are for a program on the node. */
    public Roots roots() {
        return new Roots(new DriverRoot(root(), root()), DeviceFolder.of(null, null), proc(), sysfs());
    }

    /** The file that a process has open while it has a session. */
    public Path session() {
        return Path.of(library() + ".session");
    }

    /** The names of all functions of the library. */
    public static List<String> functions() {
        try {
            return Files.readAllLines(BUILT.resolve("functions"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The administrator, whose programs are other processes than the driver. */
    public Administrator administrator() {
        return new Administrator(Path.of(library() + ".state"));
    }

    /** The hardware. */
    public NodeState state() {
        return NodeState.map(Path.of(library() + ".state"));
    }
}
