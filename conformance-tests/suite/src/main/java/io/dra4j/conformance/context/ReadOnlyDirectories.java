// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.driver.Command;
import io.dra4j.testkit.driver.DriverUnusable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Directories in which nothing can be created, changed or removed until this is closed.
 *
 * <p>The mechanism depends on the suite's privileges: modes suffice if it is not root; root sets the immutable flag, or
 * mounts the directories read-only, as the driver's process sees them. Each mechanism is tested before it is used.
 */
public final class ReadOnlyDirectories implements AutoCloseable {

    private static final String PROBE = ".dra-conformance-probe";

    private final List<Path> folders;
    private final List<Path> files;
    private final TestContext context;
    private Mechanism mechanism = Mechanism.NONE;

    private enum Mechanism {
        NONE,
        MODES,
        FLAGS,
        MOUNT
    }

    private final List<String> covered = new ArrayList<>();

    private ReadOnlyDirectories(TestContext context, List<Path> folders, List<Path> files) {
        this.folders = List.copyOf(folders);
        this.files = List.copyOf(files);
        this.context = context;
    }

    /** Blocks directories, and files in them, for the test context's driver; Untested if the suite can't. */
    public static ReadOnlyDirectories of(TestContext context, List<Path> folders, List<Path> files) {
        ReadOnlyDirectories directories = new ReadOnlyDirectories(context, folders, files);
        context.change(directories::begin, directories::close);
        return directories;
    }

    private void begin() {
        for (Mechanism one : List.of(Mechanism.MODES, Mechanism.FLAGS, Mechanism.MOUNT)) {
            mechanism = one;
            if (isSet() && works()) {
                return;
            }
            close();
        }
        throw new Untested("the suite can't make a directory read-only: neither modes, chattr nor mount work");
    }

    private boolean isSet() {
        return switch (mechanism) {
            case NONE -> false;
            case MODES -> writable(false);
            case FLAGS -> run(command("chattr", "+i"));
            case MOUNT -> mountPoints().stream().allMatch(this::mounted);
        };
    }

    private boolean mounted(String folder) {
        if (!run(atDriver("mount", "--bind", folder, folder))) {
            return false;
        }
        covered.add(folder);
        return run(atDriver("mount", "-o", "remount,bind,ro", folder));
    }

    /** The directories, by all their names in the mount namespace of the driver. */
    private List<String> mountPoints() {
        return folders.stream()
                .flatMap(folder -> context.place().names(folder).stream())
                .map(Path::toString)
                .toList();
    }

    /** A command that sees the mounts of the driver's process. */
    private List<String> atDriver(String... words) {
        List<String> command = new ArrayList<>();
        context.driver()
                .current()
                .pid()
                .ifPresent(pid -> command.addAll(List.of("nsenter", "--mount", "--target", "" + pid)));
        command.addAll(List.of(words));
        return command;
    }

    private List<String> command(String... words) {
        List<String> command = new ArrayList<>(List.of(words));
        folders.forEach(folder -> command.add(folder.toString()));
        files.forEach(file -> command.add(file.toString()));
        return command;
    }

    private boolean writable(boolean may) {
        try {
            List<Path> all = new ArrayList<>(files);
            all.addAll(folders);
            for (Path path : all) {
                Set<PosixFilePermission> modes = EnumSet.noneOf(PosixFilePermission.class);
                modes.addAll(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
                if (may) {
                    modes.add(PosixFilePermission.OWNER_WRITE);
                } else {
                    modes.remove(PosixFilePermission.OWNER_WRITE);
                }
                Files.setPosixFilePermissions(path, modes);
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException("Can't change the modes of " + folders, e);
        }
    }

    private boolean works() {
        return mechanism == Mechanism.MOUNT
                ? mountPoints().stream().noneMatch(this::takesFiles)
                : folders.stream().noneMatch(ReadOnlyDirectories::isWritable);
    }

    /** Returns whether the driver can create a file there. */
    private boolean takesFiles(String folder) {
        String probe = folder + "/" + PROBE;
        return run(atDriver("touch", probe)) && run(atDriver("rm", "-f", probe));
    }

    private static boolean isWritable(Path folder) {
        Path probe = folder.resolve(PROBE);
        try {
            Files.createFile(probe);
            Files.delete(probe);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private boolean run(List<String> command) {
        try {
            Command.run("read-only", command, context.place(), Map.of());
            return true;
        } catch (DriverUnusable e) {
            return false; // it fails, or does not exist
        }
    }

    @Override
    public String toString() {
        return mechanism.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public synchronized void close() {
        boolean open = switch (mechanism) {
            case NONE -> true;
            case MODES -> writable(true);
            case FLAGS -> run(command("chattr", "-i"));
            case MOUNT -> unmounted();
        };
        mechanism = open ? Mechanism.NONE : mechanism;
    }

    private boolean unmounted() {
        boolean open = true;
        for (String folder : covered) {
            open &= run(atDriver("umount", "-l", folder));
        }
        covered.clear();
        return open;
    }
}
