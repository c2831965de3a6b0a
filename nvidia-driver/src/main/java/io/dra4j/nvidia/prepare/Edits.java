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
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The edits of containers with GPUs. Thread-safe.
 *
 * <p>The driver's files are looked for once, and again when its version or its library is another:
 * a driver may be installed anew while this program runs.
 */
public final class Edits {

    private final Roots roots;
    private final Path hook;
    private final GpuEdits gpus;
    private @Nullable Known known; // guarded by this

    private record Known(String witness, DriverFiles files) {}

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
        String witness = version + witness(search.witnesses().toList());
        Known last = known;
        if (last == null || !last.witness().equals(witness)) {
            last = new Known(witness, search.look());
            known = last;
        }
        requireThere(last.files());
        return last.files();
    }

    /** A container that lacks a file of its driver would start, and fail at some later time. */
    private void requireThere(DriverFiles files) {
        Optional<Path> missing = files.readOnly().filter(file -> !Files.exists(file)).findFirst();
        if (missing.isPresent()) {
            throw new PrepareException(
                    "%s is gone from the driver below %s: install the driver again"
                            .formatted(missing.get(), roots.here()));
        }
    }

    private static String witness(List<Path> files) {
        return files.stream().map(Edits::witness).collect(Collectors.joining(" "));
    }

    private static String witness(Path file) {
        try {
            return file + "@" + Files.getAttribute(file, "unix:ino") + Files.size(file);
        } catch (IOException e) {
            return file + " is gone";
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
