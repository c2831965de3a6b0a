// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * The paths at which a driver's process finds files of its place: bind mounts in a separate mount namespace for each
 * process, so that nothing on the host changes.
 *
 * <p>util-linux does the work: {@code unshare} makes the namespace, {@code mount} reads the mounts from a file, and the
 * shell in between is replaced by the driver, whose process id is that of the process that was started.
 *
 * @param mounts a file or directory of the host, by the path at which the driver finds it
 */
public record MountNamespace(Map<String, Path> mounts) {

    /** No mounts: a process sees what its host has. */
    static final MountNamespace NONE = new MountNamespace(Map.of());

    /** The file by which a process distinguishes boots of its node. */
    static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";

    /** The umask of containers. */
    private static final String UMASK = "umask 0022 && ";

    private static final String ENTER = UMASK + "mount -n -a -T \"$0\" && exec \"$@\"";
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final int LIMIT_SECONDS = 10;
    private static final Map<List<String>, String> PROBED = new HashMap<>(); // guarded by the class

    public MountNamespace {
        mounts = Map.copyOf(mounts);
    }

    MountNamespace with(String path, Path source) {
        Map<String, Path> more = new HashMap<>(mounts);
        more.put(path, source);
        return new MountNamespace(more);
    }

    /** The path on the host of what the driver finds at a path. */
    public Path outside(Path path) {
        for (Map.Entry<String, Path> mount : mounts.entrySet()) {
            Path inside = Path.of(mount.getKey());
            for (Path name : List.of(inside, resolved(inside))) {
                if (path.startsWith(name)) {
                    return mount.getValue().resolve(name.relativize(path).toString());
                }
            }
        }
        return path;
    }

    /** All paths at which the driver finds what is at a path of the host. */
    List<Path> names(Path outside) {
        List<Path> names = new ArrayList<>(List.of(outside));
        mounts.forEach((inside, source) -> {
            if (outside.startsWith(source)) {
                names.add(Path.of(inside, source.relativize(outside).toString()));
            }
        });
        return names;
    }

    /** A path with the host's symbolic links resolved, such as {@code /var/run}. */
    private static Path resolved(Path path) {
        Path above = MountTable.existing(path);
        try {
            return above.toRealPath().resolve(above.relativize(path).toString());
        } catch (IOException e) {
            return path;
        }
    }

    /**
     * The command that runs another in the namespace, with the umask of a container.
     *
     * @param folder a directory for what the mounts need
     * @param environment the environment of the process; the shell in between drops variables whose
     *     names are not its own, for example with a dot
     * @throws DriverUnusable if a path cannot be mounted
     */
    List<String> command(Path folder, List<String> words, Map<String, String> environment) {
        List<String> command = new ArrayList<>();
        if (!mounts.isEmpty()) {
            Path table = folder.resolve("mounts");
            command.addAll(List.of("unshare", "--mount", "--propagation", "private"));
            command.addAll(List.of("sh", "-c", ENTER, table.toString()));
            if (!Files.exists(table)) {
                new MountTable(folder).write(table, mounts);
            }
        } else if (!hasUmaskOfContainers()) {
            command.addAll(List.of("sh", "-c", UMASK + "exec \"$@\"", "sh"));
        }
        if (!command.isEmpty()) {
            List<String> dropped = environment.entrySet().stream()
                    .filter(variable -> !NAME.matcher(variable.getKey()).matches())
                    .map(variable -> variable.getKey() + "=" + variable.getValue())
                    .toList();
            if (!dropped.isEmpty()) {
                command.add("env");
                command.addAll(dropped);
            }
        }
        command.addAll(words);
        return command;
    }

    private static boolean hasUmaskOfContainers() {
        try {
            return Files.readString(Path.of("/proc/self/status")).contains("\nUmask:\t0022\n");
        } catch (IOException e) {
            return false;
        }
    }

    /** The reason why no process can have a mount namespace here, found by a probe; empty if one can. */
    public static String missing() {
        return missing(List.of());
    }

    /** Creates one in which a directory of the run is also at these paths. */
    static synchronized String missing(List<String> paths) {
        return PROBED.computeIfAbsent(paths, MountNamespace::tried);
    }

