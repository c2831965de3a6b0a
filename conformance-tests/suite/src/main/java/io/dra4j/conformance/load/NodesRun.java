// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.inprocess.NodesMain;
import io.dra4j.conformance.load.NodesNumbers.Host;
import io.dra4j.conformance.load.NodesNumbers.Idle;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.Traffic;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures the drivers of many nodes, which one JVM hosts.
 *
 * <p>The API server and the kubelet are in this JVM: what they need is not measured. Memory is that of all drivers
 * minus that of one, so that the JVM, its classes and its code do not count.
 */
public record NodesRun(NodesPlan plan, Consumer<String> remarks) {

    /** The time after which threads of the start have ended, and the JVM has finished compiling. */
    private static final Duration SETTLE = Duration.ofSeconds(5);

    private static final Duration AGAIN = Duration.ofMinutes(2);
    private static final Duration LOOK = Duration.ofMillis(500);

    private static final String CLAIM = """
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
             "metadata": {"name": "%s", "namespace": "default"},
             "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "hosted"}}]}},
             "status": {
               "allocation": {"devices": {"results": [
                 {"request": "gpu", "driver": "%s", "pool": "%s", "device": "device-0"}]}},
               "reservedFor": [{"resource": "pods", "name": "pod", "uid": "8d0d7ee2-4b55-4b0b-ac53-0a4a9a5a8a3f"}]}}
            """;

    /** Starts all drivers, and returns what was measured. */
    public NodesNumbers run() throws IOException {
        Opened opened = new Opened();
        Runtime.getRuntime().addShutdownHook(new Thread(opened::end, "dra-conformance-end"));
        try (opened) {
            return run(opened);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DriverUnusable("Interrupted while drivers were measured");
        }
    }

    private NodesNumbers run(Opened opened) throws IOException, InterruptedException {
        Place place = opened.open(
                () -> Place.create("kubelet", NodesMain.DRIVER),
                one -> one.remove().ifPresent(remarks));
        EmbeddedApiServer.Builder cluster = EmbeddedApiServer.builder().tls();
        NodesMain.nodes(plan.nodes()).forEach(cluster::node);
        List<String> command = NodesMain.command(
                place.kubeconfig(), place.registry(), place.root().resolve("nodes"), plan.devices());
        EmbeddedApiServer server = opened.open(cluster::start, EmbeddedApiServer::close);
        FakeKubelet kubelet = opened.open(() -> FakeKubelet.start(place.registry()), FakeKubelet::close);
        Path account = server.writeServiceAccount(place.serviceAccount());
        Connections.writeKubeconfig(place.kubeconfig(), server.tlsUrl(), account);
        HostJvm host = opened.open(() -> HostJvm.start(command, place.log()), HostJvm::close);
        return measure(host, server, kubelet);
    }

