// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.NodeState.Instance;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A kubelet that prepares and unprepares claims of overlapping parts of GPUs at random, and
 * hardware that kills the driver, or fails, at some step.
 *
 * <p>A claim whose call was cut off may be prepared or not: what it was allocated stays its own
 * until a later call about it is answered, as a scheduler has it. A {@link MigMeddler} changes the
 * same hardware: what it created stays, whatever claims are unprepared.
 */
final class MigWalk {

    private static final Pattern PART = Pattern.compile("gpu-(\\d+)-mig-.+-(\\d+)-(\\d+)");
    private static final Pattern WHOLE = Pattern.compile("gpu-(\\d+)");
    private static final Duration DEATH = Duration.ofSeconds(30);
    private static final int STEPS_OF_A_CALL = 12;
    private static final long LOOK_NANOS = 20_000_000;

    private final TestContext context;
    private final NodeState hardware;
    private final Random random;
    private final List<PublishedDevice> devices;
    private final Map<String, Long> most = new HashMap<>(); // by counter set and counter
    private final Map<String, Held> claims = new LinkedHashMap<>(); // by UID
    private int prepares;
    private int unprepares;
    private int kills;
    private int failures;
    private int refusals;
    private final MigMeddler meddler;

    /** A claim that may have parts; for sure if there are UUIDs. */
    private static final class Held {
        private final KubeletClaim claim;
        private final List<PublishedDevice> devices;
        private Map<String, String> uuids; // of its parts, by device; null: a call was cut off
        private boolean isLost; // somebody destroyed a part of it

        Held(KubeletClaim claim, List<PublishedDevice> devices) {
            this.claim = claim;
            this.devices = devices;
        }
    }

