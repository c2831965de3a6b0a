// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.testkit.TestNode.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random prepares and unprepares, asked of two processes of a driver at the same time, of which one
 * may be killed meanwhile: no slot of {@link TestDriverMain} is given twice.
 */
@Tag("gate")
@Tag("counts")
class TwoInstancesIT {

    /** Of each of the two kinds. */
    private static final int SCHEDULES = Boolean.getBoolean("dra4j.nightly") ? 25 : 5;

    private static final long SEED = Long.getLong("dra4j.seed", 1);
    private static final int STEPS = 4;
    private static final Pattern SLOT = Pattern.compile("SLOT=\\d");

    private final Random random = new Random(SEED);
    private final List<Running> instances = new ArrayList<>();
    private final Map<Integer, KubeletClaim> claims = new HashMap<>(); // by their device
    private String kind;
    private TestNode node;
    private int created;
    private int cutOff;
    private int killed;

    /** An instance that is registered. */
    private record Running(String uid, Instance process, PluginInfo plugin) {}

    /** A call of one claim, and what has to be true of its device when it was answered. */
    private record Call(
            int device, KubeletClaim claim, boolean isPrepare, Running of, CompletableFuture<CallResult> end) {}

    @ParameterizedTest
    @ValueSource(strings = {"--serialized", "--serialized=false"})
    void giveNoSlotTwice(String how) throws Exception {
        kind = how;
        long start = System.nanoTime();
        try (TestNode opened = TestDriver.node()) {
            node = opened;
            launch("one");
            launch("two");
            Instance twin = node.start("--slots", kind, "--pod-uid=two");
            assertThat(twin.awaitExit(TIMEOUT))
                    .as("one whose sockets are taken")
                    .hasValue(1);
            assertThat(node.log()).contains("is already running, with the pod's UID two");
            for (int schedule = 1; schedule <= SCHEDULES; schedule++) {
                run(random.nextInt(3) == 0, "%s, seed %d, schedule %d".formatted(kind, SEED, schedule));
            }
        }
        System.out.printf(
                "two instances, %s, seed %d: %d schedules, %d claims, %d kills, %d calls cut off, %d s%n",
                kind, SEED, SCHEDULES, created, killed, cutOff, (System.nanoTime() - start) / 1_000_000_000);
    }

    private void launch(String uid) throws Exception {
        long before = registrations();
        Instance process = node.start("--slots", kind, "--pod-uid=" + uid);
        assertThat(node.kubelet().awaitEvents(events -> registrations() > before, TIMEOUT))
                .as(node::logTail)
                .isTrue();
        PluginInfo plugin = node.kubelet().plugins(TestDriver.NAME).stream()
                .filter(one -> one.endpoint().endsWith("dra-" + uid + ".sock"))
                .findFirst()
                .orElseThrow();
        instances.add(new Running(uid, process, plugin));
    }

    private long registrations() {
        return node.kubelet().events(Kind.REGISTERED, 0).size();
    }

    private void run(boolean kills, String schedule) throws Exception {
        for (int step = 0; step < STEPS; step++) {
            boolean killsNow = kills && step == STEPS / 2;
            List<Call> calls = calls();
            int ended = random.nextInt(calls.size() + 1);
            Running victim = instances.get(random.nextInt(2));
            if (killsNow) {
                while (calls.stream().filter(call -> call.end.isDone()).count() < ended) {
                    Thread.onSpinWait();
                }
                victim.process.kill();
                killed++;
            }
            for (Call call : calls) {
                settle(call, killsNow ? victim : null, schedule);
            }
            assertThat(slots()).as(schedule).doesNotHaveDuplicates();
            if (killsNow) {
                instances.remove(victim);
                launch(random.nextBoolean() ? victim.uid : UUID.randomUUID().toString()); // a container, or a pod
            }
        }
    }

    /** Asks either instance for some claims, each of another device. */
    private List<Call> calls() throws IOException {
        List<Call> calls = new ArrayList<>();
        for (int device = 0; device < TestDriverMain.DEVICES; device++) {
            if (random.nextBoolean()) {
                calls.add(call(device, instances.get(random.nextInt(2))));
            }
        }
        return calls;
    }

    private Call call(int device, Running of) throws IOException {
        boolean isPrepare = !claims.containsKey(device) || random.nextInt(4) == 0;
        if (!claims.containsKey(device)) {
            claims.put(device, node.allocate("claim-" + ++created, "gpu-" + device));
        }
        List<KubeletClaim> claim = List.of(claims.get(device));
        CompletableFuture<CallResult> end = CompletableFuture.supplyAsync(
                () -> isPrepare
                        ? node.kubelet().prepare(of.plugin, claim)
                        : node.kubelet().unprepare(of.plugin, claim),
                task -> new Thread(task).start());
        return new Call(device, claim.get(0), isPrepare, of, end);
    }

    /** A call that a kill cut off may have been done, or not; the claim keeps its device. */
    private void settle(Call call, Running victim, String schedule) {
        CallResult result = call.end.join();
        if (call.of.equals(victim) && !result.status().equals(CallResult.OK)) {
            cutOff++;
            return;
        }
        assertThat(result.complaint())
                .as(() -> schedule + "\n" + node.logTail())
                .isEmpty();
        if (!call.isPrepare) {
            claims.remove(call.device);
            node.delete(call.claim);
        }
    }

    /** The slots of the claims that have a spec; runtimes pass over files that a kill left half written. */
    private List<String> slots() throws IOException {
        List<String> slots = new ArrayList<>();
        for (String spec : node.specs()) {
            Matcher slot = SLOT.matcher(Files.readString(node.place().cdi().resolve(spec)));
            if (spec.endsWith(".json")) {
                slots.add(slot.find() ? slot.group() : spec);
            }
        }
        return slots;
    }
}
