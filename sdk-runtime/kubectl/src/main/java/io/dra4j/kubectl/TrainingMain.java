// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import picocli.CommandLine;

/**
 * Runs the commands against a small TLS server in this process, for a JVM that archives the classes they load.
 *
 * <p>It needs no network: the launcher runs it when no archive exists yet.
 */
final class TrainingMain {

    private static final String KUBECONFIG = """
            clusters: [{name: one, cluster: {server: 'https://127.0.0.1:%d', certificate-authority: '%s'}}]
            users: [{name: one, user: {token: training}}]
            contexts: [{name: one, context: {cluster: one, user: one}}]
            current-context: one
            """;

    private static final char[] PASSWORD = "training".toCharArray(); // for a key that is deleted at the end
    private static final String CLASS = ".class";
    private static final int NOT_FOUND = 404;
    private static final int OK = 200;
    private static final int ROUNDS = 3; // so that a JVM that archives profiles sees what is called often

    private TrainingMain() {}

    /**
     * Runs each command, several times.
     *
     * @param args a folder with {@code keys}, a key store of the server, and {@code certificate}, in PEM
     */
    public static void main(String[] args) throws Exception {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        System.setProperty("sun.net.httpserver.nodelay", "true"); // otherwise each answer takes 40 ms
        Path folder = Path.of(args[0]);
        HttpsServer server = server(KeyStore.getInstance(folder.resolve("keys").toFile(), PASSWORD));
        server.start();
        try {
            String text = KUBECONFIG.formatted(server.getAddress().getPort(), folder.resolve("certificate"));
            String kubeconfig = "--kubeconfig=" + Files.writeString(folder.resolve("kubeconfig"), text);
            for (int i = 0; i < ROUNDS; i++) {
                run("tree", kubeconfig);
                run("explain", "pod/train", kubeconfig);
                run("explain", "pod/large", kubeconfig); // does not fit
            }
            run("doctor", kubeconfig);
            run("audit", kubeconfig);
            run("--help");
            load("java.net.http", "jdk/internal/net/http");
            load("java.base", "sun/security/provider/certpath");
            load("java.base", "sun/security/validator");
        } finally {
            server.stop(0);
        }
    }

    private static void run(String... command) {
        CommandLine line = KubectlDraMain.commandLine(command);
        int status = line.setOut(new PrintWriter(Writer.nullWriter())).execute(command);
        if (status > 1) {
            throw new IllegalStateException("%s has ended with status %d".formatted(List.of(command), status));
        }
    }

    /** Loads classes that only other servers need: for HTTP/2, and for certificates that an authority has signed. */
    private static void load(String module, String packages) throws IOException, ClassNotFoundException {
        Path root = Path.of(URI.create("jrt:/" + module));
        if (Files.isDirectory(root.resolve(packages))) { // of this JVM
            try (Stream<Path> files = Files.walk(root.resolve(packages))) {
                for (Path file : files.toList()) {
                    String name = root.relativize(file).toString();
                    if (name.endsWith(CLASS)) {
                        name = name.substring(0, name.length() - CLASS.length()).replace('/', '.');
                        load(name);
                    }
                }
            }
        }
    }

    private static void load(String name) throws ClassNotFoundException {
        try {
            Class.forName(name, false, ClassLoader.getPlatformClassLoader());
        } catch (LinkageError e) {
            System.err.printf("%s is not archived: %s%n", name, e);
        }
    }

    private static HttpsServer server(KeyStore keys) throws IOException, GeneralSecurityException {
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls));
        JsonNode answers;
        try (InputStream file = TrainingMain.class.getResourceAsStream("training.json")) {
            answers = new JsonMapper().readTree(file);
        }
        server.createContext("/", exchange -> answer(exchange, answers));
        return server;
    }

    private static void answer(HttpExchange exchange, JsonNode answers) throws IOException {
        exchange.getRequestBody().readAllBytes();
        JsonNode answer = answers.path(exchange.getRequestURI().getPath());
        byte[] body = (answer.isMissingNode() ? "{}" : answer.toString()).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(answer.isMissingNode() ? NOT_FOUND : OK, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }
}
