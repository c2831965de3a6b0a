// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Random steps of a node's life, and the model of what is prepared. The seed repeats them. */
public final class Soak {

    public static final int STEPS = 50;

    /** One in this many steps is a kill, and every second kill comes during a Prepare. */
    private static final int BETWEEN_KILLS = 9;

    private static final int MOST_DEVICES = 4;

    private final TestContext context;
    private final Random random;
    private final List<PublishedDevice> devices;
    private final Map<PublishedDevice, Prepared> prepared = new LinkedHashMap<>();
    private int done;
    private int kills;

    /** A claim that has a device; without an answer if the driver was killed before it. */
    private record Prepared(KubeletClaim claim, @Nullable Reported answer) {}

    public Soak(TestContext context) {
        this.context = context;
        random = new Random(context.settings().seed());
        devices = context.devices().upTo(MOST_DEVICES);
    }

    public List<PublishedDevice> devices() {
        return devices;
    }

    public void step(int number) {
        done = number;
        PublishedDevice device = devices.get(random.nextInt(devices.size()));
        Prepared known = prepared.get(device);
        if (number % BETWEEN_KILLS == 0) {
            kill();
        } else if (known == null) {
            KubeletClaim claim = context.claims().allocate(device);
            prepared.put(device, new Prepared(claim, prepare(claim)));
        } else if (random.nextInt(3) == 0) {
            repeat(device, known);
        } else {
            unprepare(known);
            prepared.remove(device);
        }
    }

    private void kill() {
        kills++;
        Optional<PublishedDevice> free =
                devices.stream().filter(device -> !prepared.containsKey(device)).findFirst();
        if (kills % 2 == 0 || free.isEmpty()) {
            context.driver().restartAfterKill();
            return;
        }
        KubeletClaim claim = context.claims().allocate(free.get());
        Optional<HeldPrepare> call = HeldPrepare.of(context, claim);
        context.driver().kill();
        call.ifPresent(HeldPrepare::release);
        context.driver().restarted();
        boolean retried = kills % 4 == 1; // the kubelet does, except for pods that are gone by then
        prepared.put(free.get(), new Prepared(claim, retried ? prepare(claim) : null));
    }

    private Reported prepare(KubeletClaim claim) {
        return Reported.of(
                context.calls().prepared(claim, "after %s, Prepare of claim %s failed: %s", this, claim.uid()));
    }

    private void repeat(PublishedDevice device, Prepared known) {
        Reported again = prepare(known.claim());
        Violation.unless(known.answer() == null || known.answer().equals(again))
                .because(
                        "after %s, Prepare of claim %s was answered %s, but %s before",
                        this, known.claim().uid(), again, known.answer());
        prepared.put(device, new Prepared(known.claim(), again));
    }

    private void unprepare(Prepared known) {
        context.calls()
                .unprepared(
                        known.claim(),
                        "after %s, Unprepare of claim %s failed: %s",
                        this,
                        known.claim().uid());
    }

    public void unprepareAll() {
        prepared.values().forEach(this::unprepare);
        prepared.clear();
    }

    @Override
    public String toString() {
        return "%d random steps with %d kills, seed %d"
                .formatted(done, kills, context.settings().seed());
    }
}
