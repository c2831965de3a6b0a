// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GlobsTest {

    @TempDir
    private Path folder;

    @Test
    void whatADriverRemovesMeanwhileIsNoError() throws Exception {
        List<Path> left = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            left.add(Files.createDirectory(folder.resolve("claim-" + i)));
        }

        List<Path> found = Globs.below(folder, path -> left.remove(path) && removed(left));

        assertThat(found).hasSize(1).allMatch(Files::exists);
        assertThat(Globs.below(folder)).containsExactly(folder, found.get(0));
    }

    private static boolean removed(List<Path> others) {
        for (Path other : List.copyOf(others)) {
            try {
                Files.delete(other);
                others.remove(other);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return true;
    }
}
