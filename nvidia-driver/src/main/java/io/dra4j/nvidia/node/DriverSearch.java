// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.pci.PciBus;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Finds the files of a driver below its root, by their names. Without the libraries that every CUDA
 * program needs, the search fails: a container would start and fail later.
 */
public final class DriverSearch {

    private static final List<String> BINARIES = List.of(
            "nvidia-smi",
            "nvidia-debugdump",
            "nvidia-persistenced",
            "nvidia-cuda-mps-control",
            "nvidia-cuda-mps-server",
            "nvidia-imex",
            "nvidia-imex-ctl");

    private static final List<String> CONFIGS = List.of(
            "glvnd/egl_vendor.d/10_nvidia.json",
            "egl/egl_external_platform.d/15_nvidia_gbm.json",
            "egl/egl_external_platform.d/10_nvidia_wayland.json",
            "egl/egl_external_platform.d/09_nvidia_wayland2.json",
            "egl/egl_external_platform.d/20_nvidia_xcb.json",
            "egl/egl_external_platform.d/20_nvidia_xlib.json",
            "nvidia/nvoptix.bin",
            "OpenCL/vendors/nvidia.icd",
            "X11/xorg.conf.d/10-nvidia.conf",
            "X11/xorg.conf.d/nvidia-drm-outputclass.conf");

    private static final List<String> VULKAN = List.of(
            "vulkan/icd.d/nvidia_icd.json",
            "vulkan/icd.d/nvidia_icd.x86_64.json",
            "vulkan/icd.d/nvidia_icd.aarch64.json",
            "vulkan/icd.d/nvidia_layers.json",
            "vulkan/implicit_layer.d/nvidia_layers.json");

    /** The root itself is last: containers get its folder vulkan as /etc/vulkan. */
    private static final List<String> VULKAN_FOLDERS =
            Stream.concat(Places.CONFIGS.stream(), Stream.of("")).toList();

    private static final List<String> SOCKETS = List.of("nvidia-persistenced/socket", "nvidia-fabricmanager/socket");

    private static final List<String> SOCKET_FOLDERS = List.of("run", "var/run");

    private static final String MPS_PIPES = "tmp/nvidia-mps";

    private static final List<String> GRAPHICS = List.of(
            "libnvidia-egl-gbm.so.*.*",
            "libnvidia-egl-wayland.so.*.*",
            "libnvidia-egl-wayland2.so.*.*",
            "libnvidia-egl-xcb.so.*.*",
            "libnvidia-egl-xlib.so.*.*",
            "libnvidia-nvvm70.so.*");

    /** The folders of modules below a folder of libraries, by package and by installer. */
    private static final List<String> MODULE_FOLDERS =
            List.of("nvidia/xorg", "xorg/modules/drivers", "xorg/modules/extensions");

    private final DriverView driver;
    private final DriverRoot root;
    private final String version;
    private final LibraryFolders libraryFolders;
    private final List<Path> firmwareFolders;

    public DriverSearch(Roots roots, String version) {
        this.driver = new DriverView(roots.driver());
        this.root = roots.driver();
        this.version = version;
        this.libraryFolders = LibraryFolders.of(driver, needed(), driver::isFile);
        this.firmwareFolders = firmwareFolders(roots, version);
    }

    /** Returns what this search has read of the files. */
    public DriverView driver() {
        return driver;
    }

    public DriverFiles find() {
        List<Path> found = libraries();
        for (String name : needed()) {
            if (found.stream().noneMatch(file -> file.endsWith(name))) {
                throw new PrepareException(
                        "The driver below %s lacks %s in each of %s, and in the loader's cache%s; an administrator must reinstall the driver, or name its folders with --driver-library-folders"
                                .formatted(root.here(), name, libraryFolders.all(), libraryFolders.problem()));
            }
        }
        List<Path> modules = modules();
        List<Path> linkable = Stream.concat(found.stream(), modules.stream()).toList();
        return new DriverFiles(
                version,
                found,
                modules,
                binaries(),
                firmware(),
                configs(),
                SymbolicLinks.of(driver, version, linkable, libraryFolders.all()));
    }

    /** Returns the libraries that every CUDA program needs. */
    private List<String> needed() {
        return List.of("libcuda.so." + version, "libnvidia-ml.so." + version);
    }

    /** Returns the files whose inode and size identify an installation. */
    public Stream<Path> identifyingFiles() {
        return libraryFolders.all().stream()
                .map(folder -> folder.resolve("libcuda.so." + version))
                .filter(driver::isFile);
    }

