// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.process.CrashNode.Kind;
import io.dra4j.runtime.process.CrashPoints.Moment;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/**
 * Rounds of one node: what the driver must know is kept in a model, and compared after every call and every start.
 *
 * <p>A claim whose call was cut off may be prepared or not: its devices stay its own until a later call about it has
 * been answered.
 */
final class CrashSoak implements Callable<CrashSoak> {

    private static final int DEVICES = 8;
    private static final List<Moment> DEATHS = List.of(Moment.BEFORE, Moment.AFTER, Moment.HALFWAY);
    private static final int MOST_CALLS = 6;
    private static final int STEPS_OF_A_START = 10;
    private static final int STEPS_OF_CALLS = 40;

    private final Path library;
    private final Kind kind;
    private final int rounds;
    private final long seed;
    private final Random random;
    private final Map<String, Held> claims = new LinkedHashMap<>(); // by UID
    Map<String, Integer> hits = Map.of();
    private CrashNode node;
    private int created;
    private int calls;
    private int deathsAtStart;
    private int deathsInCalls;
    private int deathsAtRest;

    CrashSoak(Path library, Kind kind, int rounds, long seed) {
        this.library = library;
        this.kind = kind;
        this.rounds = rounds;
        this.seed = seed;
        this.random = new Random(seed);
    }

    /** A claim that may hold devices; for sure if there is an answer. */
    private static final class Held {
        private final KubeletClaim claim;
        private final Set<String> devices;
        private String wire; // null: a call was cut off
        private String spec; // of that answer
        private boolean deleted; // its object; it can't be prepared again

        Held(KubeletClaim claim, Set<String> devices) {
            this.claim = claim;
            this.devices = devices;
        }
    }

    @Override
    public CrashSoak call() throws Exception {
        try (CrashNode opened = new CrashNode(library, kind)) {
            node = opened;
            try {
                for (int i = 0; i < rounds; i++) {
                    round();
                }
                end();
            } catch (AssertionError e) {
                throw new AssertionError(this + "\n" + node.testNode.logTail(), e);
            }
            hits = node.hits;
            return this;
        }
    }

    /** Unprepare alone cleans up, whatever came before. */
    private void end() throws Exception {
        node.startUnharmed();
        assertModel();
        for (Held held : claims.values()) {
            node.assertUnprepared(held.claim);
        }
        node.assertNothingLeft();
        node.assertGoodEnd();
    }

    private void round() throws Exception {
        start();
        assertModel();
        long step = 1 + random.nextInt(STEPS_OF_CALLS);
        Moment moment = moment();
        node.points.dieAt(step, moment);
        for (int i = 0; i < MOST_CALLS; i++) {
            boolean answered = random.nextInt(5) < 3 ? prepareSome() : unprepareSome();
            calls++;
            if (!answered) {
                assertThat(node.died(step, moment))
                        .as("the call failed by the kill")
                        .isTrue();
                deathsInCalls++;
                return;
            }
        }
        node.points.pass();
        if (node.died(step, moment)) {
            deathsInCalls++;
        } else {
            node.testNode.kill();
            deathsAtRest++;
        }
    }

    /** One start in three is cut off, too. */
    private void start() throws Exception {
        if (random.nextInt(3) == 0) {
            long step = 1 + random.nextInt(STEPS_OF_A_START);
            Moment moment = moment();
            node.points.dieAt(step, moment);
            boolean alive = node.start();
            node.points.pass();
            if (alive && !node.died(step, moment)) {
                return;
            }
            if (!alive) {
                assertThat(node.died(step, moment))
                        .as("ended by the kill alone")
                        .isTrue();
            }
            deathsAtStart++;
        }
        node.startUnharmed();
    }

    private Moment moment() {
        return DEATHS.get(random.nextInt(DEATHS.size()));
    }

    /** After a start: what was answered is in place, and nothing else but what was cut off. */
    private void assertModel() throws IOException {
        Set<String> certain = new TreeSet<>();
        Set<String> possible = new TreeSet<>();
        Set<String> certainDevices = new TreeSet<>();
        Set<String> possibleDevices = new TreeSet<>();
        for (Held held : claims.values()) {
            String spec = node.specOf(held.claim).getFileName().toString();
            possible.add(spec);
            possibleDevices.addAll(held.devices);
            if (held.wire != null) {
                certain.add(spec);
                certainDevices.addAll(held.devices);
                assertThat(node.specOf(held.claim)).hasContent(held.spec);
            }
        }
        assertThat(node.specs()).containsAll(certain).isSubsetOf(possible);
        if (kind == Kind.HARDWARE) {
            assertThat(node.hardwareInUse()).containsAll(certainDevices);
            assertThat(node.hardwareInUse()).isSubsetOf(possibleDevices);
        }
    }

