// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.standalone.StandaloneServer;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.io.PrintWriter;
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

/** The command {@code apiserver}: the embedded API server alone. */
@Command(
        name = "apiserver",
        resourceBundle = "io.dra4j.conformance.apiserver-options",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {
            "Run the embedded API server alone, until Ctrl-C or SIGTERM: for kubectl, a controller or a test, without a cluster.",
            "It serves the kinds of DRA on 127.0.0.1 to every user of this machine, keeps them in memory, and has no scheduler and no controllers.",
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
            new CountDownLatch(1).await(); // until a signal ends the JVM, and the hook the server
            return 0;
        }
    }

    private void end(StandaloneServer server) {
        try {
            server.close();
        } catch (IOException e) {
            spec.commandLine().getErr().println("dra-conformance: the kubeconfig is left: " + e);
        }
    }

    private EmbeddedApiServer.Builder builder() {
        if (port < 0 || port > 65_535) {
            throw new SettingsException("--port is a number from 0 to 65535, not " + port);
        }
        return EmbeddedApiServer.builder().like(release.gates()).port(port);
    }

    private void print(StandaloneServer.Ready ready) {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("The API server of Kubernetes %s for DRA is ready", ready.version());
        out.printf(" at %s, with %d objects of manifests.%n%n", ready.url(), ready.objects());
        out.printf("  export KUBECONFIG=%s%n", ready.kubeconfig());
        out.printf("  kubectl get resourceslices%n");
        out.printf("  kubectl get resourceclaims -A --watch%n%n");
        out.printf("Ctrl-C ends it, and removes the kubeconfig.%n");
        out.flush();
    }
}
