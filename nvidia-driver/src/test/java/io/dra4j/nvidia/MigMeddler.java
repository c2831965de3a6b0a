// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.nvidia.standin.Administrator;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.NodeState.Instance;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * An administrator who creates and destroys GPU instances next to a driver and behind its back, resets
 * GPUs, and updates NVIDIA's driver.
 *
 * <p>While no driver runs, it creates nothing in the places of claims: that can't be detected. The
 * same is true of a driver that has no session yet after an update.
 */
final class MigMeddler {

    private static final int IN_USE = 19;

    /** The longest time without a session after an update under a driver that runs. */
    private static final Duration NO_SESSION = Duration.ofSeconds(20);

    private static final Map<Integer, Integer> COMPUTE_PROFILES = // of GPU instances' profiles
            Map.of(19, 0, 14, 1, 9, 2, 5, 3);
    private static final List<int[]> PLACES = List.of(new int[] {19, 6}, new int[] {14, 4});

    private final StandInNode node;
    private final NodeState hardware;
    private final Administrator administrator;
    private final Random random;
    private final Set<Integer> own = new TreeSet<>(); // serials
    private Instant updated = Instant.MIN; // last under a driver that runs
    private int created;
    private int destroyed;
    private int replaced;
    private int resets;
    private int updates;

    MigMeddler(StandInNode node, long seed) {
        this.node = node;
        this.hardware = node.state();
        this.administrator = node.administrator();
        this.random = new Random(seed);
    }

    /** Returns the instances that this administrator has not created. */
    List<Instance> others() {
        return hardware.bySerial().entrySet().stream()
                .filter(instance -> !own.contains(instance.getKey()))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** Returns whether what this administrator has created excludes devices. */
    boolean isInTheWay(List<PublishedDevice> devices) {
        return own.stream()
                .map(hardware.bySerial()::get)
                .anyMatch(instance -> devices.stream().anyMatch(it -> isOf(instance.gpu(), it)));
    }

    private static boolean isOf(int gpu, PublishedDevice device) {
        return device.name().equals("gpu-" + gpu) || device.name().startsWith("gpu-" + gpu + "-");
    }

    void assertUntouched() {
        assertThat(hardware.bySerial().keySet()).as("what others created").containsAll(own);
    }

    /**
     * Does something.
     *
     * @param isAlive whether the driver runs
     * @param ours the instances of claims
     * @return whether an instance of a claim was destroyed under a driver that runs
     */
    boolean meddle(boolean isAlive, List<Instance> ours) {
        switch (random.nextInt(isAlive ? 8 : 2)) {
            case 0 -> reset(isAlive);
            case 1 -> update(isAlive);
            case 2, 3 -> create();
            case 4, 5 -> destroyOwn();
            case 6 -> {
                return destroy(ours, false);
            }
            default -> {
                return destroy(ours, !mayLackSession());
            }
        }
        return false;
    }

    /** A driver with MIG devices on demand has a session, so a GPU is reset without it only. */
    private void reset(boolean isAlive) {
        int gpu = random.nextInt(hardware.gpus());
        if (isAlive && mayLackSession()) {
            return;
        }
        assertThat(administrator.reset(gpu)).isEqualTo(isAlive ? IN_USE : 0);
        resets += isAlive ? 0 : 1;
        forgetGone();
    }

    private boolean mayLackSession() {
        return Instant.now().isBefore(updated.plus(NO_SESSION));
    }

    private void forgetGone() {
        own.retainAll(hardware.bySerial().keySet());
    }

    private void update(boolean isAlive) {
        String version = "560.35." + ++updates;
        try {
            if (isAlive) {
                updated = Instant.now();
                hardware.replacing(18, 18);
                administrator.reboot();
            } else {
                assertThat(node.unload()).isZero();
            }
            node.update(version);
            node.load(version);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        forgetGone();
    }

    /** Creates an instance where there is room, whole, split, or without a compute instance. */
    private void create() {
        int gpu = divided();
        int[] place = PLACES.get(random.nextInt(PLACES.size()));
        if (gpu < 0 || isOccupied(gpu, place[1])) {
            return;
        }
        int[] computes = new int[random.nextInt(3)];
        if (computes.length == 1) {
            computes[0] = COMPUTE_PROFILES.get(place[0]);
        }
        if (place[0] == 19 && computes.length == 2) {
            computes = new int[0]; // one slice can't be split
        }
        administrator.createInstance(gpu, place[0], place[1], computes);
        remember(gpu, place[1]);
        created++;
    }

    /** Returns one of the GPUs in MIG mode; -1 if none is. */
    private int divided() {
        List<Integer> gpus = new ArrayList<>();
        for (int gpu = 0; gpu < hardware.gpus(); gpu++) {
            if (hardware.isMigEnabled(gpu)) {
                gpus.add(gpu);
            }
        }
        return gpus.isEmpty() ? -1 : gpus.get(random.nextInt(gpus.size()));
    }

    private boolean isOccupied(int gpu, int start) {
        return hardware.instances().stream()
                .anyMatch(it -> it.gpu() == gpu && (it.start() >= 4 || it.profileId() == 0));
    }

    private void remember(int gpu, int start) {
        hardware.bySerial().forEach((serial, instance) -> {
            if (instance.gpu() == gpu && instance.start() == start) {
                own.add(serial);
            }
        });
    }

    private void destroyOwn() {
        for (int serial : List.copyOf(own)) {
            if (random.nextBoolean()) {
                Instance instance = hardware.bySerial().get(serial);
                administrator.destroyInstance(instance.gpu(), instance.id());
                own.remove(serial);
                destroyed++;
            }
        }
    }

    /** Destroys an instance of a claim, and may create it again: all but its serial is the same. */
    private boolean destroy(List<Instance> ours, boolean again) {
        List<Instance> usual = new ArrayList<>(ours);
        usual.removeIf(instance -> !COMPUTE_PROFILES.containsKey(instance.profileId()));
        if (usual.isEmpty()) {
            return false;
        }
        Instance victim = usual.get(random.nextInt(usual.size()));
        administrator.destroyInstance(victim.gpu(), victim.id());
        if (again) {
            administrator.createInstance(
                    victim.gpu(), victim.profileId(), victim.start(), COMPUTE_PROFILES.get(victim.profileId()));
            assertThat(hardware.instanceAt(victim.gpu(), victim.start())).isEqualTo(victim);
            remember(victim.gpu(), victim.start());
            replaced++;
        } else {
            destroyed++;
        }
        return true;
    }

    /** Destroys everything that is left, and switches off the MIG modes that no claim switches. */
    void leave() {
        for (int serial : own) {
            Instance instance = hardware.bySerial().get(serial);
            administrator.destroyInstance(instance.gpu(), instance.id());
        }
        own.clear();
        for (int gpu = 0; gpu < hardware.gpus(); gpu++) {
            hardware.setMig(gpu, false);
        }
    }

    @Override
    public String toString() {
        return "somebody else created %d instances, destroyed %d, replaced %d, reset %d GPUs, updated %d times"
                .formatted(created, destroyed, replaced, resets, updates);
    }
}