    /** Prepares new claims, claims again and, now and then, one that wants what another has. */
    private boolean prepareSome() throws IOException {
        List<KubeletClaim> wanted =
                some(claims.values().stream().filter(c -> !c.deleted).toList(), 2);
        List<String> free = shuffled(free());
        while (!free.isEmpty() && random.nextBoolean()) {
            int count = Math.min(free.size(), 1 + random.nextInt(3));
            List<String> devices = free.subList(0, count);
            wanted.add(create(devices));
            free = free.subList(count, free.size());
        }
        List<KubeletClaim> thieves = thieves();
        wanted.addAll(thieves);
        Collections.shuffle(wanted, random);
        CallResult result = node.prepare(wanted);
        boolean answered = result.status().equals(CallResult.OK);
        for (KubeletClaim claim : wanted) {
            if (thieves.contains(claim)) {
                refused(claim, result, answered);
            } else {
                prepared(claims.get(claim.uid()), result, answered);
            }
        }
        return answered;
    }

    private void prepared(Held held, CallResult result, boolean answered) throws IOException {
        if (!answered) {
            return; // what was answered before stays true, what was not stays unknown
        }
        ClaimResult answer = result.results().get(held.claim.uid());
        assertThat(answer.error()).isEmpty();
        assertThat(answer.devices())
                .extracting(ClaimResult.PreparedDevice::device)
                .containsExactlyInAnyOrderElementsOf(held.devices);
        String spec = Files.readString(node.specOf(held.claim));
        if (held.wire != null) {
            assertThat(answer.wire()).isEqualTo(held.wire);
            assertThat(spec).isEqualTo(held.spec);
        }
        held.wire = answer.wire();
        held.spec = spec;
    }

    private void refused(KubeletClaim thief, CallResult result, boolean answered) {
        if (answered) {
            assertThat(result.results().get(thief.uid()).error()).contains("held");
        }
        assertThat(node.specOf(thief)).doesNotExist();
        node.testNode.delete(thief);
    }

    /** A claim that wants a device which another one has for sure. */
    private List<KubeletClaim> thieves() throws IOException {
        List<String> sure = claims.values().stream()
                .filter(held -> held.wire != null)
                .flatMap(held -> held.devices.stream())
                .toList();
        if (sure.isEmpty() || random.nextInt(3) > 0) {
            return List.of();
        }
        String device = sure.get(random.nextInt(sure.size()));
        return List.of(node.testNode.allocate("thief-" + ++created, device));
    }

    private boolean unprepareSome() {
        List<KubeletClaim> gone = some(claims.values(), 3);
        if (random.nextInt(4) == 0) {
            gone.add(new KubeletClaim("default", "nobody", "0000-nobody-" + ++created));
        }
        if (random.nextBoolean()) {
            gone.forEach(this::delete);
        }
        CallResult result = node.unprepare(gone);
        boolean answered = result.status().equals(CallResult.OK);
        for (KubeletClaim claim : gone) {
            if (answered) {
                assertThat(result.results().get(claim.uid()).error()).isEmpty();
                assertThat(node.specOf(claim)).doesNotExist();
                claims.remove(claim.uid());
                node.testNode.delete(claim);
            } else if (claims.containsKey(claim.uid())) {
                claims.get(claim.uid()).wire = null;
            }
        }
        return answered;
    }

    private void delete(KubeletClaim claim) {
        node.testNode.delete(claim);
        if (claims.containsKey(claim.uid())) {
            claims.get(claim.uid()).deleted = true;
        }
    }

    private KubeletClaim create(List<String> devices) throws IOException {
        KubeletClaim claim = node.testNode.allocate("claim-" + ++created, devices.toArray(String[]::new));
        claims.put(claim.uid(), new Held(claim, new TreeSet<>(devices)));
        return claim;
    }

    private List<String> free() {
        Set<String> held =
                claims.values().stream().flatMap(one -> one.devices.stream()).collect(toCollection(TreeSet::new));
        return IntStream.range(0, DEVICES)
                .mapToObj(i -> "gpu-" + i)
                .filter(device -> !held.contains(device))
                .toList();
    }

    private List<KubeletClaim> some(Collection<Held> of, int most) {
        List<Held> all = shuffled(of);
        int count = Math.min(all.size(), random.nextInt(most + 1));
        return new ArrayList<>(all.stream().limit(count).map(held -> held.claim).toList());
    }

    private <T> List<T> shuffled(Collection<T> of) {
        List<T> all = new ArrayList<>(of);
        Collections.shuffle(all, random);
        return all;
    }

    @Override
    public String toString() {
        return "%s driver, seed %d: %d rounds, %d calls, %d claims; killed %d times in calls, %d at starts, %d at rest"
                .formatted(kind, seed, rounds, calls, created, deathsInCalls, deathsAtStart, deathsAtRest);
    }
}
