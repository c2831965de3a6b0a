// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The question whether the claims of a checkpoint that does not name its boot ended with an earlier
 * one.
 *
 * <p>A clock that was set makes the time of the boot later than that of a file of this boot. So the
 * times count only if no claim has a CDI spec that a reboot would have deleted.
 *
 * @param file the checkpoint
 * @param proc the mount point of procfs
 * @param cdiRoot the directory of CDI specs; NVIDIA's driver is taken to have the same
 * @param cdiKind the kind of their devices, {@code k8s.gpu.nvidia.com/claim}
 */
public record EarlierBoot(Path file, Path proc, Path cdiRoot, String cdiKind) {

    /** File systems whose files end with the boot. */
    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");

    /**
     * Returns the age of the checkpoint if its claims ended with an earlier boot.
     *
     * @param claims the claims of the checkpoint
     * @return empty if they are of this boot, or may be
     * @throws io.dra4j.api.error.DraException if the age is needed, and can't be read
     */
    public Optional<FileAge> of(List<GoClaim> claims) {
        if (claims.stream().anyMatch(this::hasSpecOfThisBoot)) {
            return Optional.empty();
        }
        return Optional.of(FileAge.read(file, proc)).filter(FileAge::isOfEarlierBoot);
    }

    private boolean hasSpecOfThisBoot(GoClaim claim) {
        String name = "%s_%s.".formatted(cdiKind.replace('/', '-'), claim.uid());
        return Stream.of("yaml", "json")
                .anyMatch(end -> Files.exists(cdiRoot.resolve(name + end)) && isInMemory(cdiRoot));
    }

    /** An unknown file system counts as one: a refusal is better than claims that are lost. */
    private static boolean isInMemory(Path directory) {
        try {
            return IN_MEMORY.contains(Files.getFileStore(directory).type());
        } catch (IOException e) {
            return true;
        }
    }
}
