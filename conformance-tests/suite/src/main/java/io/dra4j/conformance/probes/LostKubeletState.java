// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.kubelet.KubeletStateFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The file in which a kubelet keeps its claims, as it is once the kubelet has lost its state and
 * has started again: it is intact, and no claim is in it.
 *
 * <p>Only in directories of the run's own; where a driver finds its directories by mounts, it does
 * not see the file, as in most pods.
 */
public record LostKubeletState(KubeletStateFile file, boolean isSeen) implements AutoCloseable {

    private static final Path IN_PODS = Path.of("/var/lib/kubelet/plugins");

    public LostKubeletState(TestContext context) {
        this(
                KubeletStateFile.of(context.place().plugins()),
                context.place().plugins().startsWith(context.place().root())
                        && context.place().outside(IN_PODS).equals(IN_PODS));
    }

    /** Writes the file. */
    public void lose() {
        if (isSeen) {
            file.write();
        }
    }

    @Override
    public void close() throws IOException {
        if (isSeen) {
            Files.deleteIfExists(file.path());
        }
    }
}
