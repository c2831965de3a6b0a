// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.PrepareException;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The devices of a node, with what claims have configured on them: this survives processes and, in part, a reboot.
 *
 * <p>Chips are {@code plain-0} and {@code plain-1}, on which a claim changes nothing; {@code mode-0} to {@code mode-2},
 * with a setting that survives a reboot; {@code part-0}, which is offered whole, in halves and in quarters, and {@code
 * part-1}, whole and in halves; and {@code share-0}, of whose memory many claims have a share.
 */
public final class Hardware {

    static final String MODEL = "model";
    static final String UUID = "uuid";
    static final String UNHEALTHY = "unhealthy";
    static final String MEMORY = "memory";

    private static final List<String> SLOTS = List.of("slot-0", "slot-1", "slot-2", "slot-3");
    private static final List<String> PARTITIONED = List.of("part-0", "part-1");
    private static final Duration LONGER_THAN_A_CALL = Duration.ofSeconds(70);

    /** The failure of a step of the hardware. */
    public enum Fault {
        REFUSES,
        FAILS,
        BUG,
        ERROR,
        HANGS
    }

    /**
     * A part of a chip that a claim has configured.
     *
     * @param part the part of the chip
     * @param share identifies one of several shares; empty if the claim has it exclusively
     */
    record Setting(String uuid, String part, String share, long amount, String claim) {

        /** A mode survives without power. */
        boolean needsPower() {
            return !part.equals("mode");
        }

        long capacity() {
            return part.equals(MEMORY) ? 80 : 1;
        }
    }

    /** A device as it is offered: its name, with the parts of the chip that belong to it. */
    private record Offer(String model, String chip, String name, List<String> parts) {}

    private static final class Chip {
        String uuid;
        boolean isPresent = true;
        boolean isHealthy = true;

        Chip(String uuid) {
            this.uuid = uuid;
        }
    }

    private record Follower(Process process, Runnable changed) {}

    private final String driver;
    private final String node;
    private final boolean isSerialized;
    private final Map<String, Chip> chips = new TreeMap<>();
    private final Map<String, Offer> offers = new TreeMap<>();
    private final Set<String> moved = new TreeSet<>(); // chips whose name has had other hardware
    private final Set<String> disturbed = new TreeSet<>(); // chips that may have lost what a claim has set
    private final List<Setting> settings = new ArrayList<>();
    private final List<String> conflicts = new ArrayList<>();
    private final Map<String, Process> calls = new LinkedHashMap<>(); // in progress, by claim
    private final List<String> misuses = new ArrayList<>();
    private final List<Follower> followers = new ArrayList<>();
    private final List<Map<String, String>> states = new ArrayList<>(); // UUIDs by device, after each change
    private Consumer<String> beforeStep = what -> {};
    private Consumer<String> afterClear = claim -> {};
    private @Nullable Fault fault;
    private int stepsToFault;
    private int chipsMade;

    public Hardware(String driver, String node) {
        this(driver, node, false);
    }

    /**
     * All chips, present and healthy.
     *
     * @param isSerialized whether calls for two claims at the same time are misuse
     */
    public Hardware(String driver, String node, boolean isSerialized) {
        this.driver = driver;
        this.node = node;
        this.isSerialized = isSerialized;
        List.of("plain-0", "plain-1").forEach(chip -> add("plain", chip, chip, List.of()));
        List.of("mode-0", "mode-1", "mode-2").forEach(chip -> add("mode", chip, chip, List.of("mode")));
        add("share", "share-0", "share-0", List.of(MEMORY));
        for (String chip : PARTITIONED) {
            add("whole", chip, chip, SLOTS);
            for (int i = 0; i < 2; i++) {
                add("half", chip, chip + "-half-" + i, SLOTS.subList(2 * i, 2 * i + 2));
            }
        }
        for (int i = 0; i < SLOTS.size(); i++) {
            add("quarter", "part-0", "part-0-quarter-" + i, SLOTS.subList(i, i + 1));
        }
        states.add(uuids());
    }

    private void add(String model, String chip, String name, List<String> parts) {
        chips.computeIfAbsent(chip, unseen -> new Chip(newUuid()));
        offers.put(name, new Offer(model, chip, name, parts));
    }

    private String newUuid() {
        return "UUID-" + chipsMade++;
    }

    /** Returns the names of all chips, from which a plan draws some. */
    public List<String> chips() {
        return List.copyOf(chips.keySet());
    }

    /** Removes a chip, with its settings, or inserts it again. */
    public void present(String chip, boolean isPresent) {
        Chip one = chip(chip);
        one.isPresent = isPresent;
        disturbed.add(chip);
        settings.removeIf(setting -> setting.uuid.equals(one.uuid));
        changed();
    }

