// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * The age of a checkpoint that does not name its boot, by the node's clock, which may have been set
 * since.
 *
 * @param written when the file was last written
 * @param booted when the node was booted, in whole seconds
 */
public record FileAge(Instant written, Instant booted) {

    private static final String BOOTED = "btime ";

    /**
     * Reads both times.
     *
     * @param proc the mount point of procfs
     * @throws DraException if one of them can't be read; the message says which and from where
     */
    public static FileAge read(Path file, Path proc) {
        Path stat = proc.resolve("stat");
        try {
            return new FileAge(Files.getLastModifiedTime(file).toInstant(), booted(stat));
        } catch (IOException | NumberFormatException e) {
            throw new DraException(
                    "the times of %s and of the boot, in %s, can't be read: %s".formatted(file, stat, e), e);
        }
    }

    private static Instant booted(Path stat) throws IOException {
        return Files.readAllLines(stat).stream()
                .filter(line -> line.startsWith(BOOTED))
                .map(line -> Long.parseLong(line.substring(BOOTED.length()).strip()))
                .map(Instant::ofEpochSecond)
                .findFirst()
                .orElseThrow(() -> new DraException(
                        "%s has no line btime, the time of the boot; is it the host's /proc?".formatted(stat)));
    }

    /** Returns whether the node was booted since the file was written. */
    public boolean isOfEarlierBoot() {
        return written.isBefore(booted);
    }
}