    private static String tried(List<String> paths) {
        Path folder = null;
        try {
            folder = Files.createTempDirectory("dc-probe-");
            Path id = Files.writeString(folder.resolve("id"), folder + "\n");
            MountNamespace probe = NONE.with(BOOT_ID, id);
            for (String path : paths) {
                probe = probe.with(path, folder);
            }
            String printed = output(probe.command(folder, List.of("cat", BOOT_ID), Map.of()));
            return printed.equals(folder.toString()) ? "" : printed.isEmpty() ? "no output" : printed;
        } catch (IOException | UncheckedIOException | DriverUnusable e) {
            return String.valueOf(e.getMessage());
        } finally {
            if (folder != null) {
                Removal.of(folder);
            }
        }
    }

    private static String output(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            process.getOutputStream().close();
            boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
            return ended
                    ? new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip()
                    : "unshare did not end within " + LIMIT_SECONDS + " s";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException("interrupted", e));
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * The bind mounts of a mount namespace as {@code mount --all --fstab} reads them.
     *
     * <p>A path that the host does not have is mounted without changing the host: the deepest directory above it that
     * exists is covered by a copy, in which each entry of the original is bind-mounted again next to the new ones. What
     * the driver creates in the copy itself stays there.
     */
    private static final class MountTable {

        private final Path folder;
        private final List<String> lines = new ArrayList<>();

        /** The folder is for the copies. */
        MountTable(Path folder) {
            this.folder = folder;
        }

        /** Writes the table of these mounts, and makes what they need. */
        void write(Path file, Map<String, Path> mounts) {
            Map<Path, Map<Path, Path>> byParent =
                    new TreeMap<>(Comparator.comparingInt(Path::getNameCount).thenComparing(Comparator.naturalOrder()));
            mounts.forEach((path, source) -> {
                Path above = existing(Path.of(path));
                byParent.computeIfAbsent(real(above), parent -> new TreeMap<>())
                        .put(above.relativize(Path.of(path)), source);
            });
            try {
                for (Map.Entry<Path, Map<Path, Path>> parent : byParent.entrySet()) {
                    add(parent.getKey(), parent.getValue());
                }
                Files.write(file, lines);
            } catch (IOException e) {
                throw new UncheckedIOException("Can't prepare mounts in " + folder, e);
            }
        }

        /** The deepest part of a path that exists. */
        static Path existing(Path path) {
            Path above = path.toAbsolutePath().normalize();
            while (!Files.exists(above)) {
                above = above.getParent();
            }
            return above;
        }

        private static Path real(Path path) {
            try {
                return path.toRealPath();
            } catch (IOException e) {
                throw new UncheckedIOException("Can't resolve " + path, e);
            }
        }

        private void add(Path parent, Map<Path, Path> sources) throws IOException {
            Path here = Path.of("");
            if (sources.keySet().equals(Set.of(here))) {
                bind(sources.get(here), parent, "rbind");
                return;
            }
            if (parent.getParent() == null) {
                throw new DriverUnusable("Can't mount anything at /%s: create its top directory on the host first"
                        .formatted(sources.keySet().iterator().next()));
            }
            Path copy = Files.createDirectories(folder.resolve("copies").resolve("" + lines.size()));
            repeat(sources.getOrDefault(here, parent), copy);
            for (Map.Entry<Path, Path> source : sources.entrySet()) {
                if (!source.getKey().equals(here)) {
                    Path place = copy.resolve(source.getKey());
                    hold(source.getValue(), place);
                    bind(source.getValue(), place, "rbind");
                }
            }
            bind(copy, parent, "rbind");
        }

        /** Mounts each entry of a directory into its copy. */
        private void repeat(Path original, Path copy) throws IOException {
            Files.setPosixFilePermissions(copy, Files.getPosixFilePermissions(original));
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(original)) {
                for (Path entry : entries) {
                    Path place = copy.resolve(entry.getFileName());
                    if (Files.isSymbolicLink(entry)) {
                        Files.createSymbolicLink(place, Files.readSymbolicLink(entry));
                    } else {
                        hold(entry, place);
                        bind(entry, place, "rbind,nofail"); // it may disappear at any time
                    }
                }
            }
        }

        private static void hold(Path source, Path place) throws IOException {
            if (Files.isDirectory(source)) {
                Files.createDirectories(place);
            } else {
                Files.createDirectories(place.getParent());
                Files.createFile(place);
            }
        }

        private void bind(Path source, Path target, String options) {
            lines.add("%s %s none %s 0 0".formatted(escaped(source), escaped(target), options));
        }

        /** A path in the form of fstab, whose fields end at white space. */
        private static String escaped(Path path) {
            return path.toString()
                    .replace("\\", "\\134")
                    .replace(" ", "\\040")
                    .replace("\t", "\\011")
                    .replace("\n", "\\012")
                    .replace("#", "\\043");
        }
    }
}