    public void healthy(String chip, boolean isHealthy) {
        chip(chip).isHealthy = isHealthy;
        changed();
    }

    /** Replaces the chip behind a name with another one. */
    public void replace(String chip) {
        Chip one = chip(chip);
        settings.removeIf(setting -> setting.uuid.equals(one.uuid));
        one.uuid = newUuid();
        moved.add(chip);
        disturbed.add(chip);
        changed();
    }

    /** Lets two chips swap their names. */
    public void swap(String one, String other) {
        Chip first = chip(one);
        chips.put(one, chip(other));
        chips.put(other, first);
        moved.addAll(List.of(one, other));
        disturbed.addAll(moved);
        changed();
    }

    /** Lets a step of the provider fail: the next one, or the second one from now, and so on. */
    public void fail(Fault how, int nth) {
        fault = how;
        stepsToFault = nth;
    }

    /** Calls back before each step, on the thread of the process that performs it, which may then be killed. */
    public void beforeEachStep(Consumer<String> listener) {
        beforeStep = listener;
    }

    /** Calls back with the claim of each setting that is cleared. */
    public void afterEachClear(Consumer<String> listener) {
        afterClear = listener;
    }

    /** Ends faults: all chips are present and healthy, and no step fails. */
    public void recover() {
        fault = null;
        chips.values().forEach(chip -> {
            chip.isPresent = true;
            chip.isHealthy = true;
        });
        changed();
    }

    /** Loses the settings that need power. */
    public void reboot() {
        settings.removeIf(Setting::needsPower);
        calls.clear();
        followers.clear();
    }

    void follow(Process process, Runnable change) {
        followers.add(new Follower(process, change));
    }

    private Map<String, String> uuids() {
        return offers.keySet().stream().filter(this::isPresent).collect(Collectors.toMap(name -> name, this::uuid));
    }

    /** Returns whether there was a moment at which devices had these UUIDs. */
    boolean hasHad(Map<String, String> devices) {
        return states.stream().anyMatch(state -> state.entrySet().containsAll(devices.entrySet()));
    }

    private void changed() {
        states.add(uuids());
        followers.removeIf(follower -> follower.process.isDead());
        followers.forEach(
                each -> Simulation.after(each.process, Duration.ofMillis(1), "hardware changed", each.changed));
    }

    private Chip chip(String name) {
        return Objects.requireNonNull(chips.get(name), name);
    }

    private Offer offer(String device) {
        return Objects.requireNonNull(offers.get(device), device);
    }

    /** Notes that a call of the provider begins; there may be only one per claim at a time. */
    void enter(String claim) {
        calls.forEach((other, process) -> {
            if ((isSerialized || other.equals(claim)) && !process.isDead()) {
                misused("calls for claims %s and %s at the same time, of %s and %s"
                        .formatted(other, claim, process, Simulation.process()));
            }
        });
        calls.put(claim, Simulation.process());
    }

    void leave(String claim) {
        calls.remove(claim);
    }

    void misused(String how) {
        misuses.add(how + ", at " + Simulation.now());
    }

    /** Returns what a claim has to set for a device; nothing for admin access. */
    List<Setting> needs(HeldDevice device, String claim) {
        Offer offer = offer(device.device().value());
        String uuid = uuid(device);
        if (!isThere(uuid)) {
            throw new PrepareException("device " + offer.name + " is not there");
        }
        String share = device.shareId() == null ? "" : device.shareId();
        return device.adminAccess()
                ? List.of()
                : offer.parts.stream()
                        .map(part -> new Setting(uuid, part, share, amount(device), claim))
                        .toList();
    }

    private static long amount(HeldDevice device) {
        return device.consumedCapacity().values().stream()
                .mapToLong(amount -> amount.amount()
                        .divideToIntegralValue(BigDecimal.valueOf(1L << 30))
                        .longValue())
                .findFirst()
                .orElse(1);
    }

    /** Sets something; setting it again changes nothing. */
    void set(Setting wanted) throws IOException {
        step("set " + wanted);
        if (!isThere(wanted.uuid)) {
            throw new IOException(wanted.uuid + " is not there");
        }
        List<Setting> others = settings.stream()
                .filter(one -> one.uuid.equals(wanted.uuid) && one.part.equals(wanted.part) && !one.equals(wanted))
                .toList();
        if (others.stream().mapToLong(Setting::amount).sum() + wanted.amount > wanted.capacity()) {
            conflicts.add(wanted + " while there is " + others + ", at " + Simulation.now());
        }
        if (!settings.contains(wanted)) {
            settings.add(wanted);
        }
    }

    /** Clears something that may be set. */
    void clear(Setting setting) throws IOException {
        step("clear " + setting);
        if (settings.remove(setting)) {
            afterClear.accept(setting.claim);
        }
    }

