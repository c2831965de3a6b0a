// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.node.Roots;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The program that a container runtime runs on the node before a container with a GPU starts.
 *
 * <p>It is NVIDIA's {@code nvidia-cdi-hook} or {@code nvidia-ctk}, or our own program, which only creates links and the
 * loader's cache.
 */
public final class HookProgram {

    private static final String NAME = "nvidia-cdi-hook";

    private static final Set<String> COMMANDS_OF_OUR_OWN = Set.of("create-symlinks", "update-ldcache");

    private final Path path;
    private final Origin origin;

    private enum Origin {
        ADMIN,
        IMAGE,
        JAR
    }

    private HookProgram(Path path, Origin origin) {
        this.path = path;
        this.origin = origin;
    }

    /** Returns NVIDIA's program at a path that the administrator gives. */
    public static HookProgram at(Path path) {
        if (!path.isAbsolute()) {
            throw new DraException("--nvidia-cdi-hook-path must be absolute, not " + path);
        }
        return new HookProgram(path, Origin.ADMIN);
    }

    /**
     * Copies NVIDIA's program from this image to the driver's directory, or our own from the jar if the image has none.
     * An identical copy stays; a different one is replaced atomically.
     *
     * @param directory the driver's directory, which has the same path on the node; created if its parent exists
     * @throws DraException if it can't be copied, or neither the image nor the jar has a program
     */
    public static HookProgram install(Path image, Path directory) {
        Path file = directory.resolve(NAME);
        Path ofImage = image.resolve("usr/bin").resolve(NAME);
        if (isProgram(ofImage)) {
            ProgramFile.write(file, () -> Files.newInputStream(ofImage));
            return new HookProgram(file, Origin.IMAGE);
        }
        ProgramFile.ofJar(file, "install NVIDIA's nvidia-cdi-hook in the image, or set --nvidia-cdi-hook-path");
        return new HookProgram(file, Origin.JAR);
    }

    /** Returns the program that {@link #install} copies to the driver's directory. */
    public static HookProgram copied(Path directory) {
        return new HookProgram(directory.resolve(NAME), Origin.JAR);
    }

    public Path path() {
        return path;
    }

    private static boolean isProgram(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }

    /**
     * Checks that the program is there.
     *
     * @throws PrepareException if it is missing, as far as this process sees the node
     */
    public void requireThere(Roots roots) {
        Optional<Path> seen = origin == Origin.ADMIN ? roots.seen(path) : Optional.of(path);
        if (seen.isPresent() && !isProgram(seen.get())) {
            String next = origin == Origin.ADMIN
                    ? "correct --nvidia-cdi-hook-path, or leave it out to use the driver's own"
                    : "restart the driver, which copies it there";
            throw new PrepareException(
                    "Program %s, which prepares each container, is not on the node: %s".formatted(path, next));
        }
    }

    boolean has(String command) {
        return origin != Origin.JAR || COMMANDS_OF_OUR_OWN.contains(command);
    }

    Hook hook(String command, List<String> more) {
        List<String> args = new ArrayList<>();
        if (path.endsWith("nvidia-ctk")) {
            args.addAll(List.of("nvidia-ctk", "hook"));
        } else {
            args.add(NAME);
        }
        args.add(command);
        args.addAll(more);
        return new Hook(HookName.CREATE_CONTAINER, path.toString(), args, List.of("NVIDIA_CTK_DEBUG=false"), null);
    }

    Hook links(List<String> links) {
        return hook("create-symlinks", repeated("--link", links));
    }

    /** Returns the arguments that give an option several times. */
    static List<String> repeated(String option, List<String> values) {
        List<String> args = new ArrayList<>();
        for (String value : values) {
            args.add(option);
            args.add(value);
        }
        return args;
    }
}
