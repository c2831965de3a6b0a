// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.FeatureGates;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.simulation.node.Plugin;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.world.Violation.Invariant;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The conditions that must hold of a driver, by what the kubelet was told, by its files, by the hardware and by the API server.
 *
 * <p>The methods that note something check what is cheap; {@link #killed} and {@link #quiet} check more. Each throws a
 * {@link Violation}.
 */
public final class Invariants {

    private static final Set<HeldClaim.Phase> DURABLE = EnumSet.of(HeldClaim.Phase.PREPARED, HeldClaim.Phase.DAMAGED);

    private final NodeFiles files;
    private final ClusterObjects api;
    private final Hardware hardware;
    private final Quiet quiet;
    private final Map<String, Told> told = new LinkedHashMap<>(); // by UID
    private final Map<String, List<Process>> preparing = new LinkedHashMap<>(); // calls in progress, by UID
    private final Map<String, Set<Process>> asked = new LinkedHashMap<>(); // to prepare, by UID
    private final PublishedPools pools;
    private final Map<String, Process> overtaken = new LinkedHashMap<>(); // prepares in progress, by UID
    private final Map<String, ClaimRef> forgotten = new LinkedHashMap<>(); // by the kubelet, while pods ran
    private final Map<String, Map<String, String>> named =
            new LinkedHashMap<>(); // hardware of claims, by UID and device
    private @Nullable Violation written;
    private boolean hasRebooted;
    private long answers;
    private Runnable afterAnswer = () -> {};

    /** A claim that is prepared in this boot, with what the kubelet was told of it. */
    private record Told(
            ClaimRef ref, List<Plugin.Device> devices, List<HeldDevice> allocated, String spec, Instant since) {}

    /**
     * Invariants of a node.
     *
     * @param paths a path on the node's disk, as a process sees it that nothing happens to
     */
    public Invariants(
            Site site, ClusterObjects api, FeatureGates gates, Function<String, Path> paths, Hardware hardware) {
        this.files = new NodeFiles(site.driver(), paths);
        this.api = api;
        this.hardware = hardware;
        this.pools = new PublishedPools(hardware);
        this.quiet = new Quiet(site, api, gates, files, hardware);
    }

    /** A driver on a node. */
    public record Site(String driver, String node) {}

    NodeFiles files() {
        return files;
    }

    /** Runs something as soon as the kubelet has got an answer. */
    public void afterEachAnswer(Runnable action) {
        afterAnswer = action;
    }

    /** Returns how many claims were answered as prepared or unprepared. */
    public long answers() {
        return answers;
    }

    /** Notes that a process is asked to prepare a claim. */
    void prepareBegins(String uid, Process process) {
        overtaken.remove(uid);
        asked.computeIfAbsent(uid, unseen -> new HashSet<>()).add(process);
        preparing.computeIfAbsent(uid, unseen -> new ArrayList<>()).add(process);
    }

    /** Notes that the process has ended a call, though the kubelet may have given it up before. */
    void prepareEnds(String uid, Process process) {
        List<Process> calls = preparing.getOrDefault(uid, new ArrayList<>());
        calls.remove(process);
        if (calls.isEmpty() && !process.isDead() && overtaken.remove(uid, process)) {
            judge(() -> nothingLeft(uid));
        }
    }

    /** Checks an answer by which a claim is prepared, and notes it. */
    void prepared(ClaimRef ref, List<Plugin.Device> devices) {
        answers++;
        Told before = told.get(ref.uid());
        if (before != null) {
            require(
                    before.devices.equals(devices),
                    Invariant.SAME_ANSWER,
                    "claim %s is answered as %s, and was as %s at %s",
                    ref,
                    devices,
                    before.devices,
                    before.since);
        }
        String spec = files.specText(ref.uid()).orElse("");
        require(
                before == null || before.spec.equals(spec),
                Invariant.SPEC_THERE,
                "claim %s is answered again, and its spec has changed to: %s",
                ref,
                spec);
        requireIn(spec, ref, devices);
        requireNamed(spec, ref, devices);
        requireDescribed(ref, devices);
        List<HeldDevice> devicesNow = allocated(ref);
        Instant since = before == null ? Simulation.now() : before.since;
        told.put(ref.uid(), new Told(ref, devices, devicesNow, spec, since));
        exclusive();
        require(
                hardware.of(ref.uid()).size()
                        >= devicesNow.stream().mapToInt(hardware::needed).sum(),
                Invariant.HARDWARE_SET,
                "claim %s is prepared with %s, and the hardware is set to %s",
                ref,
                devices,
                hardware.of(ref.uid()));
        durable();
        afterAnswer.run();
    }

    private static void requireIn(String spec, ClaimRef ref, List<Plugin.Device> devices) {
        Map<String, JsonNode> there;
        try {
            there = NodeFiles.cdiDevices(spec);
        } catch (IOException e) {
            throw new Violation(Invariant.SPEC_THERE, "claim %s is prepared, and its spec is: %s".formatted(ref, spec));
        }
        for (Plugin.Device device : devices) {
            String variable = "\"" + ModelProvider.variable(device.device()) + "=";
            boolean isWhole = !device.cdiIds().isEmpty()
                    && device.cdiIds().stream()
                            .allMatch(id -> there.containsKey(id)
                                    && Objects.requireNonNull(there.get(id))
                                            .path("env")
                                            .toString()
                                            .contains(variable));
            require(
                    isWhole,
                    Invariant.SPEC_THERE,
                    "claim %s is prepared with %s, and its spec is: %s",
                    ref,
                    device,
                    spec);
        }
    }

    private void requireNamed(String spec, ClaimRef ref, List<Plugin.Device> devices) {
        Map<String, String> hardwareThen = named.getOrDefault(ref.uid(), Map.of());
        for (Plugin.Device device : devices) {
            String uuid = hardwareThen.get(device.device());
            require(
                    uuid == null || spec.contains(ModelProvider.variable(device.device()) + "=" + uuid + " "),
                    Invariant.AS_NAMED,
                    "claim %s was allocated %s when that was %s, and its spec is: %s",
                    ref,
                    device.device(),
                    uuid,
                    spec);
        }
    }

    private void requireDescribed(ClaimRef ref, List<Plugin.Device> devices) {
        for (Plugin.Device device : devices) {
            require(
                    !hardware.isDescribed(device.device())
                            || files.metadata(ref.uid()).contains("\"" + device.device() + "\""),
                    Invariant.SPEC_THERE,
                    "claim %s is prepared with %s, and its metadata is: %s",
                    ref,
                    device.device(),
                    files.metadata(ref.uid()));
        }
    }

    private List<HeldDevice> allocated(ClaimRef ref) {
        List<HeldDevice> devices = new ArrayList<>();
        claim(ref).at("/status/allocation/devices/results").forEach(one -> devices.add(held(one)));
        return devices;
    }

    private JsonNode claim(ClaimRef ref) {
        return api.find("resourceclaims", ref.namespace(), ref.name())
                .filter(object -> object.at("/metadata/uid").asText().equals(ref.uid()))
                .orElseGet(MissingNode::getInstance);
    }

    static HeldDevice held(JsonNode result) {
        HeldDevice.Builder device = HeldDevice.builder(
                        result.path("request").asText(),
                        new PoolName(result.path("pool").asText()),
                        new DeviceName(result.path("device").asText()))
                .shareId(result.path("shareID").textValue())
                .adminAccess(result.path("adminAccess").asBoolean());
        result.path("consumedCapacity")
                .properties()
                .forEach(one -> device.consumedCapacity(
                        one.getKey(), new Quantity(one.getValue().asText())));
        return device.build();
    }

    /** Notes that the kubelet asks to unprepare a claim: from then on it may be gone. */
    void unprepareBegins(String uid) {
        told.remove(uid);
        forgotten.remove(uid);
        asked.remove(uid);
    }

    /** Checks that the hardware may be cleared of what a claim has set. */
    public void cleared(String uid) {
        judge(() -> {
            require(!told.containsKey(uid), Invariant.HARDWARE_SET, "claim %s is prepared, and was cleared", uid);
            require(
                    Optional.ofNullable(forgotten.get(uid))
                            .filter(ref -> !claim(ref).at("/status/reservedFor").isEmpty())
                            .isEmpty(),
                    Invariant.HARDWARE_SET,
                    "claim %s is reserved for a pod that runs, and was cleared",
                    uid);
            files.records().stream()
                    .filter(record -> record.ref().uid().equals(uid))
                    .forEach(record -> require(
                            record.phase() != HeldClaim.Phase.PREPARED,
                            Invariant.HARDWARE_SET,
                            "claim %s is recorded as prepared, and was cleared",
                            uid));
        });
    }

    /** Checks an answer of a process by which a claim is unprepared. */
    void unprepared(String uid, Process by) {
        answers++;
        List<Process> calls = preparing.getOrDefault(uid, new ArrayList<>());
        calls.removeIf(Process::isDead);
        if (calls.isEmpty()) {
            preparing.remove(uid);
            nothingLeft(uid);
        } else if (new HashSet<>(calls).equals(Set.of(by))) {
            overtaken.put(uid, by);
        }
        afterAnswer.run();
    }

    private void nothingLeft(String uid) {
        String left = "claim %s was unprepared, and there is still %s";
        files.records().stream()
                .filter(record -> record.ref().uid().equals(uid))
                .forEach(record -> require(false, Invariant.NOTHING_LEFT, left, uid, record));
        require(files.of(uid).isEmpty(), Invariant.NOTHING_LEFT, left, uid, files.of(uid));
        require(hardware.of(uid).isEmpty(), Invariant.NOTHING_LEFT, left, uid, hardware.of(uid));
    }

    /** Notes that the kubelet has forgotten a claim: the driver may unprepare it as soon as the API has it over. */
    void forgotten(String uid) {
        Optional.ofNullable(told.remove(uid)).ifPresent(claim -> forgotten.put(uid, claim.ref));
    }

    /** Notes that a claim is allocated, with the hardware of each device by the slices that it was chosen from. */
    public void allocated(String uid, Map<String, String> hardwareThen) {
        named.put(uid, hardwareThen);
    }

    /**
     * Notes a write of a slice, in the middle of it: what is wrong is thrown by the next check.
     *
     * @param before the slice before, if there was one
     * @param after the slice that is there now, if there is one
     */
    public void sliceWritten(@Nullable JsonNode before, @Nullable JsonNode after) {
        if (written == null) {
            written = pools.written(before, after)
                    .map(wrong -> new Violation(Invariant.WRITES, wrong + ", at " + Simulation.now()))
                    .orElse(null);
        }
    }

    /** Notes a reboot, of which what was answered or set is durable; nothing that was told holds any more. */
    public void rebooted() {
        durable();
        hasRebooted = true;
        told.clear();
        asked.clear();
        preparing.clear();
        overtaken.clear();
        forgotten.clear();
    }

    /**
     * Checks that a power failure would take back no record of what was answered, or is set.
     *
     * <p>One that another process left in the page cache, and that nothing was done by, may go.
     */
    public void durable() {
        if (told.isEmpty() && hardware.settings().isEmpty()) {
            return;
        }
        JournalReading left = files.durable();
        Map<String, HeldClaim.Phase> phases = new LinkedHashMap<>();
        left.claims().forEach(record -> phases.put(record.ref().uid(), record.phase()));
        told.forEach((uid, claim) -> require(
                DURABLE.contains(phases.getOrDefault(uid, HeldClaim.Phase.PREPARING))
                        || asked.getOrDefault(uid, Set.of()).size() > 1,
                Invariant.RECORDED,
                "claim %s is prepared since %s, and after a power failure its record would be %s",
                claim.ref,
                claim.since,
                phases.get(uid)));
        hardware.settings()
                .forEach(setting -> require(
                        !left.loss().complete() || phases.containsKey(setting.claim()),
                        Invariant.RECORDED,
                        "%s is set, and after a power failure there would be no record of the claim",
                        setting));
    }

    /** Returns whether lines of the journal are damaged or missing. */
    public boolean isDamaged() {
        return files.journal().loss().damagedLines() > 0;
    }

    /** Returns whether the journal names all claims that it has lost; if not, the next prepare looks for them. */
    public boolean areAllClaimsKnown() {
        return files.journal().loss().complete();
    }

    /** Checks what can be checked while a process is dead, or in the middle of its work. */
    public void killed() {
        specs();
        exclusive();
        recorded();
        durable();
    }

    /** Checks that what the journal has as prepared is. */
    private void recorded() {
        files.records().stream()
                .filter(record -> record.phase() == HeldClaim.Phase.PREPARED && files.isOfThisBoot(record))
                .forEach(record -> require(
                        files.specText(record.ref().uid()).isPresent()
                                && hardware.of(record.ref().uid()).size()
                                        >= record.devices().stream()
                                                .mapToInt(hardware::needed)
                                                .sum(),
                        Invariant.RECORDED,
                        "recorded is %s, and the hardware is set to %s",
                        record,
                        hardware.of(record.ref().uid())));
    }

    /** Checks that the journal is whole, and that no device is given away twice: by hardware, answers or records. */
    void exclusive() {
        if (written != null) {
            throw written;
        }
        require(
                hasRebooted || !isDamaged(),
                Invariant.RECORDED,
                "the journal has %s, and power was never lost",
                files.journal().loss());
        require(hardware.misuses().isEmpty(), Invariant.PROVIDER_CALLS, "%s", hardware.misuses());
        require(
                hardware.conflicts().isEmpty(),
                Invariant.EXCLUSIVE,
                "the hardware was set to %s",
                hardware.conflicts());
        Exclusive byAnswers = new Exclusive(hardware, "told to be prepared");
        told.values().forEach(claim -> byAnswers.add(claim.ref + " since " + claim.since, claim.allocated));
        Exclusive byRecords = new Exclusive(hardware, "recorded");
        files.records().stream()
                .filter(record -> record.phase() != HeldClaim.Phase.DAMAGED && record.damaged() == null)
                .forEach(record -> byRecords.add(record.ref() + " " + record.phase(), record.devices()));
    }

    /** Checks that claims that are prepared have the specs that they were answered with. */
    void specs() {
        for (Told claim : told.values()) {
            requireDescribed(claim.ref, claim.devices);
            String now = files.specText(claim.ref.uid()).orElse("none");
            require(
                    now.equals(claim.spec),
                    Invariant.SPEC_THERE,
                    "claim %s is prepared since %s, and its spec is now: %s",
                    claim.ref,
                    claim.since,
                    now);
        }
    }

    /** Checks all of it, when faults have ended and time has passed. */
    public void quiet(Collection<Pod> pods) {
        specs();
        exclusive();
        quiet.check(pods);
    }

    /** Takes note of the API server's objects and the driver's files, before a restart that changes nothing. */
    public Snapshot snapshot() {
        return Snapshot.of(api, files);
    }

    /** Checks that nothing has changed since. */
    public void unchanged(Snapshot before) {
        before.requireSame(Snapshot.of(api, files));
    }

    /** Lets a violation end the run, which what a process throws does not. */
    static void judge(Runnable check) {
        try {
            check.run();
        } catch (Violation e) {
            Simulation.after(Duration.ZERO, e.invariant().name(), () -> {
                throw e;
            });
        }
    }

    static void require(boolean condition, Invariant invariant, String format, Object... args) {
        if (!condition) {
            throw new Violation(invariant, format.formatted(args));
        }
    }
}
