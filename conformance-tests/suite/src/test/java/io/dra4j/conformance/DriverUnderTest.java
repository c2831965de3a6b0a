// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The fake driver as a process of its own, with an API server and a kubelet beside it. */
final class DriverUnderTest implements AutoCloseable {

    static final String DRIVER = "gpu.example.com";
    static final String NODE = "node-1";
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration LOOK = Duration.ofMillis(200);
    private static final ObjectMapper JSON = new ObjectMapper();

    final Path root = Files.createTempDirectory(Path.of("/tmp"), "dc-");
    final Path plugins = Files.createDirectories(root.resolve("plugins"));
    final Path registry = Files.createDirectories(root.resolve("registry"));
    final Path cdi = root.resolve("cdi");
    final Path journal = plugins.resolve(DRIVER + "/claims.journal");
    final EmbeddedApiServer api;
    final ApiProxy proxy;
    final FakeKubelet kubelet = FakeKubelet.start(registry);
    String classPath = System.getProperty("java.class.path");
    String main = "io.dra4j.example.FakeDriverMain";
    final Map<String, String> environment = new HashMap<>();
    final List<String> jvmOptions = new ArrayList<>();
    private final Path kubeconfig;
    private final List<Process> processes = new ArrayList<>();
    private Process process;
    private boolean isChosen;

    DriverUnderTest() throws IOException {
        this(EmbeddedApiServer.builder());
    }

    /** Prepares to start the driver; its way to that server leads through the proxy. */
    DriverUnderTest(EmbeddedApiServer.Builder server) throws IOException {
        api = server.node(NODE).start();
        proxy = ApiProxy.before(api.url());
        kubeconfig = proxy.writeKubeconfig(root.resolve("kubeconfig"));
    }

    /** Has the driver start as anybody's would, in twice the time and more. */
    DriverUnderTest plain() {
        isChosen = true;
        return this;
    }

    /** Has the driver start from the archive, which it does unless it is to be plain. */
    DriverUnderTest archived() throws IOException {
        if (!isChosen) {
            isChosen = true;
            classPath = DriverArchive.get().classPath();
            jvmOptions.addAll(DriverArchive.get().jvmOptions());
        }
        return this;
    }

    /** Starts the driver as a fresh JVM. */
    void start(String... more) throws IOException {
        process = launch(more);
    }

    /** Starts a driver beside those that run; it ends with this test at the latest. */
    Process launch(String... more) throws IOException {
        archived();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", classPath));
        command.add(main);
        command.addAll(List.of("--node-name", NODE, "--kubeconfig", kubeconfig.toString()));
        command.addAll(List.of("--cdi-root", cdi.toString()));
        command.addAll(List.of("--kubelet-plugins-directory-path", plugins.toString()));
        command.addAll(List.of("--kubelet-registrar-directory-path", registry.toString()));
        command.addAll(Arrays.asList(more));
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(
                                ProcessBuilder.Redirect.appendTo(root.resolve("log").toFile()));
        builder.environment().putAll(environment);
        Process launched = builder.start();
        processes.add(launched);
        return launched;
    }

    /**
     * Starts the driver and waits until the kubelet has registered this very process.
     *
     * @return whether it got so far; if not, it ended by itself
     */
    boolean startRegistered(String... more) throws InterruptedException, IOException {
        int before = kubelet.events().size();
        long end = System.nanoTime() + PATIENCE.toNanos();
        start(more);
        while (process.isAlive()) {
            if (kubelet.awaitEvents(events -> registeredAfter(before, events), LOOK)) {
                return true;
            }
            if (System.nanoTime() > end) {
                throw new AssertionError("not registered: " + kubelet.events() + "\n" + log());
            }
        }
        return false;
    }

    private static boolean registeredAfter(int before, List<KubeletEvent> events) {
        return events.stream().skip(before).anyMatch(e -> e.kind() == Kind.REGISTERED);
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

    /** The end of the log, for failures. */
    String logTail() {
        try {
            String log = log();
            return log.substring(Math.max(0, log.length() - 3000));
        } catch (IOException e) {
            return "no log: " + e;
        }
    }

    /** Creates a claim with the allocation that a scheduler would have written. */
    KubeletClaim allocate(String name, String... devices) throws IOException {
        ArrayNode results = JSON.createArrayNode();
        for (String device : devices) {
            ObjectNode one = results.addObject().put("request", "gpu").put("driver", DRIVER);
            one.put("pool", NODE).put("device", device);
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
                                                .formatted(name, results)));
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
        processes.forEach(each -> each.destroyForcibly().onExit().join());
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
