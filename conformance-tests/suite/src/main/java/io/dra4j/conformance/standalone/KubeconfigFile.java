// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.standalone;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The kubeconfig of a server, which is there for as long as the server is.
 *
 * <p>A file that something else wrote is neither replaced nor removed.
 */
final class KubeconfigFile implements AutoCloseable {

    private final Path file;
    private final @Nullable Path folder; // to be removed with the file
    private @Nullable String written;

    private KubeconfigFile(Path file, @Nullable Path folder) {
        this.file = file;
        this.folder = folder;
    }

    /**
     * A kubeconfig that is to be written.
     *
     * @param file null takes one in a temporary folder
     * @throws SettingsException if something else is there
     */
    static KubeconfigFile at(@Nullable Path file) throws IOException {
        if (file == null) {
            Path folder = Files.createTempDirectory("dra-conformance-");
            return new KubeconfigFile(folder.resolve("kubeconfig"), folder);
        }
        if (Files.exists(file) && !(Files.isRegularFile(file) && Connections.wroteKubeconfig(file))) {
            throw new SettingsException(
                    "--kubeconfig: %s exists and is not one of this command; it is left alone, name another file"
                            .formatted(file));
        }
        return new KubeconfigFile(file.toAbsolutePath(), null);
    }

    /** Writes it, and returns the file. */
    Path write(EmbeddedApiServer server) throws IOException {
        try {
            server.writeKubeconfig(file);
        } catch (IOException e) {
            throw new SettingsException("--kubeconfig: can't write %s: %s".formatted(file, e));
        }
        written = Files.readString(file);
        return file;
    }

    /** Removes it, unless it has been replaced meanwhile, by that of another server for example. */
    @Override
    public void close() throws IOException {
        if (isAsWritten()) {
            Files.deleteIfExists(file);
        }
        if (folder != null) {
            Files.deleteIfExists(folder);
        }
    }

    private boolean isAsWritten() throws IOException {
        try {
            return written != null && Files.readString(file).equals(written);
        } catch (NoSuchFileException e) {
            return false;
        }
    }
}
