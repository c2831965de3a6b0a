// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.schedule.Trace;
import io.dra4j.simulation.world.ClaimScheduler.Wish;
import io.dra4j.simulation.world.Invariants.Site;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The surroundings of a driver, and a minimal stand-in for it. */
abstract class WorldFixture {

    static final Site SITE = new Site("sim.example.com", "node-1");

    final EmbeddedApiServer server =
            EmbeddedApiServer.builder().version(KubernetesVersion.V1_34).start();
    final ClusterObjects api = server.store();
    final Hardware hardware = new Hardware(SITE.driver(), SITE.node());
    Invariants invariants;
    StandIn driver;
    ClaimScheduler scheduler;
    Kubelet kubelet;
    Administrator admin;

    @TempDir
    Path root;

    @BeforeEach
    void make() throws IOException {
        invariants = new Invariants(SITE, api, server.featureGates(), this::path, hardware);
        driver =
                new StandIn(SITE, api, invariants.files(), path("/var/lib/kubelet/plugins/" + SITE.driver()), hardware);
        scheduler = new ClaimScheduler(SITE, api, server.featureGates(), pod -> kubelet.run(pod));
        kubelet = new Kubelet(SITE, api, invariants, scheduler::release);
        admin = new Administrator(SITE, api, this::path);
        boot("any");
    }

    void boot(String id) {
        write(path("/proc/sys/kernel/random/boot_id"), id);
    }

    @AfterEach
    void close() {
        driver.close();
        server.close();
    }

    Path path(String absolute) {
        return root.resolve(absolute.substring(1));
    }

    void run(Runnable history) throws Throwable {
        Simulation.run(1, new Trace(0), () -> {
            admin.createNode();
            scheduler.start();
            kubelet.start();
            sleep(1); // it deletes the existing slices
            publish();
            history.run();
        });
    }

    Process publish() {
        Process process = Simulation.newProcess("driver", this);
        Simulation.start(process, "main", () -> {
            driver.publishSlice();
            kubelet.publish(driver);
        });
        sleep(1);
        return process;
    }

    static void sleep(int seconds) {
        Simulation.await(() -> false, Duration.ofSeconds(seconds).toNanos());
    }

    Pod running(Wish... wishes) {
        Pod pod = scheduler.create(List.of(wishes));
        sleep(3);
        assertThat(pod.phase()).as("%s", pod).isEqualTo(Pod.Phase.RUNNING);
        return pod;
    }

    JsonNode claim(Pod pod) {
        ClaimRef ref = pod.claims().get(0);
        return api.find("resourceclaims", ref.namespace(), ref.name()).orElseThrow();
    }

    /** Ends a pod whose unprepare leaves something behind. */
    void end(Consumer<String> leaves) {
        Pod pod = running(Wish.MODE);
        scheduler.end(pod);
        sleep(20);
        leaves.accept(uid(pod));
        invariants.unprepared(uid(pod), Simulation.process());
    }

    void quiet() {
        invariants.quiet(scheduler.pods());
    }

    void clear(String claim) {
        try {
            for (Hardware.Setting setting : hardware.of(claim)) {
                hardware.clear(setting);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void write(Path file) {
        write(file, "any");
    }

    static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String uid(Pod pod) {
        return pod.claims().get(0).uid();
    }
}
