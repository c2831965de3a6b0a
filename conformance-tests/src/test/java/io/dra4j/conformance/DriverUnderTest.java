// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.apiserver.EmbeddedApiServer;
import io.dra4j.conformance.kubelet.FakeKubelet;
import io.dra4j.conformance.kubelet.KubeletClaim;
import io.dra4j.conformance.kubelet.KubeletEvent.Kind;
import io.dra4j.conformance.proxy.ApiProxy;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The fake driver as a process of its own, with an API server and a kubelet beside it. */
final class DriverUnderTest implements AutoCloseable {

    static final String DRIVER = "gpu.example.com";
    static final String NODE = "node-1";
    static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final ObjectMapper JSON = new ObjectMapper();

    final Path root = Files.createTempDirectory(Path.of("/tmp"), "dc-");
    final Path plugins = Files.createDirectories(root.resolve("plugins"));
    final Path registry = Files.createDirectories(root.resolve("registry"));
    final Path cdi = root.resolve("cdi");
    final Path journal = plugins.resolve(DRIVER + "/claims.journal");
    final EmbeddedApiServer api;
    final ApiProxy proxy;
    final FakeKubelet kubelet = FakeKubelet.start(registry);
    private final Path kubeconfig;
    private Process process;

    DriverUnderTest() throws IOException {
        this(EmbeddedApiServer.builder());
    }

    /** Prepares to start the driver; its way to that server leads through the proxy. */
    DriverUnderTest(EmbeddedApiServer.Builder server) throws IOException {
        api = server.node(NODE).start();
        proxy = ApiProxy.before(api.url());
        kubeconfig = proxy.writeKubeconfig(root.resolve("kubeconfig"));
    }

    /** Starts the driver as a fresh JVM with this test's class path. */
    void start(String... more) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add("io.dra4j.example.FakeDriverMain");
        command.addAll(List.of("--node-name", NODE, "--kubeconfig", kubeconfig.toString()));
        command.addAll(List.of("--cdi-root", cdi.toString()));
        command.addAll(List.of("--kubelet-plugins-directory-path", plugins.toString()));
        command.addAll(List.of("--kubelet-registrar-directory-path", registry.toString()));
        command.addAll(Arrays.asList(more));
        process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(
                                ProcessBuilder.Redirect.appendTo(root.resolve("log").toFile()))
                        .start();
    }

    void awaitRegistered() throws InterruptedException, IOException {
        if (!kubelet.awaitRegistered(DRIVER, PATIENCE)) {
            throw new AssertionError("not registered: " + kubelet.events() + "\n" + log());
        }
    }

    long pid() {
        return process.pid();
    }

    /** Kills the driver as a crash does, and waits until the kubelet takes a new socket for new. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    void restartAfterKill(String... more) throws InterruptedException, IOException {
        int before = kubelet.events().size();
        kill();
        start(more);
        if (!kubelet.awaitEvents(
                events -> events.stream().skip(before).anyMatch(e -> e.kind() == Kind.REGISTERED),
                PATIENCE)) {
            throw new AssertionError("not registered again\n" + log());
        }
    }

    /** Stops the driver as a pod's end does, and returns the exit status. */
    int terminate() throws InterruptedException, IOException {
        process.destroy();
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("SIGTERM did not end the driver\n" + log());
        }
        return process.exitValue();
    }

    int awaitExit() throws InterruptedException, IOException {
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("the driver did not end\n" + log());
        }
        return process.exitValue();
    }

    String log() throws IOException {
        return Files.readString(root.resolve("log"));
    }

    /** Creates a claim with the allocation that a scheduler would have written. */
    KubeletClaim allocate(String name, String... devices) throws IOException {
        String[] results =
                Arrays.stream(devices).map("{\"device\":\"%s\"}"::formatted).toArray(String[]::new);
        return allocateResults(name, results);
    }

    /**
     * Creates a claim with results of its allocation, of which request and pool go without saying.
     */
    KubeletClaim allocateResults(String name, String... results) throws IOException {
        ArrayNode all = JSON.createArrayNode();
        for (String result : results) {
            ObjectNode one = all.addObject();
            one.put("request", "gpu").put("driver", DRIVER).put("pool", NODE);
            one.setAll((ObjectNode) JSON.readTree(result));
        }
        JsonNode created =
                api.store()
                        .put(
                                JSON.readTree(
                                        """
                                        {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
                                         "metadata":{"namespace":"default","name":"%s"},
                                         "spec":{"devices":{"requests":[{"name":"gpu",
                                           "exactly":{"deviceClassName":"gpu.example.com"}}]}},
                                         "status":{"allocation":{"devices":{"results":%s}}}}
                                        """
                                                .formatted(name, all)));
        return new KubeletClaim("default", name, created.at("/metadata/uid").asText());
    }

    void deleteObject(KubeletClaim claim) {
        api.store().delete("resourceclaims", claim.namespace(), claim.name());
    }

    List<String> specs() throws IOException {
        if (!Files.isDirectory(cdi)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(cdi)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Override
    public void close() {
        if (process != null) {
            process.destroyForcibly().onExit().join();
        }
        kubelet.close();
        proxy.close();
        api.close();
        try (Stream<Path> files = Files.walk(root)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