    /** Searches all hardware for what a claim has set. */
    List<Setting> search(String claim) throws IOException {
        step("search for claim " + claim);
        return of(claim);
    }

    List<Setting> of(String claim) {
        return settings.stream().filter(one -> one.claim.equals(claim)).toList();
    }

    /** Returns how much a claim must have set for a device, not counting what may have been lost. */
    int needed(HeldDevice device) {
        Offer offer = offer(device.device().value());
        return device.adminAccess() || disturbed.contains(offer.chip) ? 0 : offer.parts.size();
    }

    List<Setting> settings() {
        return List.copyOf(settings);
    }

    List<String> conflicts() {
        return conflicts;
    }

    List<String> misuses() {
        return misuses;
    }

    private boolean isThere(String uuid) {
        return chips.values().stream().anyMatch(chip -> chip.isPresent && chip.uuid.equals(uuid));
    }

    /** Returns the UUID of the chip that a device was on when a claim got it, if known. */
    String uuid(HeldDevice device) {
        String id = device.physicalId();
        return id == null ? uuid(device.device().value()) : id.split("/", 2)[0];
    }

    /** Returns the UUID of the chip that a device is on now. */
    String uuid(String device) {
        return chip(offer(device).chip).uuid;
    }

    /** Returns the parts of its chip that belong to a device. */
    List<String> parts(String device) {
        return offer(device).parts;
    }

    /** Returns whether a file tells containers what the device is. */
    boolean isDescribed(String device) {
        return chipOf(device).equals("part-0");
    }

    String chipOf(String device) {
        return offer(device).chip;
    }

    boolean isPresent(String device) {
        return chip(offer(device).chip).isPresent;
    }

    /** Returns whether a device is on a chip that has always had its name, and is present. */
    boolean isSteady(String device) {
        return isPresent(device) && !moved.contains(offer(device).chip);
    }

    /** Returns the model of a device, its chip, and whether the chip is healthy. */
    String describe(String device) {
        Chip chip = chip(offer(device).chip);
        return offer(device).model + " " + chip.uuid + (chip.isHealthy ? "" : " " + UNHEALTHY);
    }

    /** Returns the names of all devices that may exist. */
    Set<String> devices() {
        return offers.keySet();
    }

    /** Reads the inventory, and returns it some time later. */
    Inventory read() throws IOException {
        Inventory read = inventory();
        step("read the inventory");
        return read;
    }

    Inventory inventory() {
        List<Device> devices = offers.values().stream()
                .filter(offer -> chip(offer.chip).isPresent)
                .map(this::device)
                .toList();
        Pool.Builder pool = Pool.ofNode(node, devices).toBuilder();
        for (String chip : PARTITIONED) {
            CounterSet.Builder slots = CounterSet.builder(chip);
            SLOTS.forEach(slot -> slots.counter(slot, 1));
            pool = chip(chip).isPresent ? pool.counterSet(slots.build()) : pool;
        }
        return Inventory.of(pool.build());
    }

    private Device device(Offer offer) {
        Chip chip = chip(offer.chip);
        boolean isPart = !offer.parts.isEmpty() && offer.parts.get(0).startsWith("slot");
        Device.Builder device = Device.builder(offer.name)
                .physicalId(isPart ? chip.uuid + "/" + offer.name : chip.uuid)
                .attribute(MODEL, offer.model)
                .attribute(UUID, chip.uuid);
        if (isPart) {
            CounterConsumption.Builder slots = CounterConsumption.builder(offer.chip);
            offer.parts.forEach(slot -> slots.counter(slot, 1));
            device.consumes(slots.build());
        }
        if (offer.model.equals("share")) {
            Quantity step = new Quantity("10Gi");
            RequestPolicy policy = RequestPolicy.range(step, new RequestPolicy.ValidRange(step, null, step));
            device.allowMultipleAllocations(true).capacity(MEMORY, new Capacity(new Quantity("80Gi"), policy));
        }
        if (!chip.isHealthy) {
            device.taint(Taint.of(driver + "/" + UNHEALTHY, null, Taint.Effect.NO_SCHEDULE));
        }
        return device.build();
    }

    private void step(String what) throws IOException {
        beforeStep.accept(what);
        Simulation.step("hardware: " + what);
        Fault now = fault;
        if (now == null || --stepsToFault > 0) {
            return;
        }
        fault = null;
        switch (now) {
            case REFUSES -> throw new PrepareException("the device refuses to " + what);
            case FAILS -> throw new IOException("the device failed to " + what);
            case BUG -> throw new NullPointerException("a bug of the provider");
            case ERROR -> throw new NoClassDefFoundError("a broken library");
            case HANGS -> Simulation.await(() -> false, LONGER_THAN_A_CALL.toNanos());
        }
    }
}
