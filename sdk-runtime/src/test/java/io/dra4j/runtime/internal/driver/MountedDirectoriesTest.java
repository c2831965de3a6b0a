// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.driver.Liveness.MountedDirectories;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountedDirectoriesTest {

    @TempDir
    Path directory;

    /** A directory that this process has open is to it what a mounted one is to a container. */
    @Test
    void oneThatIsDeletedIsNamed() throws IOException {
        Path deleted = Files.createDirectory(directory.resolve("deleted"));
        try (FileChannel open = FileChannel.open(deleted)) {
            Path mounted = descriptor(deleted);
            MountedDirectories directories =
                    new MountedDirectories(List.of(directory.resolve("missing"), directory, mounted));
            assertThat(directories.deleted()).isEmpty();

            Files.delete(deleted);
            Files.createDirectory(deleted);

            assertThat(open.isOpen()).isTrue();
            assertThat(directories.deleted())
                    .hasValueSatisfying(reason ->
                            assertThat(reason).startsWith("The directory " + mounted + " was deleted on the node"));
        }
    }

    private static Path descriptor(Path target) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(Files::isSymbolicLink)
                    .filter(link -> pointsTo(link, target))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static boolean pointsTo(Path link, Path target) {
        try {
            return Files.readSymbolicLink(link).equals(target);
        } catch (IOException e) {
            return false; // the descriptor of the listing itself
        }
    }
}
