// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.NodeState.Instance;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A kubelet that prepares and unprepares claims of overlapping parts of GPUs at random, and
 * hardware that kills the driver, or fails, at some step.
 *
 * <p>A claim whose call was cut off may be prepared or not: what it was allocated stays its own
 * until a later call about it is answered, as a scheduler has it. A {@link MigMeddler} changes the
 * same hardware: what it created stays when claims are unprepared.
 */
final class MigWalk {

    private static final Pattern PART = Pattern.compile("gpu-(\\d+)-mig-.+-(\\d+)-(\\d+)");
    private static final Pattern WHOLE = Pattern.compile("gpu-(\\d+)");
    private static final Duration DEATH = Duration.ofSeconds(30);
    private static final int STEPS_OF_A_CALL = 12;
    private static final int LAST = 40; // lines that a failure shows

    private final TestContext context;
    private final TestContext.Mark start;
    private final NodeState hardware;
    private final Random random;
    private final List<PublishedDevice> devices;
    private final CounterSets most;
    private final DriverRecords records;
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
        private Map<String, String> uuids; // of its parts, by device; null: not known as prepared
        private boolean isLost; // somebody destroyed a part of it

        Held(KubeletClaim claim, List<PublishedDevice> devices) {
            this.claim = claim;
            this.devices = devices;
        }
    }

    MigWalk(TestContext context, StandInNode node, long seed) {
        this.context = context;
        this.start = context.mark();
        this.hardware = node.state();
        this.meddler = new MigMeddler(node, seed);
        this.random = new Random(seed);
        this.records = new DriverRecords(context.place().plugins());
        this.devices = context.devices().all();
        this.most = CounterSets.of(context.devices().slices());
    }

    /**
     * Makes a number of calls, and unprepares all claims at the end: then nothing may be left.
     *
     * @throws AssertionError with what was done last, if anything is not as it should be
     */
    String walk(int calls) {
        try {
            go(calls);
        } catch (AssertionError | RuntimeException e) {
            List<String> done = context.callsSince(start);
            String last = String.join("\n", done.subList(Math.max(0, done.size() - LAST), done.size()));
            throw new AssertionError("%s%n%s".formatted(e.getMessage(), last), e);
        }
        return "%d prepares and %d unprepares, %d kills, %d failing steps, %d claims refused; %s"
                .formatted(prepares, unprepares, kills, failures, refusals, meddler);
    }

    private void go(int calls) {
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
    }

    /** Somebody else changes the hardware, now and then, while the driver runs or is dead. */
    private void meddle() {
        hardware.killAt(0);
        hardware.failAt(0);
        if (random.nextInt(3) == 0) {
            boolean isAlive = context.driver().isAlive();
            findPrepared();
            List<Instance> ours = claims.values().stream()
                    .filter(held -> held.uuids != null && !held.isLost)
                    .flatMap(held -> instances(held).stream())
                    .toList();
            Set<String> known = records.destroyed();
            boolean isNoticed = meddler.meddle(isAlive, ours);
            context.transcript().note(meddler + "; there are " + hardware.bySerial());
            claims.values().forEach(this::lose);
            if (isNoticed) {
                awaitNotice(known);
            }
        }
    }

    /**
     * Finds out which claims of calls that were cut off are prepared: those keep their parts, and
     * the next prepare returns them whether somebody has destroyed them meanwhile or not.
     */
    private void findPrepared() {
        Set<String> prepared = records.prepared();
        for (Held held : claims.values()) {
            if (held.uuids != null) {
                assertThat(prepared).as("claims of the journal").contains(held.claim.uid());
            } else if (!held.isLost && prepared.contains(held.claim.uid())) {
                held.uuids = requireParts(held);
            }
        }
    }

    private Map<String, String> requireParts(Held held) {
        Map<String, String> uuids = uuids(held);
        assertThat(uuids)
                .as("the parts of %s", held.devices)
                .hasSize(parts(held).size());
        return uuids;
    }

    /** Waits until the driver remembers a destroyed instance: then a kill may come. */
    private void awaitNotice(Set<String> before) {
        Await.until("an instance of a claim destroyed", DEATH, () -> !before.containsAll(records.destroyed()));
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
            context.transcript().note("kill at step " + step);
            hardware.killAt(step);
        } else if (dice < 5) {
            context.transcript().note("fail at step " + step);
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
        List<Held> again = claims.values().stream()
                .filter(held -> !held.isLost && random.nextInt(8) == 0)
                .toList();
        if (!again.isEmpty()) {
            wanted.add(again.get(0));
        }
        for (int i = random.nextInt(3); i >= 0; i--) {
            List<PublishedDevice> free = allocate(1 + random.nextInt(2));
            if (!free.isEmpty()) {
                KubeletClaim claim = context.claims().allocate(free.toArray(new PublishedDevice[0]));
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
        CallResult result =
                prepare ? context.calls().prepare(all) : context.calls().unprepare(all);
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
            assertThat(failed || meddler.isInTheWay(held.devices))
                    .as(answer.error())
                    .isTrue();
            refusals++;
            return; // the kubelet tries again, or unprepares
        }
        Map<String, String> uuids = requireParts(held);
        if (held.uuids != null) {
            assertThat(uuids).isEqualTo(held.uuids);
        }
        held.uuids = uuids;
    }

    private void unprepare() {
        List<Held> wanted = claims.values().stream()
                .filter(held -> random.nextInt(4) == 0)
                .limit(3)
                .toList();
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
        CounterSets left = most.copy();
        claims.values().forEach(held -> held.devices.forEach(left::take));
        List<PublishedDevice> taken = new ArrayList<>();
        for (int i = 0; i < 40 && taken.size() < count; i++) {
            PublishedDevice device = devices.get(random.nextInt(devices.size()));
            if (!taken.contains(device) && left.has(device)) {
                left.take(device);
                taken.add(device);
            }
        }
        return taken;
    }

    private static List<PublishedDevice> parts(Held held) {
        return held.devices.stream()
                .filter(it -> PART.matcher(it.name()).matches())
                .toList();
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

    /** The records of a driver in its files, whether it runs or is dead. */
    private static final class DriverRecords {

        private static final JsonMapper JSON = new JsonMapper();

        private final Path folder;

        /** Reads the records below the kubelet's plugins directory. */
        DriverRecords(Path plugins) {
            folder = plugins.resolve("gpu.nvidia.com");
        }

        /** Returns the GPU instances that the driver remembers as destroyed by somebody. */
        Set<String> destroyed() {
            Set<String> keys = new HashSet<>();
            try {
                JSON.readTree(folder.resolve("gpus.json").toFile())
                        .path("ended")
                        .forEach(key -> keys.add(key.asText()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return keys;
        }

        /** Returns the UIDs of the claims that are prepared by the journal. */
        Set<String> prepared() {
            Set<String> uids = new HashSet<>();
            try {
                for (String line : Files.readAllLines(folder.resolve("claims.journal"))) {
                    follow(line, uids);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return uids;
        }

        private static void follow(String line, Set<String> uids) {
            JsonNode read;
            try {
                read = JSON.readTree(line);
            } catch (JsonProcessingException e) {
                return; // the last line, of which a kill has let half be written
            }
            String uid = read.path("claim").asText();
            JsonNode record = read.path("record");
            if (record.at("/put/phase").asText().equals("PREPARED")) {
                uids.add(uid);
            } else {
                uids.remove(uid);
            }
        }
    }

    /** The counters that published devices share, as a scheduler keeps account of them. */
    private static final class CounterSets {

        private final Map<String, Long> left; // by counter set and counter

        private CounterSets(Map<String, Long> left) {
            this.left = left;
        }

        /** Returns all counters of slices. */
        static CounterSets of(Collection<JsonNode> slices) {
            Map<String, Long> all = new HashMap<>();
            for (JsonNode slice : slices) {
                for (JsonNode set : slice.at("/spec/sharedCounters")) {
                    amounts(set, set.get("name").asText()).forEach(all::put);
                }
            }
            return new CounterSets(all);
        }

        CounterSets copy() {
            return new CounterSets(new HashMap<>(left));
        }

        /** Returns whether a device's counters are left. */
        boolean has(PublishedDevice device) {
            return amounts(device).entrySet().stream()
                    .allMatch(counter -> left.get(counter.getKey()) >= counter.getValue());
        }

        void take(PublishedDevice device) {
            amounts(device).forEach((counter, amount) -> left.merge(counter, -amount, Long::sum));
        }

        private static Map<String, Long> amounts(PublishedDevice device) {
            Map<String, Long> amounts = new HashMap<>();
            for (JsonNode set : device.json().get("consumesCounters")) {
                amounts.putAll(amounts(set, set.get("counterSet").asText()));
            }
            return amounts;
        }

        private static Map<String, Long> amounts(JsonNode set, String name) {
            Map<String, Long> amounts = new HashMap<>();
            for (Map.Entry<String, JsonNode> counter : set.get("counters").properties()) {
                String amount = counter.getValue().get("value").asText();
                amounts.put(name + "/" + counter.getKey(), amount(amount));
            }
            return amounts;
        }

        private static long amount(String quantity) {
            return Long.parseLong(quantity.replaceFirst("[GM]i$", "")) * (quantity.endsWith("Gi") ? 1024 : 1);
        }
    }
}
