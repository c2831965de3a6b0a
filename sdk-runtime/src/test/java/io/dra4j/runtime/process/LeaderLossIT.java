// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A controller of two replicas whose leader is lost again and again while the inventory changes: killed, stopped, paused
 * or cut off.
 *
 * <p>Each time the slices equal the inventory within half a minute, in one generation of each pool, and a leader that wakes
 * up writes nothing.
 */
@Tag("gate")
@Tag("counts")
class LeaderLossIT {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final List<String> LOSSES = List.of("KILL", "TERM", "STOP", "cut");
    private static final int ROUNDS = Boolean.getBoolean("dra4j.nightly") ? 50 : LOSSES.size();

    @TempDir
    private Path folder;

    @AutoClose
    private final EmbeddedApiServer api = EmbeddedApiServer.builder().start();

    private final Random random = new Random(ROUNDS);
    private final Map<String, Integer> inventory = new TreeMap<>(Map.of("fabric", 100, "switch", 3));
    private final List<Replica> replicas = new ArrayList<>();

    @AutoClose
    private AutoCloseable programs = () -> replicas.forEach(Replica::end);

    /** A replica, its way to the API server, and how often it was started. */
    private final class Replica {
        private final String name;
        private final ApiProxy proxy = ApiProxy.before(api.url());
        private Process process;

        Replica(String name) throws Exception {
            this.name = name;
            start();
        }

        private void start() throws Exception {
            Path kubeconfig = proxy.writeKubeconfig(folder.resolve(name + ".kubeconfig"));
            ProcessBuilder builder = new ProcessBuilder(Stream.concat(
                            TestDriver.command().stream(),
                            Stream.of(
                                    "controller",
                                    "--kubeconfig=" + kubeconfig,
                                    "--pools=" + folder.resolve("pools"),
                                    "--leader-election-namespace=default",
                                    "--leader-election-lease-duration=4s",
                                    "--leader-election-renew-deadline=2.5s",
                                    "--leader-election-retry-period=0.5s"))
                    .toList());
            builder.environment().put("HOSTNAME", name);
            Path log = folder.resolve(name + ".log");
            process = builder.redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
        }

        private void signal(String signal) throws Exception {
            assertThat(new ProcessBuilder("kill", "-" + signal, "" + process.pid())
                            .start()
                            .waitFor())
                    .isZero();
        }

        private void lose(String how) throws Exception {
            if (how.equals("cut")) {
                proxy.down();
            } else {
                signal(how);
            }
        }

        private void comeBack(String how) throws Exception {
            switch (how) {
                case "STOP" -> {
                    int last = proxy.lastNumber();
                    signal("CONT");
                    proxy.await(TIMEOUT, Requests.to("leases").and(Requests.after(last)));
                    assertThat(proxy.requests(Requests.writes("resourceslices").and(Requests.after(last))))
                            .as("what a leader writes that was paused")
                            .isEmpty();
                }
                case "cut" -> proxy.up();
                default -> {
                    assertThat(process.waitFor()).isEqualTo(how.equals("TERM") ? 0 : 137);
                    start();
                }
            }
        }

        private void end() {
            process.destroyForcibly();
            proxy.close();
        }
    }

    private void publish() throws IOException {
        Path next = folder.resolve("next");
        Files.write(
                next,
                inventory.entrySet().stream()
                        .map(pool -> pool.getKey() + " " + pool.getValue())
                        .toList());
        Files.move(next, folder.resolve("pools"), StandardCopyOption.ATOMIC_MOVE);
    }

    private void change() throws IOException {
        String pool = List.of("fabric", "switch", "store").get(random.nextInt(3));
        if (random.nextInt(5) == 0 && inventory.size() > 1) {
            inventory.remove(pool);
        } else {
            inventory.put(pool, random.nextInt(200));
        }
        publish();
    }

    /** Returns whether each pool of the inventory has one generation that is complete, with its devices. */
    private boolean isPublished(List<JsonNode> slices) {
        Map<String, List<JsonNode>> pools = slices.stream()
                .map(slice -> slice.path("spec"))
                .collect(Collectors.groupingBy(spec -> spec.at("/pool/name").asText()));
        return pools.keySet().equals(inventory.keySet())
                && pools.entrySet().stream()
                        .allMatch(pool -> isComplete(pool.getValue(), inventory.get(pool.getKey())));
    }

    private static boolean isComplete(List<JsonNode> specs, int devices) {
        List<String> names = specs.stream()
                .flatMap(spec -> spec.path("devices").findValuesAsText("name").stream())
                .filter(name -> name.startsWith("gpu-"))
                .toList();
        long generations = specs.stream()
                .map(spec -> spec.at("/pool/generation").asLong())
                .distinct()
                .count();
        return generations == 1
                && specs.stream()
                        .allMatch(spec -> spec.at("/pool/resourceSliceCount").asInt() == specs.size())
                && names.size() == devices
                && new HashSet<>(names).size() == devices;
    }

    private Replica leader() {
        JsonNode lease =
                api.store().awaitObject("leases", one -> replicas.stream().anyMatch(r -> isHeldBy(one, r)), TIMEOUT);
        return replicas.stream().filter(r -> isHeldBy(lease, r)).findFirst().orElseThrow();
    }

    private static boolean isHeldBy(JsonNode lease, Replica replica) {
        return lease.at("/spec/holderIdentity").asText().startsWith(replica.name + "_");
    }

    @BeforeEach
    void start() throws Exception {
        api.store().put(JsonTrees.parse("""
                {"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":"default",
                 "name":"gpu.example.com-controller","labels":{"team":"fabric"}},"spec":{}}"""));
        publish();
        replicas.add(new Replica("one"));
        replicas.add(new Replica("two"));
        api.store().await("resourceslices", this::isPublished, TIMEOUT);
    }

    @Test
    void slicesEqualTheInventoryAndNoPoolIsDoubled() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            String how = LOSSES.get(round % LOSSES.size());
            Replica leader = leader();
            long started = System.nanoTime();
            if (random.nextBoolean()) {
                change();
            }
            leader.lose(how);
            change();
            try {
                api.store().await("resourceslices", this::isPublished, SOON);
            } finally {
                System.out.printf(
                        "round %d: %s of %s, the inventory is there after %d ms%n",
                        round, how, leader.name, (System.nanoTime() - started) / 1_000_000);
            }
            change();
            leader.comeBack(how);
            api.store().await("resourceslices", this::isPublished, SOON);
        }
        assertThat(api.store().list("resourceslices")).allSatisfy(slice -> {
            assertThat(slice.at("/metadata/ownerReferences")).isEmpty();
            assertThat(slice.at("/spec/nodeName").isMissingNode()).isTrue();
        });
        assertThat(api.store().list("resourceslices").toString())
                .contains("\"example.com/bad\"", "\"consumesCounters\"");
        assertThat(api.store().list("leases"))
                .singleElement()
                .as("what others wrote on the Lease")
                .satisfies(lease ->
                        assertThat(lease.at("/metadata/labels/team").asText()).isEqualTo("fabric"));
    }
}
