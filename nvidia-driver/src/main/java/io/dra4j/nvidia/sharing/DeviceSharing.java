// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.sharing.ConfigKinds.DeviceConfig;
import io.dra4j.nvidia.sharing.Holders.HeldSharing;
import io.dra4j.nvidia.sharing.SharingStrategy.Resumption;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.SharingRecord;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Shares a node's devices: each group of devices with one configuration is recorded, then shared by its strategy.
 * Thread-safe.
 */
public final class DeviceSharing {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceSharing.class);

    private final List<ConfigType<?>> kinds;
    private final List<SharingStrategy> strategies;
    private final Optional<String> problem;
    private final Object reservation = new Object(); // held only while the journal is written
    private volatile @Nullable DriverContext runtime; // set by start, which precedes all uses
    private volatile boolean hasLeftSettings; // of GPUs without a claim
    private volatile boolean hasFailedToClean; // for a reason that is in the log
    private volatile boolean hasFailedToResume; // likewise

    /**
     * Creates the sharing of a node.
     *
     * @param strategies all strategies that claims of earlier processes may have; a strategy that leaves work to
     * another one comes first
     * @param problem returns why a strategy does not work on this node; empty if it does
     */
    public DeviceSharing(List<ConfigType<?>> kinds, List<SharingStrategy> strategies, Optional<String> problem) {
        this.kinds = List.copyOf(kinds);
        this.strategies = List.copyOf(strategies);
        this.problem = problem;
    }

    public List<ConfigType<?>> kinds() {
        return kinds;
    }

    public void start(DriverContext started) {
        this.runtime = started;
        problem.ifPresent(what -> {
            LOG.warn(what);
            started.notice("sharing", what);
        });
    }

    /** Ensures, before anything changes, that the node has what a claim's configurations need. */
    public void requireThere(AllocatedClaim claim) {
        try {
            claim.devices().stream()
                    .flatMap(device -> settings(device).values().stream())
                    .distinct()
                    .forEach(it -> strategy(it.strategy().name()).requireThere(it));
        } catch (DraException e) { // the message is for the pod's owner
            throw new PrepareException(String.valueOf(e.getMessage()), e);
        }
    }

    public static boolean isWanted(AllocatedClaim claim) {
        return claim.devices().stream().anyMatch(device -> !settings(device).isEmpty());
    }

    /** Returns what a device's configurations request, by the name of the group. */
    private static Map<String, SharingSettings> settings(AllocatedDevice device) {
        Map<String, SharingSettings> settings = new LinkedHashMap<>();
        for (AppliedConfig<?> config : device.configs()) {
            if (config.value() instanceof DeviceConfig given && given.settings() != null) {
                settings.put(config.source() + "-" + config.index(), given.settings());
            }
        }
        return settings;
    }

    /**
     * Shares the devices of a claim whose configurations request it.
     *
     * @param devices the devices of the claim, which exist
     * @return what containers get with each device; nothing for those that are not shared
     * @throws PrepareException if another claim shares a device in another way
     * @throws DraException if a strategy fails; {@link #undo} undoes what was done
     */
    public Map<SharedDevice, ContainerEdits> apply(ClaimRef claim, List<SharedDevice> devices, ClaimRecorder recorder) {
        Map<SharedDevice, ContainerEdits> edits = new HashMap<>();
        for (SharedGroup group : groups(claim, devices)) {
            SharingStrategy strategy = strategy(group.settings().strategy().name());
            reserve(group, strategy, recorder);
            ContainerEdits ofGroup = strategy.apply(group, context(claim, group.name(), recorder));
            group.devices().forEach(device -> edits.put(device, ofGroup));
        }
        return edits;
    }

    private static List<SharedGroup> groups(ClaimRef claim, List<SharedDevice> devices) {
        Map<String, SharingSettings> settings = new LinkedHashMap<>();
        Map<String, List<SharedDevice>> members = new HashMap<>();
        for (SharedDevice device : devices) {
            settings(device.allocated()).forEach((name, given) -> {
                settings.put(name, given);
                members.computeIfAbsent(name, key -> new ArrayList<>()).add(device);
            });
        }
        return settings.entrySet().stream()
                .map(it -> new SharedGroup(claim, it.getKey(), it.getValue(), members.get(it.getKey())))
                .toList();
    }

    private SharingStrategy strategy(String name) {
        return strategies.stream()
                .filter(one -> one.strategy().name().equals(name))
                .findFirst()
                .orElseThrow(
                        () -> new PrepareException("Sharing by %s is not supported by this driver".formatted(name)));
    }

    /**
     * The sharing of a claim that another driver has prepared.
     *
     * @param records as if this driver had shared the devices
     * @param whenTaken stores what is kept outside the journal; to be run when the journal has the claim
     */
    public record Adopted(List<SharingRecord> records, Runnable whenTaken) {

        public Adopted {
            records = List.copyOf(records);
        }
    }

    /**
     * Adopts the sharing of a claim that another driver has prepared; changes nothing.
     *
     * @throws PrepareException if a strategy can't undo what that driver did
     */
    public Adopted adopt(ClaimRef claim, List<SharedDevice> devices) {
        List<SharingRecord> records = new ArrayList<>();
        List<Runnable> whenTaken = new ArrayList<>();
        for (SharedGroup group : groups(claim, devices)) {
            SharingStrategy strategy = strategy(group.settings().strategy().name());
            List<String> targets = strategy.targets(group);
            if (!targets.isEmpty()) {
                whenTaken.add(strategy.adopt(group));
                records.add(
                        new SharingRecord(group.name(), strategy.strategy().name(), targets, strategy.first(group)));
            }
        }
        return new Adopted(records, () -> whenTaken.forEach(Runnable::run));
    }

    /**
     * Remembers that another driver may share GPUs for a claim about which nothing else is known; its settings are
     * undone when no claim can have them. To be run when the journal has the claim.
     */
    public void suspect(List<String> gpus) {
        strategies.forEach(strategy -> strategy.suspect(gpus));
    }

    /** Ensures that two groups that can't share a target are never both recorded. */
    private void reserve(SharedGroup group, SharingStrategy strategy, ClaimRecorder recorder) {
        List<String> targets = strategy.targets(group);
        if (targets.isEmpty()) {
            return;
        }
        synchronized (reservation) {
            for (String target : targets) {
                context(group.claim(), group.name(), recorder)
                        .others(target)
                        .forEach(other -> requireNoConflict(target, group, strategy, other));
            }
            recorder.record(
                    new SharingRecord(group.name(), strategy.strategy().name(), targets, strategy.first(group)));
        }
    }

    private static void requireNoConflict(
            String target, SharedGroup group, SharingStrategy strategy, HeldSharing other) {
        String wanted = strategy.strategy().name();
        String present = other.record().strategy();
        Optional<String> conflict = present.equals(wanted)
                ? strategy.conflict(group, other.record())
                : Optional.of("it uses %s, and this claim asks for %s".formatted(present, wanted));
        if (conflict.isPresent()) {
            ClaimRef holder = other.claim();
            throw new PrepareException("%s is shared by claim %s/%s: %s"
                    .formatted(target, holder.namespace(), holder.name(), conflict.get()));
        }
    }

    private SharingContext context(ClaimRef claim, String group, ClaimRecorder recorder) {
        return new SharingContext(claim, group, recorder, Objects.requireNonNull(runtime, "not started"));
    }

    /**
     * Undoes all sharing of a claim that is recorded.
     *
     * @throws DraException if something may be left; what is left stays recorded
     */
    public void undo(ClaimRef claim, ClaimRecorder recorder) {
        List<SharingRecord> latestFirst = new ArrayList<>(recorder.state().sharing());
        Collections.reverse(latestFirst);
        for (SharingRecord recorded : latestFirst) {
            SharingContext context = context(claim, recorded.group(), recorder);
            strategy(recorded.strategy()).undo(recorded, context);
            recorder.forget(recorded.group());
            if (context.isLeft()) { // now, because a clean skips what a record contains
                left();
            }
        }
    }

    /** Returns whether settings of GPUs that no claim has wait for {@link #clean}. */
    public boolean hasLeftSettings() {
        return hasLeftSettings;
    }

    /** Restarts parts of the sharing of prepared claims that have ended. */
    public void resume() {
        Map<String, Resumption> round = new HashMap<>(); // by strategy
        boolean hasFailed = false;
        try {
            Objects.requireNonNull(runtime, "not started").held().stream()
                    .filter(claim -> claim.phase() == Phase.PREPARED)
                    .forEach(claim -> resume(claim, round));
        } catch (DraException e) { // the journal can't be read
            LOG.atLevel(hasFailedToResume ? Level.DEBUG : Level.WARN)
                    .setCause(e)
                    .log("The sharing of claims can't be resumed now; will be retried");
            hasFailed = true;
        }
        hasFailedToResume = hasFailed;
    }

    private void resume(HeldClaim claim, Map<String, Resumption> round) {
        try {
            HeldSharing.of(claim)
                    .map(HeldSharing::record)
                    .forEach(record -> round.computeIfAbsent(
                                    record.strategy(), name -> strategy(name).resumption())
                            .resume(claim.ref(), record));
        } catch (DraException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("claim", claim.ref())
                    .log("The sharing of a claim can't be resumed now; will be retried");
        }
    }

    /** Returns what belongs to no claim, so that {@link #clean} undoes it; changes nothing. */
    public Map<String, String> leftOver(Holders holders) {
        Map<String, String> left = new TreeMap<>();
        strategies.forEach(one -> left.putAll(one.leftOver(holders)));
        return left;
    }

    /**
     * Undoes what belongs to no claim.
     *
     * @param holders returns what is in use now
     * @return whether only settings of GPUs are left, as {@link #hasLeftSettings} returns
     */
    public boolean clean(Supplier<Holders> holders) {
        boolean isClean = true;
        boolean hasFailed = false;
        hasLeftSettings = false;
        for (SharingStrategy strategy : strategies) {
            try {
                isClean &= strategy.clean(holders, this::left);
            } catch (DraException e) { // for example, the record of a claim is a newer driver's
                LOG.atLevel(hasFailedToClean ? Level.DEBUG : Level.WARN)
                        .setCause(e)
                        .log("Remains of claims can't be cleaned up now; will be retried");
                hasFailed = true;
                left();
            }
        }
        hasFailedToClean = hasFailed;
        return isClean && !hasFailed;
    }

    private void left() {
        hasLeftSettings = true;
    }
}
