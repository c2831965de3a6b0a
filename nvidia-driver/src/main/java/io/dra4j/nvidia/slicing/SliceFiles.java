// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.slicing;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.sharing.TimeSliceInterval;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The time slices that this driver has given GPUs, a file for each: claims alone do not show them,
 * for their records can be lost.
 *
 * <p>A file is not synced: like the time slices, it need not outlive the kernel. Callers hold the
 * GPU's lock.
 */
public final class SliceFiles {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9-]{1,80}");

    private final Path folder;
    private final Supplier<String> moduleLoad;

    /**
     * Uses a directory.
     *
     * @param folder the directory, which is created with the first file
     * @param moduleLoad returns what changes when the GPUs' driver is loaded again: time slices do
     *     not outlive that; empty if it is unknown
     */
    public SliceFiles(Path folder, Supplier<String> moduleLoad) {
        this.folder = folder;
        this.moduleLoad = moduleLoad;
    }

    /** Returns the slices of a GPU; Long, and not known as set, if the file is damaged. */
    Slice read(String gpu) {
        try {
            List<String> lines = Files.readAllLines(file(gpu));
            if (lines.size() != 3) {
                return Slice.SUSPECTED;
            }
            String now = moduleLoad.get();
            boolean isEarlier = !now.isEmpty() && !now.equals(lines.get(0));
            return isEarlier
                    ? Slice.NONE
                    : new Slice(TimeSliceInterval.valueOf(lines.get(1)), Boolean.parseBoolean(lines.get(2)));
        } catch (NoSuchFileException e) {
            return Slice.NONE;
        } catch (IOException | IllegalArgumentException e) {
            return Slice.SUSPECTED;
        }
    }

    /**
     * Writes the slices of a GPU.
     *
     * @throws DraException if that fails; change nothing then
     */
    void write(String gpu, Slice slice) {
        Path file = file(gpu);
        try {
            if (slice.equals(Slice.NONE)) {
                Files.deleteIfExists(file);
                return;
            }
            Files.createDirectories(folder);
            Path fresh = folder.resolve(gpu + ".new");
            Files.write(fresh, List.of(moduleLoad.get(), slice.interval().name(), String.valueOf(slice.isSet())));
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new DraException("Can't write %s: %s".formatted(file, e.getMessage()), e);
        }
    }

    private Path file(String gpu) {
        if (!NAME.matcher(gpu).matches()) {
            throw new DraException("\"%s\" is not the UUID of a GPU".formatted(gpu));
        }
        return folder.resolve(gpu);
    }

    /** Returns the GPUs that were given time slices, in this load of their driver or an earlier. */
    List<String> gpus() {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> NAME.matcher(name).matches())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new DraException("Can't list %s: %s".formatted(folder, e.getMessage()), e);
        }
    }
}