    /** Returns the searched folders, whose times change with their entries. */
    public Stream<Path> folders() {
        return Stream.of(searched(), firmwareFolders.stream(), namedFolders()).flatMap(folders -> folders);
    }

    private List<Path> binaries() {
        return firstOf(root.programFolders(), BINARIES, driver::isFile);
    }

    private List<Path> configs() {
        return Stream.of(
                        firstOf(in(Places.CONFIGS), CONFIGS, driver::isFile),
                        firstOf(in(VULKAN_FOLDERS), VULKAN, driver::isFile))
                .flatMap(List::stream)
                .toList();
    }

    /** Returns the sockets and pipes of running daemons. */
    public List<Path> ofDaemons() {
        Path pipes = root.here().resolve(MPS_PIPES); // anyone may create a link in /tmp
        Stream<Path> ofMps = Files.isDirectory(pipes, LinkOption.NOFOLLOW_LINKS) ? Stream.of(pipes) : Stream.empty();
        List<Path> sockets = firstOf(in(SOCKET_FOLDERS), SOCKETS, this::isSocket);
        return Stream.concat(sockets.stream(), ofMps).toList();
    }

    private boolean isSocket(Path file) {
        Path end = driver.end(file);
        return Files.exists(end) && !Files.isDirectory(end);
    }

    private List<Path> in(List<String> folders) {
        return folders.stream().map(root.here()::resolve).toList();
    }

    /** Returns each file in the first of the folders that has it. */
    private static List<Path> firstOf(List<Path> folders, List<String> names, Predicate<Path> isThere) {
        return names.stream()
                .flatMap(name -> folders.stream()
                        .map(folder -> folder.resolve(name))
                        .filter(isThere)
                        .limit(1))
                .toList();
    }

    public List<String> missingPrograms() {
        List<Path> found = binaries();
        return BINARIES.stream()
                .filter(name -> found.stream().noneMatch(file -> file.endsWith(name)))
                .toList();
    }

    /** Returns the folders of programs and configurations, which need not exist. */
    private Stream<Path> namedFolders() {
        Stream<Path> ofConfigs = Stream.concat(all(Places.CONFIGS, CONFIGS), all(VULKAN_FOLDERS, VULKAN))
                .map(Path::getParent)
                .distinct();
        return Stream.concat(root.programFolders().stream(), ofConfigs);
    }

    private Stream<Path> all(List<String> folders, List<String> names) {
        return in(folders).stream().flatMap(folder -> names.stream().map(folder::resolve));
    }

    /** Returns the folders of firmware, which need not exist, in the order of the kernel. */
    private static List<Path> firmwareFolders(Roots roots, String version) {
        DriverRoot root = roots.driver();
        List<Path> all = new ArrayList<>();
        PciBus.text(roots.sysfs().resolve("module/firmware_class/parameters/path"))
                .map(Path::of)
                .filter(Path::isAbsolute)
                .map(root::ofNode)
                .ifPresent(all::add);
        Optional<String> release = PciBus.text(roots.proc().resolve("sys/kernel/osrelease"));
        for (String folder : List.of("lib/firmware/updates", "lib/firmware", "usr/lib/firmware")) {
            release.ifPresent(name -> all.add(root.here().resolve(folder).resolve(name)));
            all.add(root.here().resolve(folder));
        }
        return all.stream().map(each -> each.resolve("nvidia").resolve(version)).toList();
    }

    private List<Path> firmware() {
        return firmwareFolders.stream()
                .map(folder -> FolderEntries.files(driver, folder, "gsp*.bin"))
                .filter(files -> !files.isEmpty())
                .findFirst()
                .orElse(List.of());
    }

    /**
     * The links to a driver's libraries: those of the node, and those that programs open but some installers omit.
     */
    private static final class SymbolicLinks {

        private final DriverView driver;
        private final String version;

        /** The mounted files by their real paths. */
        private final Map<Path, Path> mounted = new LinkedHashMap<>();

        /** The targets of links, as they are written, by the links' paths. */
        private final Map<Path, String> links = new TreeMap<>();

        private SymbolicLinks(DriverView driver, String version) {
            this.driver = driver;
            this.version = version;
        }