    private NodesNumbers measure(HostJvm host, EmbeddedApiServer server, FakeKubelet kubelet)
            throws IOException, InterruptedException {
        remarks.accept("One driver is started, against which the others are measured");
        host.start(1);
        host.rest(SETTLE);
        Host one = host.host();
        remarks.accept("The other %d drivers are started".formatted(plan.nodes() - 1));
        long begin = System.nanoTime();
        host.start(plan.nodes());
        Duration publishing = Timing.since(begin);
        host.rest(SETTLE);
        Host all = host.host();
        Map<String, Long> requests = server.requests();
        remarks.accept("Nothing happens for %d s".formatted(plan.idle().toSeconds()));
        Idle idle = idle(host, server);
        remarks.accept("All watches end once, then each driver prepares a claim and unprepares it");
        Map<String, Traffic> ended = traffic(server, () -> endWatches(host, server));
        Map<String, Traffic> called = traffic(server, () -> call(server, kubelet));
        List<JsonNode> slices = server.store().list("resourceslices");
        int registered = kubelet.plugins(NodesMain.DRIVER).size();
        return new NodesNumbers(
                plan,
                registered,
                slices.size(),
                incomplete(slices),
                publishing,
                requests,
                one,
                all,
                idle,
                ended,
                called,
                server.connections());
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static Map<String, Traffic> traffic(EmbeddedApiServer server, Work work)
            throws IOException, InterruptedException {
        Map<String, Traffic> before = server.traffic();
        work.run();
        Map<String, Traffic> difference = new TreeMap<>(server.traffic());
        difference.replaceAll((kind, all) -> all.and(before.getOrDefault(kind, Traffic.NONE), -1));
        return difference;
    }

    private static void endWatches(HostJvm host, EmbeddedApiServer server) throws InterruptedException {
        int open = server.openWatches();
        long begin = System.nanoTime();
        server.endWatches();
        while (server.openWatches() < open) {
            if (Timing.since(begin).compareTo(AGAIN) > 0) {
                throw new DriverUnusable("%d watches ended, and %d s later there are %d"
                        .formatted(open, AGAIN.toSeconds(), server.openWatches()));
            }
            host.rest(LOOK);
        }
    }

    private static void call(EmbeddedApiServer server, FakeKubelet kubelet) throws IOException {
        for (PluginInfo driver : kubelet.plugins(NodesMain.DRIVER)) {
            Path socket = driver.endpoint(); // node/plugins/driver/socket
            String node = socket.getName(socket.getNameCount() - 4).toString();
            List<KubeletClaim> claim = List.of(allocated(server, node));
            succeeds(kubelet.prepare(driver, claim));
            succeeds(kubelet.unprepare(driver, claim));
        }
    }

    private static void succeeds(CallResult result) {
        Violation.ifPresent(result.complaint(), "a call of a hosted driver failed: %s");
    }

    private static KubeletClaim allocated(EmbeddedApiServer server, String node) throws IOException {
        JsonNode claim = server.store().put(new ObjectMapper().readTree(CLAIM.formatted(node, NodesMain.DRIVER, node)));
        return new KubeletClaim("default", node, claim.at("/metadata/uid").asText());
    }

    private Idle idle(HostJvm host, EmbeddedApiServer server) throws IOException, InterruptedException {
        Duration cpu = host.cpu();
        long begin = System.nanoTime();
        Map<String, Traffic> traffic = traffic(server, () -> host.rest(plan.idle()));
        return new Idle(traffic, host.cpu().minus(cpu), Timing.since(begin));
    }

    /** Describes what is missing from the slices of all nodes, or wrong with them; empty if nothing is. */
    private String incomplete(List<JsonNode> slices) {
        SeenPools pools = new SeenPools(slices);
        int devices = pools.devices().size();
        int wanted = plan.nodes() * plan.devices();
        return pools.fault()
                .orElse(
                        devices == wanted && pools.byPool().size() == plan.nodes()
                                ? ""
                                : "there are %d of %d devices in %d of %d pools"
                                        .formatted(
                                                devices, wanted, pools.byPool().size(), plan.nodes()));
    }

    /** The process of {@link NodesMain}; for one thread. */
    private static final class HostJvm {

        private final Process process;
        private final BufferedWriter told;
        private final BufferedReader answers;
        private final Path log;

        private HostJvm(Process process, Path log) {
            this.log = log;
            this.process = process;
            told = process.outputWriter();
            answers = process.inputReader();
        }

        /** Starts it; it logs to this file. */
        static HostJvm start(List<String> command, Path log) {
            try {
                return new HostJvm(
                        new ProcessBuilder(command).redirectError(log.toFile()).start(), log);
            } catch (IOException e) {
                throw new DriverUnusable("Can't run the JVM of the drivers: " + e.getMessage());
            }
        }

        /** Starts drivers up to this number; returns when all have published, or throws DriverUnusable. */
        void start(int drivers) throws IOException {
            String answer = ask("start " + drivers);
            if (!answer.equals(NodesMain.STARTED)) {
                throw new DriverUnusable(answer);
            }
        }

        /** Its memory now, after a collection. */
        Host host() throws IOException {
            long heap = Long.parseLong(ask("heap"));
            Footprint footprint = Footprint.of(process.toHandle())
                    .orElseThrow(() -> new DriverUnusable("the memory of a process cannot be read; that needs Linux"));
            return new Host(footprint, heap);
        }

        /** The processor time that it has used since its start. */
        Duration cpu() {
            return process.info().totalCpuDuration().orElse(Duration.ZERO);
        }

        /** Waits while it runs; DriverUnusable if it ends. */
        void rest(Duration time) throws InterruptedException {
            if (process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
                throw ended(null);
            }
        }

        private String ask(String line) throws IOException {
            String answer;
            try {
                told.write(line);
                told.newLine();
                told.flush();
                answer = answers.readLine();
            } catch (IOException e) {
                throw ended(e);
            }
            if (answer == null) {
                throw ended(null);
            }
            return answer;
        }

        private DriverUnusable ended(@Nullable IOException cause) {
            DriverUnusable ended = new DriverUnusable("The JVM of the drivers ended; its last line: " + lastLine());
            ended.initCause(cause);
            return ended;
        }

        private String lastLine() {
            try {
                List<String> lines = Files.readAllLines(log);
                return lines.isEmpty() ? "none" : lines.get(lines.size() - 1);
            } catch (IOException e) {
                return "unknown (" + e + ")";
            }
        }

        /** Kills it, and with it the drivers, so that their directories can be removed. */
        void close() {
            process.destroyForcibly();
            try {
                process.waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
