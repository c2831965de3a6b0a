// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.pins.PinnedNames;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * A node that reboots 1,000 times (fewer in a plain build), each time perhaps with its devices in another order.
 *
 * <p>Claims are allocated by the slices, also by old ones as long as the scheduler may, and prepared before or after
 * reboots. None may get other hardware than its device's name meant in the slices that it was allocated by.
 */
class RandomRebootsTest {

    private static final boolean FULL = Boolean.getBoolean("dra4j.full");
    private static final int REBOOTS = FULL ? 1000 : 150;
    private static final int DEVICES = 6;
    private static final long SEED = 20261123;
    private static final Duration SLICES_AGE = Duration.ofMinutes(9);

    @TempDir
    Path directory;

    private final Random random = new Random(SEED);
    private final RecordingProvider provider = new RecordingProvider();
    private final Logger log = (Logger) LoggerFactory.getLogger("io.dra4j");
    private final Map<ClaimRef, String> allocated = new HashMap<>(); // the hardware
    private final List<ClaimRef> waiting = new ArrayList<>();
    private final List<ClaimRef> running = new ArrayList<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private NodeUnderTest node;
    private PinnedNames names;
    private Instant now = Instant.EPOCH;
    private Map<String, String> slices = Map.of(); // the hardware by published name
    private Map<String, String> seen = Map.of(); // by the scheduler
    private Instant changed = now;
    private int number;

    @AfterEach
    void logAgain() {
        log.setLevel(null);
    }

    @Test
    void noClaimGetsOtherHardwareThanItWasAllocated() {
        log.setLevel(Level.OFF);
        provider.devices = DEVICES;
        provider.hardware = List.of("U-0", "U-1", "U-2", "U-3", "U-4", "U-5");
        provider.onPrepare =
                (claim, context) -> claim.devices().forEach(device -> requireAllocated(claim.ref(), device));
        try (NodeUnderTest started = new NodeUnderTest(directory, provider)) {
            node = started;
            node.start("boot-0");
            publishAfterStart();
            for (int boot = 1; boot <= REBOOTS; boot++) {
                live();
                reboot("boot-" + boot);
            }
        }

        assertThat(counts).as("seed %s", SEED).doesNotContainKey("other hardware");
        assertThat(counts.get("prepared")).as("%s", counts).isGreaterThan(REBOOTS / 4);
        assertThat(counts.get("refused")).as("%s", counts).isGreaterThan(REBOOTS / 10);
    }

    private void requireAllocated(ClaimRef ref, AllocatedDevice device) {
        int minor = Integer.parseInt(device.device().value().substring("gpu-".length()));
        if (!provider.hardware.get(minor).equals(allocated.get(ref))) {
            count("other hardware");
        }
    }

    private void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    /** A few things happen between two reboots, none of them for sure. */
    private void live() {
        for (int step = random.nextInt(8); step > 0; step--) {
            switch (random.nextInt(6)) {
                case 0, 1 -> allocate();
                case 2, 3 -> prepareAny();
                case 4 -> endAny();
                default -> {
                    now = now.plus(Duration.ofMinutes(random.nextInt(20)));
                    publish();
                }
            }
        }
    }

    private void reboot(String boot) {
        if (random.nextInt(3) == 0) {
            List<String> permuted = new ArrayList<>(provider.hardware);
            if (random.nextInt(3) == 0) {
                Collections.shuffle(permuted, random);
            } else {
                Collections.swap(permuted, random.nextInt(DEVICES), random.nextInt(DEVICES));
            }
            provider.hardware = List.copyOf(permuted);
            count("moved");
        }
        node.restart(boot);
        node.claims.recover();
        waiting.addAll(running); // the kubelet prepares the claims of its pods again
        running.clear();
        if (random.nextInt(3) == 0) {
            prepareAny(); // before anything is published
        }
        publishAfterStart();
    }

    private void publishAfterStart() {
        names = new PinnedNames(NodeUnderTest.DRIVER, DevicePins.in(node.data), node.api, event -> {});
        publish();
    }

    private void publish() {
        Map<String, String> published = new HashMap<>();
        for (Device device :
                names.publishable(provider.inventory(), now).pools().get(0).devices()) {
            String name = device.name().value();
            published.put(name, provider.hardware.get(Integer.parseInt(name.substring(4))));
        }
        names.written(name -> published.containsKey(name.device().value()), now);
        if (!published.equals(slices)) {
            seen = slices;
            changed = now;
            slices = published;
        }
    }

    /** The scheduler allocates a device that no claim has, perhaps by slices that are gone. */
    private void allocate() {
        boolean isLate = random.nextBoolean() && now.isBefore(changed.plus(SLICES_AGE));
        Map<String, String> view = new TreeMap<>(isLate ? seen : slices);
        node.api.objects.values().stream()
                .flatMap(claim -> claim.allocation().results().stream())
                .forEach(result -> view.remove(result.device()));
        if (!view.isEmpty()) {
            String device = List.copyOf(view.keySet()).get(random.nextInt(view.size()));
            ClaimRef ref = new ClaimRef("ns", "c" + number, "uid-" + number++);
            node.allocate(ref, device);
            allocated.put(ref, view.get(device));
            waiting.add(ref);
        }
    }

    private void prepareAny() {
        if (waiting.isEmpty()) {
            return;
        }
        ClaimRef ref = waiting.remove(random.nextInt(waiting.size()));
        if (node.prepare(ref) instanceof Prepared) {
            count("prepared");
            running.add(ref);
            String device =
                    node.api.objects.get(ref).allocation().results().get(0).device();
            int minor = Integer.parseInt(device.substring("gpu-".length()));
            if (!provider.hardware.get(minor).equals(allocated.get(ref))) {
                count("other hardware");
            }
        } else {
            count("refused");
            waiting.add(ref);
        }
    }

    /** A pod ends, running or not, and its claim is deleted. */
    private void endAny() {
        List<ClaimRef> from = random.nextBoolean() || running.isEmpty() ? waiting : running;
        if (!from.isEmpty()) {
            ClaimRef ref = from.remove(random.nextInt(from.size()));
            assertThat(node.unprepare(ref)).isInstanceOf(Unprepared.class);
            node.api.objects.remove(ref);
        }
    }
}
