// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds out whether a checkpoint's claims ended with an earlier boot, if the checkpoint does not name its boot.
 *
 * <p>After the clock was set, the boot may seem later than a file written since. So the times count only if no claim
 * has a CDI spec that a reboot would have deleted.
 *
 * @param cdiRoot the directory of CDI specs; NVIDIA's driver is assumed to use the same one
 * @param cdiKind the kind of their devices, {@code k8s.gpu.nvidia.com/claim}
 */
public record EarlierBoot(Path file, Path proc, Path cdiRoot, String cdiKind) {

    /** File systems whose files end with the boot. */
    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");

    /**
     * Returns the age of the checkpoint if its claims ended with an earlier boot.
     *
     * @return empty if they are, or may be, from this boot
     * @throws DraException if the age is needed, and can't be read
     */
    public Optional<Age> of(List<GoClaim> claims) {
        if (claims.stream().anyMatch(this::hasSpecOfThisBoot)) {
            return Optional.empty();
        }
        return Optional.of(Age.read(file, proc)).filter(Age::isOfEarlierBoot);
    }

    private boolean hasSpecOfThisBoot(GoClaim claim) {
        String name = "%s_%s.".formatted(cdiKind.replace('/', '-'), claim.uid());
        return Stream.of("yaml", "json")
                .anyMatch(end -> Files.exists(cdiRoot.resolve(name + end)) && isInMemory(cdiRoot));
    }

    /** An unknown file system counts as one in memory: a refusal is better than lost claims. */
    private static boolean isInMemory(Path directory) {
        try {
            return IN_MEMORY.contains(Files.getFileStore(directory).type());
        } catch (IOException e) {
            return true;
        }
    }

    /**
     * The age of a checkpoint that does not name its boot, by the node's clock, which may have been set since.
     *
     * @param written when the file was last written
     * @param booted when the node was booted, in whole seconds
     */
    public record Age(Instant written, Instant booted) {

        private static final String BOOTED = "btime ";

        static Age read(Path file, Path proc) {
            Path stat = proc.resolve("stat");
            try {
                return new Age(Files.getLastModifiedTime(file).toInstant(), booted(stat));
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

        boolean isOfEarlierBoot() {
            return written.isBefore(booted);
        }
    }
}