    MigWalk(TestContext context, StandInNode node, long seed) {
        this.context = context;
        this.hardware = node.state();
        this.meddler = new MigMeddler(node, seed);
        this.random = new Random(seed);
        this.devices = context.devices().all();
        for (JsonNode slice : context.devices().slices()) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                amounts(set).forEach((counter, amount) -> most.put(key(set, counter), amount));
            }
        }
    }

    private static String key(JsonNode set, String counter) {
        return (set.has("name") ? set.get("name") : set.get("counterSet")).asText() + "/" + counter;
    }

    private static Map<String, Long> amounts(JsonNode set) {
        Map<String, Long> amounts = new HashMap<>();
        set.get("counters")
                .properties()
                .forEach(
                        counter ->
                                amounts.put(
                                        counter.getKey(),
                                        amount(counter.getValue().get("value").asText())));
        return amounts;
    }

    private static long amount(String quantity) {
        return Long.parseLong(quantity.replaceFirst("[GM]i$", ""))
                * (quantity.endsWith("Gi") ? 1024 : 1);
    }

    /** So many calls, and the end: then nothing may be left. */
    String walk(int calls) {
        while (prepares + unprepares < calls) {
            injectFault();
            if (random.nextInt(9) < 5) {
                prepare();
            } else {
                unprepare();
            }
            meddle();
            awake();
            assertAgreed();
        }
        end();
        return "%d prepares and %d unprepares, %d kills, %d failing steps, %d claims refused; %s"
                .formatted(prepares, unprepares, kills, failures, refusals, meddler);
    }

    /** Somebody else changes the hardware, now and then, while the driver runs or is dead. */
    private void meddle() {
        hardware.killAt(0);
        hardware.failAt(0);
        if (random.nextInt(3) == 0) {
            boolean isAlive = context.driver().isAlive();
            List<Instance> ours =
                    claims.values().stream()
                            .filter(held -> held.uuids != null && !held.isLost)
                            .flatMap(held -> instances(held).stream())
                            .toList();
            Set<String> known = knownAsDestroyed();
            boolean isNoticed = meddler.meddle(isAlive, ours);
            claims.values().forEach(this::lose);
            if (isNoticed) {
                awaitNotice(known);
            }
        }
    }

    /** Waits until the driver remembers a destroyed instance: then a kill may come. */
    private void awaitNotice(Set<String> before) {
        Instant end = Instant.now().plus(DEATH);
        while (before.containsAll(knownAsDestroyed())) {
            assertThat(Instant.now()).as("an instance of a claim was destroyed").isBefore(end);
            LockSupport.parkNanos(LOOK_NANOS); // another process gives no event
        }
    }

    /** Returns the instances that the driver remembers as destroyed by somebody. */
    private Set<String> knownAsDestroyed() {
        Path file = context.place().plugins().resolve("gpu.nvidia.com/gpus.json");
        Set<String> known = new HashSet<>();
        try {
            new JsonMapper()
                    .readTree(file.toFile())
                    .path("ended")
                    .forEach(key -> known.add(key.asText()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return known;
    }

    /** Marks a claim whose instance was destroyed, though something may be in its place. */
    private void lose(Held held) {
        held.isLost |= held.uuids != null && !uuids(held).equals(held.uuids);
    }

    /** Now and then something is about to happen. */
    private void injectFault() {
        hardware.killAt(0);
        hardware.failAt(0);
        int dice = random.nextInt(16);
        long step = 1 + random.nextInt(STEPS_OF_A_CALL);
        if (dice < 3) {
            hardware.killAt(step);
        } else if (dice < 5) {
            hardware.failAt(step);
        }
    }

    /** After a kill, the driver comes back. */
    private void awake() {
        if (!context.driver().isAlive()) {
            kills++;
            hardware.killAt(0);
            context.driver().restarted();
        }
    }

    private void prepare() {
        List<Held> wanted = new ArrayList<>();
        List<Held> again =
                claims.values().stream()
                        .filter(held -> !held.isLost && random.nextInt(8) == 0)
                        .toList();
        if (!again.isEmpty()) {
            wanted.add(again.get(0));
        }
        for (int i = random.nextInt(3); i >= 0; i--) {
            List<PublishedDevice> free = allocate(1 + random.nextInt(2));
            if (!free.isEmpty()) {
                KubeletClaim claim =
                        context.claims().allocate(free.toArray(new PublishedDevice[0]));
                Held held = new Held(claim, free);
                claims.put(claim.uid(), held);
                wanted.add(held);
            }
        }
        if (wanted.isEmpty()) {
            unprepare();
            return;
        }
        CallResult result = call(wanted, true);
        boolean failed = failed();
        for (Held held : wanted) {
            prepared(held, result.results().get(held.claim.uid()), failed);
        }
    }

    private CallResult call(List<Held> asked, boolean prepare) {
        KubeletClaim[] all = asked.stream().map(held -> held.claim).toArray(KubeletClaim[]::new);
        CallResult result = prepare ? context.calls().prepare(all) : context.calls().unprepare(all);
        prepares += prepare ? all.length : 0;
        unprepares += prepare ? 0 : all.length;
        if (!result.status().equals(CallResult.OK)) {
            assertThat(context.driver().current().awaitExit(DEATH))
                    .as("%s, though nothing killed the driver", result)
                    .isPresent();
        }
        return result;
    }

    /** Returns whether the step that fails has been reached. */
    private boolean failed() {
        boolean failed = hardware.hasFailed();
        if (failed) {
            failures++;
            hardware.failAt(0);
        }
        return failed;
    }

    private void prepared(Held held, ClaimResult answer, boolean failed) {
        if (answer == null) {
            return; // the call was cut off
        }
        if (!answer.error().isEmpty()) {
            assertThat(failed || meddler.isInTheWay(held.devices)).as(answer.error()).isTrue();
            refusals++;
            return; // the kubelet tries again, or unprepares
        }
        Map<String, String> uuids = uuids(held);
        assertThat(uuids).as("the parts of %s", held.devices).hasSize(parts(held).size());
        if (held.uuids != null) {
            assertThat(uuids).isEqualTo(held.uuids);
        }
        held.uuids = uuids;
    }

    private void unprepare() {
        List<Held> wanted =
                claims.values().stream().filter(held -> random.nextInt(4) == 0).limit(3).toList();
        if (wanted.isEmpty()) {
            return;
        }
        CallResult result = call(wanted, false);
        boolean failed = failed();
        for (Held held : wanted) {
            ClaimResult answer = result.results().get(held.claim.uid());
            if (answer == null || !answer.error().isEmpty()) {
                assertThat(answer == null || failed).as("%s", answer).isTrue();
                held.uuids = null;
            } else {
                assertThat(uuids(held)).as("what is left of %s", held.devices).isEmpty();
                claims.remove(held.claim.uid());
                context.claims().deleteObject(held.claim);
            }
        }
    }

    /** As the scheduler does: devices whose counters are left, of all that claims may have. */
    private List<PublishedDevice> allocate(int count) {
        Map<String, Long> left = new HashMap<>(most);
        claims.values().forEach(held -> held.devices.forEach(device -> take(device, left)));
        List<PublishedDevice> taken = new ArrayList<>();
        for (int i = 0; i < 40 && taken.size() < count; i++) {
            PublishedDevice device = devices.get(random.nextInt(devices.size()));
            if (!taken.contains(device) && fits(device, left)) {
                take(device, left);
                taken.add(device);
            }
        }
        return taken;
    }

    private static boolean fits(PublishedDevice device, Map<String, Long> left) {
        for (JsonNode set : device.json().get("consumesCounters")) {
            for (Map.Entry<String, Long> counter : amounts(set).entrySet()) {
                if (left.get(key(set, counter.getKey())) < counter.getValue()) {
                    return false;
                }
            }
        }
        return true;
    }

    private static void take(PublishedDevice device, Map<String, Long> left) {
        for (JsonNode set : device.json().get("consumesCounters")) {
            amounts(set).forEach((name, amount) -> left.merge(key(set, name), -amount, Long::sum));
        }
    }

    private static List<PublishedDevice> parts(Held held) {
        return held.devices.stream().filter(it -> PART.matcher(it.name()).matches()).toList();
    }

    private List<Instance> instances(Held held) {
        return meddler.others().stream()
                .filter(instance -> held.devices.stream().anyMatch(it -> is(it, instance)))
                .toList();
    }

    /** The MIG devices that are where the claim's parts should be, without those of others. */
    private Map<String, String> uuids(Held held) {
        Map<String, String> uuids = new HashMap<>();
        for (Instance instance : meddler.others()) {
            for (PublishedDevice device : held.devices) {
                if (is(device, instance)) {
                    assertThat(instance.uuids()).as("%s", instance).hasSizeLessThan(2);
                    instance.uuids().forEach(uuid -> uuids.put(device.name(), uuid));
                }
            }
        }
        return uuids;
    }

    static boolean is(PublishedDevice device, Instance instance) {
        Matcher part = PART.matcher(device.name());
        return part.matches()
                && Integer.parseInt(part.group(1)) == instance.gpu()
                && Integer.parseInt(part.group(2)) == instance.profileId()
                && Integer.parseInt(part.group(3)) == instance.start();
    }

    /** Reported MIG devices exist, and no others but those that a claim may have. */
    private void assertAgreed() {
        Set<Instance> owned = new HashSet<>();
        for (Held held : claims.values()) {
            if (held.uuids != null && !held.isLost) {
                assertThat(uuids(held)).as("the parts of %s", held.claim).isEqualTo(held.uuids);
                held.devices.forEach(this::assertMode);
            }
            owned.addAll(instances(held));
        }
        assertThat(meddler.others()).isSubsetOf(owned);
        meddler.assertUntouched();
    }

    private void assertMode(PublishedDevice device) {
        Matcher whole = WHOLE.matcher(device.name());
        if (whole.matches()) {
            assertThat(hardware.isMigEnabled(Integer.parseInt(whole.group(1)))).isFalse();
        }
    }

    /** The journal has what the walk has, and after the last unprepare there is nothing. */
    private void end() {
        hardware.killAt(0);
        hardware.failAt(0);
        context.driver().restartAfterKill();
        assertAgreed();
        for (Held held : List.copyOf(claims.values())) {
            context.calls().unprepared(held.claim);
        }
        assertThat(meddler.others()).isEmpty();
        meddler.assertUntouched();
        meddler.leave();
        context.driver().restartAfterKill();
        assertThat(hardware.instances()).isEmpty();
        for (int gpu = 0; gpu < hardware.gpus(); gpu++) {
            assertThat(hardware.isMigEnabled(gpu)).as("MIG mode of GPU %d", gpu).isFalse();
        }
        // what a kill has left half written no runtime reads, and a start removes when it is old
        assertThat(context.cdi().files().keySet()).allMatch(name -> name.endsWith(".tmp"));
    }
}
