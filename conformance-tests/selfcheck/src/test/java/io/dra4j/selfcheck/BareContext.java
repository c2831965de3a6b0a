// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.proxy.ApiProxy;
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
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A node with a driver of this package as a process; what the suite's own test context does, in
 * small.
 */
final class BareContext implements AutoCloseable {

    static final String DRIVER = "gpu.example.com";
    static final String NODE = "node-1";
    static final Duration PATIENCE = Duration.ofSeconds(60);

    final Path root = Files.createTempDirectory(Path.of("/tmp"), "bd-");
    final Path plugins = Files.createDirectories(root.resolve("plugins"));
    final Path registry = Files.createDirectories(root.resolve("registry"));
    final Path cdi = Files.createDirectories(root.resolve("cdi"));
    final EmbeddedApiServer api = EmbeddedApiServer.builder().node(NODE).start();
    final ApiProxy proxy = ApiProxy.before(api.url());
    final FakeKubelet kubelet = FakeKubelet.start(registry);
    private final List<String> command;
    private Process process;

    BareContext(List<String> command) throws IOException {
        this.command = command;
        proxy.writeKubeconfig(root.resolve("kubeconfig"));
    }

    void start(String... options) throws IOException {
        List<String> line = new ArrayList<>(command);
        line.addAll(List.of("--node-name", NODE, "--kubeconfig", root + "/kubeconfig"));
        line.addAll(List.of("--cdi-root", cdi.toString()));
        line.addAll(List.of("--kubelet-plugins-directory-path", plugins.toString()));
        line.addAll(List.of("--kubelet-registrar-directory-path", registry.toString()));
        line.addAll(Arrays.asList(options));
        process =
                new ProcessBuilder(line)
                        .redirectErrorStream(true)
                        .redirectOutput(
                                ProcessBuilder.Redirect.appendTo(root.resolve("log").toFile()))
                        .start();
    }

    void awaitRegistered() throws InterruptedException {
        if (!kubelet.awaitRegistered(DRIVER, PATIENCE)) {
            throw new AssertionError("not registered: " + kubelet.events() + "\n" + log());
        }
    }

    /** Waits until a driver is registered that was not when so many events had happened. */
    void awaitRegisteredAfter(int before) throws InterruptedException {
        if (!kubelet.awaitEvents(
                events ->
                        events.stream()
                                .skip(before)
                                .anyMatch(e -> e.kind() == KubeletEvent.Kind.REGISTERED),
                PATIENCE)) {
            throw new AssertionError("not registered: " + kubelet.events() + "\n" + log());
        }
    }

    Process process() {
        return process;
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    int terminate() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("SIGTERM did not end the driver\n" + log());
        }
        return process.exitValue();
    }

    List<JsonNode> awaitSlices(int count) {
        return awaitSlices(slices -> slices.size() == count);
    }

    List<JsonNode> awaitSlices(Predicate<List<JsonNode>> wanted) {
        try {
            return api.store().await("resourceslices", wanted, PATIENCE);
        } catch (AssertionError e) {
            throw new AssertionError(proxy.log() + "\n" + log(), e);
        }
    }

    KubeletClaim allocate(String name, String... devices) {
        ArrayNode results = Json.array();
        for (String device : devices) {
            results.addObject()
                    .put("request", "gpu")
                    .put("driver", DRIVER)
                    .put("pool", NODE)
                    .put("device", device);
        }
        return create(name, results, Json.array());
    }

    KubeletClaim create(String name, ArrayNode results, ArrayNode configs) {
        var claim = Json.object().put("apiVersion", "resource.k8s.io/v1");
        claim.put("kind", "ResourceClaim");
        claim.putObject("metadata").put("namespace", "default").put("name", name);
        var request = claim.withObject("/spec/devices").putArray("requests").addObject();
        request.put("name", "gpu").putObject("exactly").put("deviceClassName", DRIVER);
        var allocated = claim.withObject("/status/allocation/devices");
        allocated.set("results", results);
        if (!configs.isEmpty()) {
            allocated.set("config", configs);
        }
        JsonNode created = api.store().put(claim);
        return new KubeletClaim("default", name, created.at("/metadata/uid").asText());
    }

    void deleteObject(KubeletClaim claim) {
        api.store().delete("resourceclaims", claim.namespace(), claim.name());
    }

    CallResult prepare(KubeletClaim... claims) {
        return kubelet.prepare(DRIVER, Arrays.asList(claims));
    }

    CallResult unprepare(KubeletClaim... claims) {
        return kubelet.unprepare(DRIVER, Arrays.asList(claims));
    }

    List<String> specs() throws IOException {
        try (Stream<Path> files = Files.list(cdi)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    String log() {
        try {
            return Files.readString(root.resolve("log"));
        } catch (IOException e) {
            return "no log: " + e;
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
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