        /**
         * Returns the links to some files, as {@code target::link} in containers, sorted.
         *
         * @param folders further folders that may have links to them
         */
        static List<String> of(DriverView driver, String version, List<Path> files, List<Path> folders) {
            SymbolicLinks links = new SymbolicLinks(driver, version);
            files.forEach(file -> links.mounted.put(driver.end(file), file));
            Set<Path> seen = new HashSet<>();
            Stream.concat(folders.stream(), files.stream().map(Path::getParent))
                    .filter(folder -> seen.add(driver.end(folder)))
                    .forEach(links::addThoseIn);
            links.links.replaceAll(links::inContainer);
            files.forEach(links::addUsual);
            return links.links.entrySet().stream()
                    .map(link -> link.getValue() + "::/" + driver.root().here().relativize(link.getKey()))
                    .toList();
        }

        private void addThoseIn(Path folder) {
            for (Path link : FolderEntries.links(driver, folder, "*.so{,.*}")) {
                Path file = mounted.get(driver.end(link));
                if (file != null && !file.equals(link)) {
                    links.put(link, driver.written(link).toString());
                }
            }
        }

        /** Links via other places, such as Debian's alternatives, point directly to the file. */
        private String inContainer(Path link, String written) {
            Path target = driver.targetOf(link).normalize();
            if (links.containsKey(target) || mounted.containsValue(target)) {
                return written;
            }
            return link.getParent().relativize(mounted.get(driver.end(link))).toString();
        }

        private void addUsual(Path file) {
            String name = file.getFileName().toString();
            if (name.equals("libcuda.so." + version)) {
                add(file, "libcuda.so", "libcuda.so.1");
            } else if (name.equals("libGLX_nvidia.so." + version)) {
                add(file, "libGLX_indirect.so.0", name);
            } else if (name.equals("libnvidia-opticalflow.so." + version)) {
                add(file, "libnvidia-opticalflow.so", "libnvidia-opticalflow.so.1");
            } else if (name.equals("libnvidia-allocator.so." + version)) {
                add(file, "gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1");
            } else if (name.equals("libglxserver_nvidia.so." + version)) {
                add(file, "libglxserver_nvidia.so", name);
            }
        }

        private void add(Path file, String link, String target) {
            links.putIfAbsent(file.resolveSibling(link), target);
        }
    }

    private Stream<Path> searched() {
        Stream<Path> ofLibraries =
                libraryFolders.all().stream().flatMap(folder -> Stream.of(folder, folder.resolve("vdpau")));
        return Stream.concat(ofLibraries, moduleFolders());
    }

    /** Returns the libraries, by the version in their names, in the usual folders and those of the loader's cache. */
    private List<Path> libraries() {
        Set<Path> found = new LinkedHashSet<>();
        for (Path folder : libraryFolders.all()) {
            requireTargets(folder);
            List<Path> own = FolderEntries.files(driver, folder, "*.so." + version);
            found.addAll(own);
            if (!own.isEmpty()) {
                found.addAll(FolderEntries.files(driver, folder.resolve("vdpau"), "*.so." + version));
                GRAPHICS.forEach(form -> found.addAll(FolderEntries.files(driver, folder, form)));
            }
        }
        return withoutDuplicates(found);
    }

    private List<Path> modules() {
        return withoutDuplicates(moduleFolders()
                .flatMap(folder ->
                        Stream.of(folder.resolve("nvidia_drv.so"), folder.resolve("libglxserver_nvidia.so." + version)))
                .filter(driver::isFile)
                .toList());
    }

    private Stream<Path> moduleFolders() {
        return Stream.concat(
                        libraryFolders.all().stream(), Stream.of(root.here().resolve("usr/lib")))
                .flatMap(folder -> MODULE_FOLDERS.stream().map(folder::resolve));
    }

    /** Installers link libcuda.so.1 to libcuda.so.550.163.01: the targets have to exist. */
    private void requireTargets(Path folder) {
        for (Path link : FolderEntries.links(driver, folder, "*.so.*")) {
            Path target = driver.end(link);
            if ((isOwn(link) || isOwn(target)) && !Files.exists(target)) {
                throw new PrepareException(
                        "%s links to %s, which does not exist: install the driver again".formatted(link, target));
            }
        }
    }

    /** Returns whether a library belongs to the driver: its name has the driver's version. */
    private boolean isOwn(Path library) {
        return library.toString().endsWith(".so." + version);
    }

    /** If /lib is a link to /usr/lib, files are found twice. */
    private List<Path> withoutDuplicates(Iterable<Path> files) {
        List<Path> once = new ArrayList<>();
        TreeSet<Path> real = new TreeSet<>();
        for (Path file : files) {
            if (real.add(driver.end(file))) {
                once.add(file);
            }
        }
        return once;
    }
}
