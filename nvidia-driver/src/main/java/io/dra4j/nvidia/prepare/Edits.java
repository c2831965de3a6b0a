// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.node.DriverFiles;
import io.dra4j.nvidia.node.DriverSearch;
import io.dra4j.nvidia.node.DriverView;
import io.dra4j.nvidia.node.FolderEntries;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.pci.PciBus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds the edits of containers with GPUs. Thread-safe.
 *
 * <p>The driver's files are searched once, and again when its version, its library or a searched
 * folder changes: a driver may be reinstalled while this program runs. While the installation is the same, its own
 * files have to exist.
 */
public final class Edits {

    private static final Logger LOG = LoggerFactory.getLogger(Edits.class);

    private static final List<String> READ_ONLY = List.of("ro", "nosuid", "nodev", "rbind", "rprivate");
    private static final List<String> OF_DAEMON = List.of("nosuid", "nodev", "rbind", "rprivate", "noexec");

    private static final List<String> NODES =
            List.of(DeviceNodes.OF_DISPLAYS, "nvidia-uvm-tools", "nvidia-uvm", Roots.CONTROL);

    private final Roots roots;
    private final HookProgram program;
    private final Set<DaemonSocket> sockets;
    private final DeviceNodes nodes;
    private @Nullable Known known; // guarded by this

    /** The files of an installation, and the times of the folders when they were found. */
    private record Known(String installation, String folders, DriverFiles files) {

        boolean isCurrent(String folders, Predicate<Path> isThere) {
            return this.folders.equals(folders) && files.readOnly().allMatch(isThere);
        }
    }

    public Edits(Roots roots, HookProgram program) {
        this(roots, program, DaemonSocket.DEFAULT);
    }

    public Edits(Roots roots, HookProgram program, Set<DaemonSocket> sockets) {
        this.roots = roots;
        this.program = program;
        this.sockets = Set.copyOf(sockets);
        this.nodes = new DeviceNodes(roots);
    }

    /**
     * Returns the edits that all containers have in common.
     *
     * @throws PrepareException if a device node, the hook program, a file that every program needs, or a file that
     * existed earlier is missing
     */
    public ContainerEdits common(String version) {
        nodes.requireCommon();
        program.requireThere(roots);
        return ofDriver(version);
    }

    /** Checks that the device nodes and files that every program needs are there. */
    public void requireFiles(String version) {
        nodes.requireCommon();
        new DriverSearch(roots, version).find();
    }

    public void requireNode(Gpu gpu) {
        nodes.require(gpu);
    }

    /** Checks that the kernel has MIG capabilities, before an instance is created. */
    public void requireCapabilities() {
        new CapabilityNodes(roots.proc()).major();
    }

    private synchronized ContainerEdits ofDriver(String version) {
        DriverSearch search = new DriverSearch(roots, version);
        DriverView driver = search.driver();
        String installation = version + joined(search.identifyingFiles().map(driver::end), Edits::identity);
        String folders = joined(search.folders(), driver::time);
        Known last = known;
        boolean same = last != null && last.installation().equals(installation);
        if (same) {
            requireExisting(last.files(), driver);
        }
        if (!same || !last.isCurrent(folders, driver::isFile)) {
            search = new DriverSearch(roots, version); // what it reads is newer than the folders' times
            last = new Known(installation, folders, search.find());
            logMissing(search);
            known = last;
        }
        List<Path> daemons = search.ofDaemons().stream().filter(this::isWanted).toList();
        return common(last.files(), daemons, search.driver());
    }

    private boolean isWanted(Path file) {
        return sockets.stream().anyMatch(daemon -> daemon.isOf(file));
    }

    /** Logs missing files, without which graphics programs and some tools do not work. */
    private void logMissing(DriverSearch search) {
        List<String> missing = new ArrayList<>(search.missingPrograms());
        if (!nodes.isThere(DeviceNodes.OF_DISPLAYS)) {
            missing.add(roots.deviceOnNode(DeviceNodes.OF_DISPLAYS).toString());
        }
        LOG.atInfo()
                .addKeyValue("path", roots.driver().onNode())
                .addKeyValue("missing", missing)
                .log("Found the files of NVIDIA's driver that containers need");
    }

    /** Refuses to prepare, because a container without a file of its driver would start and fail later. */
    private void requireExisting(DriverFiles files, DriverView driver) {
        Optional<Path> missing =
                files.own().filter(file -> !driver.isFile(file)).findFirst();
        if (missing.isPresent()) {
            throw new PrepareException("%s of the driver below %s no longer exists: install the driver again"
                    .formatted(missing.get(), roots.driver().here()));
        }
    }

