// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubeconfigTest {

    private static final String EXEC =
            "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, installHint: Get it.}}";

    @TempDir
    private Path folder;

    private Path kubeconfig(String cluster, String user) throws Exception {
        return Files.writeString(folder.resolve("kubeconfig"), """
                clusters: [{name: one, cluster: {%s}}]
                users: [{name: one, user: %s}]
                contexts:
                  - {name: one, context: {cluster: one, user: one}}
                  - {name: half, context: {cluster: gone, user: one}}
                current-context: one
                """.formatted(cluster, user));
    }

    private void plugin(String... lines) throws Exception {
        Path script = Files.writeString(folder.resolve("plugin"), "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
    }

    /** The headers of a request as this user. */
    private Headers headersOf(String user) throws Exception {
        CompletableFuture<Headers> headers = new CompletableFuture<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            headers.complete(exchange.getRequestHeaders());
            exchange.sendResponseHeaders(404, -1);
            exchange.close();
        });
        server.start();
        String address =
                "server: 'http://127.0.0.1:%d'".formatted(server.getAddress().getPort());
        try (ApiReader api = ApiReader.connect(kubeconfig(address, user), null)) {
            api.find("version");
        } finally {
            server.stop(0);
        }
        return headers.join();
    }

    @Test
    void anotherContextIsNeverTakenForOneThatIsNotThere() throws Exception {
        Path file = kubeconfig("server: 'https://127.0.0.1'", "{token: t}");

        assertThatThrownBy(() -> ApiReader.connect(file, "tow"))
                .isInstanceOf(ReadException.class)
                .hasMessage("The kubeconfig has no context \"tow\"; it has [one, half]");
        assertThatThrownBy(() -> ApiReader.connect(file, "half"))
                .isInstanceOf(ReadException.class)
                .hasMessage("The kubeconfig has no cluster \"gone\"; it has [one]");
    }

    @Test
    void aFileThatIsNotAKubeconfigIsNamed() throws Exception {
        Path file = Files.writeString(folder.resolve("malformed"), "clusters: [");
        assertThatThrownBy(() -> ApiReader.connect(file, null))
                .isInstanceOf(ReadException.class)
                .hasMessageStartingWith("The kubeconfig " + file + " can't be read: ");

        Path empty = Files.writeString(folder.resolve("empty"), "");
        assertThatThrownBy(() -> ApiReader.connect(empty, null))
                .isInstanceOf(ReadException.class)
                .hasMessageStartingWith("There is no kubeconfig: ");
    }

    @Test
    void aPluginMayWriteMessages() throws Exception {
        plugin(
                "echo a note >&2",
                "echo \"${KUBERNETES_EXEC_INFO%\\}}, \\\"status\\\": {\\\"token\\\": \\\"of-plugin\\\"}}\"");

        assertThat(headersOf(EXEC).getFirst("Authorization")).isEqualTo("Bearer of-plugin");
    }

    @Test
    void aPluginThatFailsIsNamed() throws Exception {
        plugin("exit 3");

        assertThatThrownBy(() -> headersOf(EXEC))
                .isInstanceOf(ReadException.class)
                .hasMessage("The credential plugin ./plugin of the kubeconfig has failed, with exit status 3");
        assertThatThrownBy(() -> headersOf(EXEC.replace("./plugin", "no-such-plugin")))
                .isInstanceOf(ReadException.class)
                .hasMessageContaining("The credential plugin no-such-plugin of the kubeconfig can't be run: ")
                .hasMessageEndingWith("Get it.");
        plugin("echo secret");
        assertThatThrownBy(() -> headersOf(EXEC))
                .isInstanceOf(ReadException.class)
                .hasMessage("The credential plugin ./plugin of the kubeconfig has not returned JSON");
    }

    @Test
    void theUserIsWhomKubectlWouldBe() throws Exception {
        Files.writeString(folder.resolve("token"), "of-file\n");

        Headers headers = headersOf("{tokenFile: token, as: jane, as-groups: [ops]}");

        assertThat(headers.getFirst("Authorization")).isEqualTo("Bearer of-file");
        assertThat(headers.getFirst("Impersonate-User")).isEqualTo("jane");
        assertThat(headers.getFirst("Impersonate-Group")).isEqualTo("ops");
    }

    @Test
    void theProxyOfTheClusterIsUsed() throws Exception {
        try (ServerSocket proxy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            proxy.setSoTimeout(5_000);
            CompletableFuture<String> asked = CompletableFuture.supplyAsync(() -> {
                try (Socket one = proxy.accept()) {
                    InputStreamReader text = new InputStreamReader(one.getInputStream(), StandardCharsets.UTF_8);
                    return new BufferedReader(text).readLine();
                } catch (IOException e) {
                    return e.toString();
                }
            });
            Path file = kubeconfig(
                    "server: 'https://127.0.0.1:1', proxy-url: 'http://127.0.0.1:%d'".formatted(proxy.getLocalPort()),
                    "{token: t}");
            try (ApiReader api = ApiReader.connect(file, null)) {
                assertThatThrownBy(() -> api.find("version")).isInstanceOf(ReadException.class);
            }
            assertThat(asked.join()).startsWith("CONNECT 127.0.0.1:1 ");
        }
    }
}
