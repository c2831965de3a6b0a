// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.TestDriver.NAME;
import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two processes of a driver side by side, as a rolling update has them for a while; what they write
 * to the API server is in {@link PublisherLockIT}.
 */
@Tag("gate")
class UpgradeIT {

    /** Pod UIDs as Kubernetes makes them, which the names of registration sockets have in them. */
    private static final String OLD_UID = "0a7c1f5e-3f1b-4c52-9d0a-5d1c6f1b2a01";

    private static final String NEW_UID = "0a7c1f5e-3f1b-4c52-9d0a-5d1c6f1b2a02";

    private TestNode node;
    private Instance old;
    private Instance anew;

    @BeforeEach
    void start() throws Exception {
        node = TestDriver.node();
        old = launch(OLD_UID);
        node.api().store().awaitObject("resourceslices", found -> true, TIMEOUT);
        anew = launch(NEW_UID);
    }

    @AfterEach
    void stop() {
        node.close();
    }

    private Instance launch(String podUid) throws Exception {
        long before = registrations();
        Instance process = node.start("--pod-uid=" + podUid);
        assertThat(node.kubelet().awaitEvents(e -> registrations() > before, TIMEOUT))
                .as(node::logTail)
                .isTrue();
        return process;
    }

    private long registrations() {
        return node.kubelet().events().stream()
                .filter(e -> e.kind() == Kind.REGISTERED)
                .count();
    }

    private List<PluginInfo> instances() {
        List<PluginInfo> instances = node.kubelet().plugins(NAME);
        assertThat(instances).hasSize(2);
        return instances;
    }

    private ClaimResult prepare(PluginInfo instance, KubeletClaim claim) {
        CallResult result = node.kubelet().prepare(instance, List.of(claim));
        assertThat(result.complaint()).as(node::logTail).isEmpty();
        return result.results().get(claim.uid());
    }

    private static <T> CompletableFuture<T> async(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, task -> new Thread(task).start());
    }

    private void unprepare(PluginInfo instance, KubeletClaim claim) {
        assertThat(node.kubelet().unprepare(instance, List.of(claim)).complaint())
                .isEmpty();
    }

    private List<String> sockets() throws Exception {
        Path data = node.place().plugins().resolve(NAME);
        try (Stream<Path> files = Stream.concat(Files.list(node.place().registry()), Files.list(data))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".sock"))
                    .sorted()
                    .toList();
        }
    }

    private static void terminate(Instance process) {
        process.terminate();
        assertThat(process.awaitExit(TIMEOUT)).hasValue(0);
    }

    /** With the same two instances, because each takes seconds to start. */
    @Test
    void twoInstancesWorkSideBySideUntilTheOldOneEnds() throws Exception {
        theyWorkOnTheClaimsOfEachOther();
        anInstanceThatCannotStartDisturbsNeither();
        theOldOneEndsWithoutATraceAndTheNewOneGoesOn();
    }

    private void theyWorkOnTheClaimsOfEachOther() throws Exception {
        PluginInfo first = instances().get(0);
        PluginInfo second = instances().get(1);
        assertThat(first.endpoint()).isNotEqualTo(second.endpoint());
        assertThat(sockets()).hasSize(4);

        KubeletClaim claim = node.allocate("claim", "gpu-0");
        ClaimResult answer = prepare(first, claim);
        assertThat(prepare(second, claim).wire()).isEqualTo(answer.wire());
        KubeletClaim thief = node.allocate("thief", "gpu-0");
        for (PluginInfo instance : instances()) {
            assertThat(node.kubelet().prepare(instance, List.of(thief)).complaint())
                    .as("a device has one claim, whichever process is asked")
                    .isPresent();
        }
        unprepare(second, claim);
        assertThat(node.specs()).isEmpty();
        unprepare(first, claim);
        prepare(first, thief);
        unprepare(second, thief);

        KubeletClaim wanted = node.allocate("wanted", "gpu-1");
        List<CompletableFuture<ClaimResult>> calls = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            PluginInfo instance = i % 2 == 0 ? first : second;
            calls.add(async(() -> prepare(instance, wanted)));
        }
        assertThat(calls.stream().map(call -> call.join().wire()).distinct()).hasSize(1);
        assertThat(node.specs()).hasSize(1);
        raceForOneDevice(first, second);
        unprepare(first, wanted);
        assertThat(node.specs()).isEmpty();
    }

    /** Two claims that want one device, each asked of another process: one of them gets it. */
    private void raceForOneDevice(PluginInfo first, PluginInfo second) throws Exception {
        for (int i = 0; i < 20; i++) {
            KubeletClaim left = node.allocate("left-" + i, "gpu-2");
            KubeletClaim right = node.allocate("right-" + i, "gpu-2");
            CompletableFuture<CallResult> one = async(() -> node.kubelet().prepare(first, List.of(left)));
            CompletableFuture<CallResult> two = async(() -> node.kubelet().prepare(second, List.of(right)));
            assertThat(Stream.of(one.join(), two.join())
                            .filter(r -> r.complaint().isEmpty()))
                    .as("round %d", i)
                    .hasSize(1);
            unprepare(second, left);
            unprepare(first, right);
        }
    }

    private void anInstanceThatCannotStartDisturbsNeither() throws Exception {
        List<PluginInfo> before = instances();
        List<String> sockets = sockets();
        KubeletClaim claim = node.allocate("undisturbed", "gpu-0");
        ClaimResult answer = prepare(before.get(0), claim);

        Instance bad = node.start("--pod-uid=bad", "--hardware=/nowhere");
        Instance worse = node.start("--pod-uid=worse", "--proc-root=/nowhere");

        assertThat(bad.awaitExit(TIMEOUT)).hasValue(1);
        assertThat(worse.awaitExit(TIMEOUT)).hasValue(1);
        assertThat(instances()).isEqualTo(before);
        assertThat(sockets()).isEqualTo(sockets);
        assertThat(prepare(before.get(0), claim).wire()).isEqualTo(answer.wire());
        unprepare(before.get(1), claim);
    }

    private void theOldOneEndsWithoutATraceAndTheNewOneGoesOn() throws Exception {
        KubeletClaim claim = node.allocate("last", "gpu-0");
        ClaimResult answer = prepare(instances().get(0), claim);
        PluginInfo second = instances().get(1);

        terminate(old);

        assertThat(sockets()).hasSize(2).allMatch(name -> name.contains(NEW_UID));
        assertThat(prepare(second, claim).wire()).isEqualTo(answer.wire());
        unprepare(second, claim);
    }

    @Test
    void afterAKillOfTheOldInstanceTheNewOneServes() throws Exception {
        PluginInfo second = instances().get(1);
        KubeletClaim claim = node.allocate("claim", "gpu-0");
        prepare(instances().get(0), claim);

        old.kill();

        unprepare(second, claim);
        assertThat(node.specs()).isEmpty();
        assertThat(sockets()).filteredOn(name -> name.contains(NEW_UID)).hasSize(2);
        terminate(anew);
        assertThat(sockets()).noneMatch(name -> name.contains(NEW_UID));
    }
}
