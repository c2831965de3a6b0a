// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The edits of containers with GPUs. Thread-safe.
 *
 * <p>The driver's files are looked for once, and again when its version or its library is another,
 * or something is new or gone where it is installed: a driver may be installed anew while this
 * program runs. As long as it is the same, its own files have to be there.
 */
public final class Edits {

    private final Roots roots;
    private final Path hook;
    private final GpuEdits gpus;
    private @Nullable Known known; // guarded by this

    /** Which installation had which files, and the times of the folders when they were found. */
    private record Known(String installation, String folders, DriverFiles files) {

        boolean isStill(String folders) {
            return this.folders.equals(folders) && files.readOnly().allMatch(Files::exists);
        }
    }

    /**
     * Makes edits for the driver below some roots.
     *
     * @param hook the path of {@code nvidia-cdi-hook} on the node
     */
    public Edits(Roots roots, Path hook) {
        this.roots = roots;
        this.hook = hook;
        this.gpus = new GpuEdits(roots);
    }

    /**
     * What every container gets.
     *
     * @param version the driver's version as it writes it
     * @throws PrepareException if something is missing without which no program starts, or that was
     *     there before
     */
    public ContainerEdits common(String version) {
        return new CommonEdits(roots, hook).of(files(version));
    }

    private synchronized DriverFiles files(String version) {
        DriverSearch search = new DriverSearch(roots.here(), version);
        String installation = version + joined(search.witnesses(), Edits::witness);
        String folders = joined(search.folders(), Edits::time); // before the look, not after
        Known last = known;
        boolean same = last != null && last.installation().equals(installation);
        if (same) {
            requireThere(last.files());
        }
        if (!same || !last.isStill(folders)) {
            last = new Known(installation, folders, search.look());
            known = last;
        }
        return last.files().with(search.sockets());
    }

    /** A container that lacks a file of its driver would start, and fail at some later time. */
    private void requireThere(DriverFiles files) {
        Optional<Path> missing = files.own().filter(file -> !Files.exists(file)).findFirst();
        if (missing.isPresent()) {
            throw new PrepareException(
                    "%s is gone from the driver below %s: install the driver again"
                            .formatted(missing.get(), roots.here()));
        }
    }

    private static String joined(Stream<Path> files, Function<Path, String> words) {
        return files.map(words).collect(Collectors.joining(" "));
    }

    private static String witness(Path file) {
        try {
            return "%s@%s,%d"
                    .formatted(file, Files.getAttribute(file, "unix:ino"), Files.size(file));
        } catch (IOException e) {
            return file + " is gone";
        }
    }

    private static String time(Path folder) {
        try {
            return Files.getLastModifiedTime(folder).toString();
        } catch (IOException e) {
            return "none";
        }
    }

    /** What a container gets of a GPU as a whole. */
    public ContainerEdits whole(Gpu gpu) {
        return gpus.whole(gpu);
    }

    /** What a container gets of a part of a GPU. */
    public ContainerEdits part(Gpu gpu, MigDevice device) {
        return gpus.part(gpu, device);
    }
}