    private static String joined(Stream<Path> files, Function<Path, String> text) {
        return files.map(text).collect(Collectors.joining(" "));
    }

    private static String identity(Path file) {
        try {
            return file + "@" + Files.readAttributes(file, "unix:ino,size");
        } catch (IOException e) {
            return file + " is gone";
        }
    }

    private ContainerEdits common(DriverFiles files, List<Path> daemons, DriverView driver) {
        String libcuda = roots.driver().inContainer(files.libcuda()).getParent().toString();
        ContainerEdits.Builder edits =
                ContainerEdits.builder().env("NVIDIA_VISIBLE_DEVICES", "void").env("NVIDIA_CTK_LIBCUDA_DIR", libcuda);
        nodes.add(NODES.stream().filter(nodes::isThere).toList(), edits);
        files.readOnly().map(file -> mount(file, READ_ONLY, driver)).forEach(edits::mount);
        daemons.stream().map(file -> mount(file, OF_DAEMON, driver)).forEach(edits::mount);
        hooks(files).forEach(edits::hook);
        return edits.build();
    }

    private Mount mount(Path file, List<String> options, DriverView driver) {
        return new Mount(
                driver.onNode(file).toString(), roots.driver().inContainer(file).toString(), options, null);
    }

    private List<Hook> hooks(DriverFiles driver) {
        List<Hook> hooks = new ArrayList<>();
        hooks.add(program.links(driver.links()));
        command("enable-cuda-compat", "--host-driver-version=" + driver.version())
                .forEach(hooks::add);
        List<String> folders = driver.directories().stream()
                .map(folder -> roots.driver().inContainer(folder).toString())
                .toList();
        hooks.add(program.hook("update-ldcache", HookProgram.repeated("--folder", folders)));
        command("disable-device-node-modification").forEach(hooks::add);
        return hooks;
    }

    private Stream<Hook> command(String command, String... more) {
        return program.has(command) ? Stream.of(program.hook(command, List.of(more))) : Stream.empty();
    }

    /**
     * Returns the edits for a GPU, or for a MIG device: the nodes of its GPU, and the two capabilities that they need.
     *
     * @param device the MIG device; null for the whole GPU
     */
    public ContainerEdits of(Gpu gpu, @Nullable MigDevice device) {
        ContainerEdits.Builder edits = edits(gpu);
        if (device != null) {
            CapabilityNodes capabilities = new CapabilityNodes(roots.proc());
            String instance = "gpu%d/mig/gi%d".formatted(gpu.minor(), device.gpuInstance());
            edits.deviceNode(capabilities.node(instance + "/access"));
            edits.deviceNode(capabilities.node(instance + "/ci" + device.computeInstance() + "/access"));
        }
        return edits.build();
    }

    private ContainerEdits.Builder edits(Gpu gpu) {
        nodes.require(gpu);
        ContainerEdits.Builder edits = ContainerEdits.builder();
        List<String> displays = displays(gpu);
        List<String> names = new ArrayList<>(List.of("nvidia" + gpu.minor()));
        displays.forEach(display -> names.add("dri/" + display));
        nodes.add(names, edits);
        List<String> links = byPath(gpu, displays);
        if (!links.isEmpty()) {
            edits.hook(program.links(links));
        }
        return edits;
    }

    /** Returns {@code card1} and {@code renderD128}, if they exist. */
    private List<String> displays(Gpu gpu) {
        Path folder = roots.sysfs().resolve("bus/pci/devices").resolve(gpu.pci().text() + "/drm");
        return FolderEntries.of(folder, "{card,renderD}[0-9]*")
                .map(each -> each.getFileName().toString())
                .filter(name -> nodes.isThere("dri/" + name))
                .toList();
    }

    /** Returns the links by PCI address, as the node has them, to the display nodes. */
    private List<String> byPath(Gpu gpu, List<String> displays) {
        Path folder = roots.devices().resolve("dri/by-path");
        return Stream.of("card", "render")
                .map(kind -> folder.resolve("pci-" + gpu.pci().text() + "-" + kind))
                .filter(Files::isSymbolicLink)
                .flatMap(link -> displays.stream()
                        .filter(name -> leadsTo(link, name))
                        .map(name -> "../%s::/dev/dri/by-path/%s".formatted(name, link.getFileName())))
                .toList();
    }

    private static boolean leadsTo(Path link, String display) {
        return PciBus.link(link).filter(end -> end.endsWith(display)).isPresent();
    }
}
