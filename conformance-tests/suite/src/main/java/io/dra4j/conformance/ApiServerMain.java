// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code apiserver}: only the embedded API server. */
@Command(
        name = "apiserver",
        resourceBundle = "io.dra4j.conformance.apiserver-options",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Run the embedded API server alone, until Ctrl-C or SIGTERM: for kubectl, a controller or a test, without a cluster.",
            "It serves the DRA API on 127.0.0.1 to every user of this machine, keeps the objects in memory, and has no scheduler and no controllers.",
            ""
        },
        footer = {"", "Exit status: 130 or 143 after Ctrl-C or SIGTERM, 3 if it could not start."})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ApiServerMain implements Callable<Integer> {

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "0",
            showDefaultValue = CommandLine.Help.Visibility.NEVER)
    private int port;

    @Mixin
    private ReleaseOptions release;

    @Option(names = "--kubeconfig", paramLabel = "FILE")
    private @Nullable Path kubeconfig;

    @Option(names = "--manifests", paramLabel = "DIR")
    private List<String> manifests = List.of();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        try (StandaloneServer server = new StandaloneServer()) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(server), "dra4j-apiserver-end"));
            print(server.start(builder(), manifests, kubeconfig));
            new CountDownLatch(1).await(); // until a signal ends the JVM, whose shutdown hook ends the server
            return 0;
        }
    }

    private void end(StandaloneServer server) {
        try {
            server.close();
        } catch (IOException e) {
            spec.commandLine().getErr().println("dra-conformance: can't remove the kubeconfig: " + e);
        }
    }

    private EmbeddedApiServer.Builder builder() {
        if (port < 0 || port > 65_535) {
            throw new SettingsException("--port must be a number from 0 to 65535, not " + port);
        }
        return EmbeddedApiServer.builder().like(release.gates()).port(port);
    }

    private void print(StandaloneServer.Ready ready) {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("The API server of Kubernetes %s for DRA is ready", ready.version());
        out.printf(" at %s, with %d objects from manifests.%n%n", ready.url(), ready.objects());
        out.printf("  export KUBECONFIG=%s%n", ready.kubeconfig());
        out.printf("  kubectl get resourceslices%n");
        out.printf("  kubectl get resourceclaims -A --watch%n%n");
        out.printf("Ctrl-C ends it, and removes the kubeconfig.%n");
        out.flush();
    }

    /**
     * The embedded API server, with objects from manifests and a kubeconfig.
     *
     * <p>{@link #close} may be called at any time and from any thread, also before and during the start.
     */
    private static final class StandaloneServer implements AutoCloseable {

        private @Nullable EmbeddedApiServer server; // guarded by this
        private @Nullable KubeconfigFile kubeconfig; // guarded by this
        private boolean closed; // guarded by this

        /** A server that is ready; some of its objects, {@code objects}, came from manifests. */
        public record Ready(URI url, String version, int objects, Path kubeconfig) {}

        /**
         * Starts the server, applies manifests to it, and writes the kubeconfig.
         *
         * @param manifests files, and folders of them
         * @param file the kubeconfig, which is written last; null for one in a temporary folder
         * @throws SettingsException if the port, a gate, a manifest or the kubeconfig's file is unusable
         */
        public synchronized Ready start(EmbeddedApiServer.Builder builder, List<String> manifests, @Nullable Path file)
                throws IOException {
            if (closed) {
                throw new SettingsException("the API server was ended before it was ready");
            }
            KubeconfigFile place = KubeconfigFile.at(file);
            kubeconfig = place;
            EmbeddedApiServer started = started(builder);
            server = started;
            int objects = ManifestObjects.put(manifests, started.store()).size();
            return new Ready(started.url(), started.version().gitVersion(), objects, place.write(started));
        }

        private static EmbeddedApiServer started(EmbeddedApiServer.Builder builder) {
            try {
                return builder.start();
            } catch (IllegalArgumentException | IllegalStateException e) {
                throw new SettingsException(e.getMessage());
            }
        }

        @Override
        public synchronized void close() throws IOException {
            closed = true;
            try {
                if (kubeconfig != null) {
                    kubeconfig.close();
                }
            } finally {
                if (server != null) {
                    server.close();
                }
            }
        }

        /**
         * The kubeconfig of a server, which exists as long as the server.
         *
         * <p>A file that something else wrote is neither replaced nor removed.
         */
        private static final class KubeconfigFile implements AutoCloseable {

            private final Path file;
            private final @Nullable Path folder; // to be removed with the file
            private @Nullable String written;

            private KubeconfigFile(Path file, @Nullable Path folder) {
                this.file = file;
                this.folder = folder;
            }

            /** A kubeconfig to be written: for null, in a temporary folder; another file is refused. */
            static KubeconfigFile at(@Nullable Path file) throws IOException {
                if (file == null) {
                    Path folder = Files.createTempDirectory("dra-conformance-");
                    return new KubeconfigFile(folder.resolve("kubeconfig"), folder);
                }
                if (Files.exists(file) && !(Files.isRegularFile(file) && Connections.wroteKubeconfig(file))) {
                    throw new SettingsException(
                            "--kubeconfig: %s exists and was not written by this command; name another file"
                                    .formatted(file));
                }
                return new KubeconfigFile(file.toAbsolutePath(), null);
            }

            Path write(EmbeddedApiServer server) throws IOException {
                try {
                    server.writeKubeconfig(file);
                } catch (IOException e) {
                    throw new SettingsException("--kubeconfig: can't write %s: %s".formatted(file, e));
                }
                written = Files.readString(file);
                return file;
            }

            /** Removes it, unless it has been replaced, for example by that of another server. */
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
    }
}
