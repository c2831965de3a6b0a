// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.bench;

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
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A directory in which nothing can be created, changed or removed until this is closed.
 *
 * <p>How depends on what the suite may do: modes stop a suite that is not root; root sets the
 * immutable flag, or mounts the directory read-only. Each way is tried out before it counts.
 */
public final class Blockade implements AutoCloseable {

    private static final long LIMIT_SECONDS = 30;

    private final Path folder;
    private final List<Path> files;
    private Way way = Way.NONE;

    private enum Way {
        NONE,
        MODES,
        FLAGS,
        MOUNT
    }

    private Blockade(Path folder, List<Path> files) {
        this.folder = folder;
        this.files = List.copyOf(files);
    }

    /**
     * Blocks a directory, and files in it.
     *
     * @throws NotApplicable if the suite has no way to do so
     */
    public static Blockade of(Path folder, List<Path> files) {
        Blockade blockade = new Blockade(folder, files);
        for (Way way : List.of(Way.MODES, Way.FLAGS, Way.MOUNT)) {
            blockade.way = way;
            if (blockade.begin() && blockade.works()) {
                return blockade;
            }
            blockade.close();
        }
        throw new NotApplicable(
                "the suite can't make a directory read-only: neither modes, chattr nor mount work");
    }

    private boolean begin() {
        return switch (way) {
            case NONE -> false;
            case MODES -> writable(false);
            case FLAGS -> run(command("chattr", "+i"));
            case MOUNT ->
                    run(List.of("mount", "--bind", folder.toString(), folder.toString()))
                            && run(List.of("mount", "-o", "remount,bind,ro", folder.toString()));
        };
    }

    private List<String> command(String... words) {
        List<String> command = new ArrayList<>(List.of(words));
        command.add(folder.toString());
        files.forEach(file -> command.add(file.toString()));
        return command;
    }

    private boolean writable(boolean may) {
        try {
            List<Path> all = new ArrayList<>(files);
            all.add(folder);
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
            throw new UncheckedIOException("Can't change the modes of " + folder, e);
        }
    }

    private boolean works() {
        Path probe = folder.resolve(".dra-conformance-probe");
        try {
            Files.createFile(probe);
            Files.delete(probe);
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    private static boolean run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            return process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false; // there is no such command
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** How it blocks, for people. */
    @Override
    public String toString() {
        return way.name().toLowerCase(Locale.ROOT);
    }

    /** Lets everybody write again. */
    @Override
    public void close() {
        boolean open =
                switch (way) {
                    case NONE -> true;
                    case MODES -> writable(true);
                    case FLAGS -> run(command("chattr", "-i"));
                    case MOUNT -> run(List.of("umount", "-l", folder.toString()));
                };
        way = open ? Way.NONE : way;
    }
}
