// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a driver runs: its node, and the directories that it shares with kubelet and runtime.
 *
 * @param root below which everything lies that is removed in the end
 * @param node the node's name
 * @param driver the driver's name
 * @param registry the kubelet's directory of registration sockets
 * @param plugins the kubelet's plugins directory
 * @param cdi the directory of CDI specs
 * @param kubeconfig the way to the API server
 * @param log where the driver's output goes
 * @param freePort a port of 127.0.0.1 that nothing listened at
 */
public record Place(
        Path root,
        String node,
        String driver,
        Path registry,
        Path plugins,
        Path cdi,
        Path kubeconfig,
        Path log,
        int freePort) {

    /** Makes a place under {@code /tmp}: the path of a socket has 107 bytes at most. */
    public static Place create(String node, String driver) {
        try {
            Path root = Files.createTempDirectory(Path.of("/tmp"), "dc-");
            Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
            return new Place(
                    root,
                    node,
                    driver,
                    Files.createDirectory(root.resolve("registry")),
                    Files.createDirectory(root.resolve("plugins")),
                    Files.createDirectory(root.resolve("cdi")),
                    root.resolve("kubeconfig"),
                    root.resolve("driver.log"),
                    unusedPort());
        } catch (IOException e) {
            throw new UncheckedIOException("Can't make directories under /tmp", e);
        }
    }

    /** A place where somebody else runs the driver; only what is below the root is the suite's. */
    static Place of(String node, String driver, Path registry, Path plugins, Path cdi) {
        try {
            Path root = Files.createTempDirectory(Path.of("/tmp"), "dc-");
            return new Place(
                    root,
                    node,
                    driver,
                    registry,
                    plugins,
                    cdi,
                    root.resolve("kubeconfig"),
                    root.resolve("driver.log"),
                    unusedPort());
        } catch (IOException e) {
            throw new UncheckedIOException("Can't make a directory under /tmp", e);
        }
    }

    private static int unusedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** The same, but for the way to the API server. */
    public Place withKubeconfig(Path other) {
        return new Place(root, node, driver, registry, plugins, cdi, other, log, freePort);
    }

    /** What a driver finds in its environment, and in braces in its command. */
    public Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("NODE_NAME", node);
        values.put("DRIVER_NAME", driver);
        values.put("KUBECONFIG", kubeconfig.toString());
        values.put("CDI_ROOT", cdi.toString());
        values.put("KUBELET_PLUGINS_DIRECTORY_PATH", plugins.toString());
        values.put("KUBELET_REGISTRAR_DIRECTORY_PATH", registry.toString());
        values.put("FREE_PORT", Integer.toString(freePort));
        return values;
    }

    /** Replaces {@code {NAME}} by the place's value, and {@code {ROOT}} by its root. */
    public String fill(String word) {
        String filled = word.replace("{ROOT}", root.toString());
        for (Map.Entry<String, String> value : values().entrySet()) {
            filled = filled.replace("{" + value.getKey() + "}", value.getValue());
        }
        return filled;
    }

    /** Removes everything below the root, and the root; others may be removing, too. */
    public void remove() {
        try {
            Files.walkFileTree(root, new Removal());
        } catch (IOException e) {
            throw new UncheckedIOException("Can't remove " + root, e);
        }
    }

    /** Deletes what it visits; what is gone meanwhile was to go. */
    private static final class Removal extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException problem) throws IOException {
            if (problem instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw problem;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException problem)
                throws IOException {
            Files.deleteIfExists(folder);
            return FileVisitResult.CONTINUE;
        }
    }
}
