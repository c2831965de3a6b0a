// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import io.dra4j.kubectl.KubectlDraMain;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.driver.Ended;
import io.fabric8.kubernetes.client.Config;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KubeconfigTest {

    private static final String EXEC =
            "{exec: {apiVersion: client.authentication.k8s.io/v1, command: %s, installHint: Get it.}}";

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

    @Scenarios("kubeconfig-scenarios.txt")
    void isReadAsKubectlReadsIt(String scenario) throws Exception {
        String user = "";
        String cluster = "server: 'https://127.0.0.1'";
        for (String line : scenario.replace("{folder}", folder.toString()).split("\n")) {
            String[] words = line.split(" ");
            String text = line.replaceFirst(".* :( |$)", "");
            switch (words[0]) {
                case "#" -> {} // its title
                case "user" -> user = line.substring(5);
                case "cluster" -> cluster = "server: 'https://127.0.0.1', " + line.substring(8);
                case "config" ->
                    assertThat(part(words[1], Kubeconfig.read(kubeconfig(cluster, user), null)))
                            .isEqualTo(text);
                case "exec" -> user = EXEC.formatted(words[1]);
                case "write" -> Files.writeString(folder.resolve(words[1]), text.replace("\\n", "\n"));
                case "plugin" -> {
                    Path script = Files.writeString(folder.resolve("plugin"), "#!/bin/sh\n" + text + "\n");
                    assertThat(script.toFile().setExecutable(true)).isTrue();
                }
                case "header" -> assertThat(headersOf(user).getFirst(words[1])).isEqualTo(text);
                case "unreadable" -> assertFails(() -> ApiReader.connect(folder.resolve(words[1]), null), text);
                case "refused" -> {
                    Path file = kubeconfig(cluster, user);
                    assertFails(() -> ApiReader.connect(file, words[1].equals(":") ? null : words[1]), text);
                }
                case "terminal" -> System.setProperty("kubectl-dra.terminal", words[1]);
                case "proxy" -> {
                    Map<String, String> environment = new HashMap<>();
                    for (int i = 2; words[i].contains("="); i++) {
                        environment.put(words[i].split("=")[0], words[i].split("=")[1].replace('+', ' '));
                    }
                    assertThat(String.valueOf(HttpProxy.of(words[1], null, environment)))
                            .isEqualTo(text);
                }
                case "readable" -> Kubeconfig.read(folder.resolve(words[1]), null);
                case "runs" ->
                    assertThat(Files.readAllLines(folder.resolve("runs"))).hasSize(Integer.parseInt(words[1]));
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private static void assertFails(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOf(ReadException.class)
                .message()
                .matches("(?s)" + Pattern.quote(message).replace("...", "\\E.*\\Q"));
    }

    private static @Nullable String part(String name, Config config) {
        return switch (name) {
            case "authority" -> config.getCaCertFile();
            case "authority-data" -> config.getCaCertData();
            case "password" -> config.getPassword();
            case "certificate-file" -> config.getClientCertFile();
            case "key-file" -> config.getClientKeyFile();
            case "key" -> config.getClientKeyData();
            case "certificate" -> config.getClientCertData();
            case "insecure" -> String.valueOf(config.isTrustCerts());
            case "proxy" -> config.getHttpsProxy();
            default -> config.getUsername();
        };
    }

    /** PowerShell's redirection writes such files. */
    @Test
    void aFileMayBeUtf16() throws Exception {
        Path file = kubeconfig("server: 'https://127.0.0.1'", "{username: zoë}");
        Files.writeString(file, Files.readString(file), StandardCharsets.UTF_16);

        assertThat(Kubeconfig.read(file, null).getUsername()).isEqualTo("zoë");
    }

    @Test
    void theProxyOfTheClusterGetsItsPassword() throws Exception {
        try (ServerSocket proxy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            proxy.setSoTimeout(30_000);
            Path file = kubeconfig(
                    "server: 'https://127.0.0.1:1', proxy-url: 'http://jane:secret@127.0.0.1:%d'"
                            .formatted(proxy.getLocalPort()),
                    "{token: t}");
            List<String> command = new ArrayList<>(List.of(Ended.jdk("java"), "-cp"));
            command.add(System.getProperty("java.class.path"));
            command.addAll(List.of(KubectlDraMain.class.getName(), "tree", "--kubeconfig=" + file));
            Process program = new ProcessBuilder(command).start();
            try (Socket one = proxy.accept()) {
                InputStreamReader text = new InputStreamReader(one.getInputStream(), StandardCharsets.UTF_8);
                assertThat(new BufferedReader(text).lines().takeWhile(line -> !line.isEmpty()))
                        .contains("CONNECT 127.0.0.1:1 HTTP/1.1", "Proxy-Authorization: Basic amFuZTpzZWNyZXQ=");
            } finally {
                program.destroyForcibly();
            }
        }
    }
}
