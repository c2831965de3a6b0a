// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** The directories of a driver's sockets, for each test. */
abstract class SocketFixture {

    static final String DRIVER = "gpu.example.com";
    static final String UID = "0f8fad5b-d9cb-469f-a165-70867728950e";

    @TempDir(factory = ShortPaths.class)
    Path root;

    Path registry;
    Path data;
    PluginSockets sockets;

    @BeforeEach
    final void makeDirectories() throws IOException {
        registry = Files.createDirectory(root.resolve("r"));
        data = Files.createDirectory(root.resolve("d"));
        sockets = new PluginSockets(DRIVER, registry, data, null);
    }

    /** The path of a socket has 107 bytes at most, whatever the system's directory is. */
    static final class ShortPaths implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
            return Files.createTempDirectory(Path.of("/tmp"), "dk-");
        }
    }
}
