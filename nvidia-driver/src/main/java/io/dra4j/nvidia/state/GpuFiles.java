// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.state;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A setting that this driver has changed on GPUs, with one file per GPU, because the records of claims can be lost.
 *
 * <p>Files are not synced, because the settings end with the kernel anyway. Callers hold the GPU's lock.
 *
 * @param folder the directory, which is created with the first file
 * @param moduleLoad returns an id that changes when the GPUs' driver is reloaded, or on another event that ends the
 * settings; empty if it is unknown
 */
public record GpuFiles(Path folder, Supplier<String> moduleLoad) {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9-]{1,80}");

    /**
     * Returns the lines written for a GPU since its driver was loaded.
     *
     * @return empty if there is no file; no lines if the file is damaged
     */
    public Optional<List<String>> read(String gpu) {
        try {
            List<String> lines = Files.readAllLines(file(gpu));
            if (lines.isEmpty()) {
                return Optional.of(lines);
            }
            return isEarlier(lines.get(0)) ? Optional.empty() : Optional.of(lines.subList(1, lines.size()));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(List.of());
        }
    }

    /** Returns whether a load of the GPUs' driver is not the current one. */
    public boolean isEarlier(String load) {
        String now = moduleLoad.get();
        return !now.isEmpty() && !load.isEmpty() && !now.equals(load);
    }

    /**
     * Writes lines for a GPU.
     *
     * @throws DraException if that fails; the caller must then change nothing
     */
    public void write(String gpu, List<String> values) {
        Path file = file(gpu);
        List<String> lines = new ArrayList<>(List.of(moduleLoad.get()));
        lines.addAll(values);
        try {
            Files.createDirectories(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            byte[] content = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
            FreshFile.replace(file, content, FreshFile.OF_OWNER);
        } catch (IOException e) {
            throw new DraException("Can't write %s: %s".formatted(file, e.getMessage()), e);
        }
    }

    /** Deletes the file of a GPU, if there is one. */
    public void delete(String gpu) {
        Path file = file(gpu);
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new DraException("Can't delete %s: %s".formatted(file, e.getMessage()), e);
        }
    }

    private Path file(String gpu) {
        if (!NAME.matcher(gpu).matches()) {
            throw new DraException("\"%s\" is not the UUID of a GPU".formatted(gpu));
        }
        return folder.resolve(gpu);
    }

    /** Returns the GPUs with a file, of this or an earlier load of their driver. */
    public List<String> gpus() {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> NAME.matcher(name).matches())
                    .sorted()
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw new DraException("Can't list %s: %s".formatted(folder, e.getMessage()), e);
        }
    }
}
