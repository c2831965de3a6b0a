// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.simulation.api.Fate;
import io.dra4j.simulation.api.SimulatedApiServer;
import io.dra4j.simulation.api.SimulatedHttpClient;
import io.dra4j.simulation.disk.DiskOperation;
import io.dra4j.simulation.disk.Owner.Outcome;
import io.dra4j.simulation.node.SimulatedNode.Around;
import io.dra4j.simulation.node.SimulatedNode.Instance;
import io.dra4j.simulation.rewrite.RewritingLoader;
import io.dra4j.simulation.run.SimulationTest;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.schedule.Trace;
import io.dra4j.simulation.world.Administrator;
import io.dra4j.simulation.world.ClaimScheduler;
import io.dra4j.simulation.world.ClaimScheduler.Wish;
import io.dra4j.simulation.world.Hardware;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.simulation.world.ModelProvider;
import io.dra4j.simulation.world.Pod;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** Kills leave on the simulated disk what they leave on a real one: {@code CrashIT} of sdk-runtime has the same table. */
class RealKillsTest {

    private static final Site SITE = new Site("gpu.example.com", "node-1");
    private static final FeatureGates GATES = new FeatureGates(KubernetesVersion.V1_36, Map.of());
    private static final RewritingLoader LOADER = RewritingLoader.ofRuntime();
    private static final Map<DiskOperation.Kind, String> CALLS = Map.of(
            DiskOperation.Kind.CREATE, "create",
            DiskOperation.Kind.WRITE, "write",
            DiskOperation.Kind.SYNC, "fdatasync",
            DiskOperation.Kind.RENAME, "rename",
            DiskOperation.Kind.DELETE, "unlink");

    /** Each kill would be logged. */
    @BeforeAll
    static void silence() {
        SimulationTest.silence();
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvFileSource(
            files = "../../sdk-runtime/src/test/resources/io/dra4j/runtime/process/kills.csv",
            numLinesToSkip = 1)
    void leavesTheSame(String call, int step, String name, int nth, String record, int specs, int temporary)
            throws Throwable {
        Simulation.run(step, new Trace(40), () -> {
            Cluster cluster = new Cluster();
            if (call.equals("unprepare")) {
                cluster.call(true, "none", 1);
            }
            cluster.call(call.equals("prepare"), name, nth);

            assertThat(cluster.node.running()).as("%s", cluster.steps).isEmpty();
            cluster.start();
            assertThat(cluster.left()).isEqualTo("%s,%d,%d".formatted(record, specs, temporary));
        });
    }

    /** A driver that changes only its own files, and a claim for it. */
    private static final class Cluster {

        private final Hardware hardware = new Hardware(SITE.driver(), SITE.node());
        private final SimulatedApiServer server =
                new SimulatedApiServer(call -> Fate.PROCEED, settings -> settings.like(GATES));
        private final SimulatedNode node = new SimulatedNode(
                SITE.node(),
                SITE.driver(),
                LOADER,
                new Around(
                        () -> new ModelProvider(hardware, ModelProvider.Wrong.NOTHING),
                        () -> new SimulatedHttpClient(server, Simulation.process()),
                        this::before,
                        new Kubelet(),
                        false));
        private final List<String> steps = new ArrayList<>(); // since the call began
        private final ClaimRef claim;
        private String killedAt = "none";
        private int stepsToKill;

        Cluster() {
            new Administrator(SITE, server.objects(), node::path).createNode();
            List<Pod> placed = new ArrayList<>();
            ClaimScheduler scheduler = new ClaimScheduler(SITE, server.objects(), GATES, placed::add);
            scheduler.start();
            claim = scheduler.create(List.of(Wish.PLAIN)).claims().get(0);
            start();
            Simulation.await(() -> !placed.isEmpty());
        }

        /** Starts the driver, and waits until its start is complete. */
        void start() {
            node.start();
            Simulation.await(() -> false, Duration.ofSeconds(20).toNanos());
            assertThat(node.running()).hasSize(1);
        }

        void call(boolean isPrepare, String step, int nth) {
            steps.clear();
            killedAt = step;
            stepsToKill = nth;
            Instance driver = node.running().get(0);
            Instant deadline = Simulation.now().plusSeconds(45);
            if (isPrepare) {
                driver.prepare(List.of(claim), deadline, () -> false);
            } else {
                driver.unprepare(List.of(claim.uid()), deadline);
            }
        }

        private Outcome before(Process process, DiskOperation operation) {
            String step = step(operation);
            steps.add(step);
            if (step.equals(killedAt) && --stepsToKill == 0) {
                ((Instance) process.host()).kill();
            }
            return Outcome.ALL;
        }

        /** Returns an operation by the names that CrashIT has for those on a real disk. */
        private String step(DiskOperation operation) {
            String path = operation.target().isEmpty() ? operation.path() : operation.target();
            return CALLS.getOrDefault(operation.kind(), "look at") + " "
                    + path.replaceAll(".*/|[.]new$", "")
                            .replace(claim.uid(), "UID")
                            .replaceAll("[.]\\w+[.]tmp$", ".RANDOM.tmp");
        }

        String left() {
            String phase =
                    Journal.read(node.path("/var/lib/kubelet/plugins/gpu.example.com/claims.journal"), "any")
                            .claims()
                            .stream()
                            .map(record -> record.phase().name())
                            .findFirst()
                            .orElse("none");
            try (Stream<Path> specs = Files.list(node.path("/var/run/cdi"))) {
                List<String> names = specs.map(Path::toString)
                        .filter(name -> name.contains(claim.uid()))
                        .toList();
                long temporary =
                        names.stream().filter(name -> name.endsWith(".tmp")).count();
                return "%s,%d,%d".formatted(phase, names.size() - temporary, temporary);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static final class Kubelet implements SimulatedNode.Registry {

        @Override
        public Plugin published(Plugin plugin, Process process) {
            return plugin;
        }

        @Override
        public void withdrawn(Plugin known) {}
    }
}
