// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mps;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.install.MpsProgram;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.mig.GpuLocks;
import io.dra4j.nvidia.sharing.ComputeModes;
import io.dra4j.nvidia.sharing.Holders;
import io.dra4j.nvidia.sharing.SharedDevice;
import io.dra4j.nvidia.sharing.SharedGroup;
import io.dra4j.nvidia.sharing.SharingContext;
import io.dra4j.nvidia.sharing.SharingSettings;
import io.dra4j.nvidia.sharing.SharingSettings.StrategyName;
import io.dra4j.nvidia.sharing.SharingStrategy;
import io.dra4j.nvidia.state.SharingRecord;
import io.dra4j.runtime.RecordState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Shares a group of devices by MPS, with one control daemon per group, which has exclusive use of its GPUs.
 *
 * <p>Everything to undo is found by the group's directory and the daemon's environment, even if the record is lost.
 * Thread-safe: one thread at a time changes a group, and groups do not wait for each other.
 */
public final class MpsSharing implements SharingStrategy {

    private static final Logger LOG = LoggerFactory.getLogger(MpsSharing.class);
    private static final RecordState<DaemonSettings> FORM = RecordState.of(1, DaemonSettings.class);
    private static final Duration LONGEST = Duration.ofSeconds(20); // of one step
    private static final Duration LONGEST_RESUME = Duration.ofSeconds(5);
    private static final Duration LONGEST_IF_SILENT = Duration.ofSeconds(1); // since each interval asks again
    private static final List<String> OPTIONS = List.of("rw", "nosuid", "nodev", "bind");
    private static final String PIPES = "/tmp/nvidia-mps"; // in containers

    private static final String EXCLUSIVE = "EXCLUSIVE_PROCESS"; // so that only the daemon's server uses a GPU

    private final Path root;
    private final ComputeModes modes;
    private final MpsNamespace namespace;
    private final ControlDaemon daemon;
    private final boolean hasShares;
    private final GpuLocks locks = new GpuLocks(); // by the names of groups' directories
    private final Set<GroupFolder> silent = ConcurrentHashMap.newKeySet(); // with daemons that did not answer

    /**
     * Creates the strategy.
     *
     * @param modes the compute modes, of this strategy and of others
     */
    public MpsSharing(Path directory, ComputeModes modes, MpsProgram program, boolean hasShares) {
        this.root = directory.resolve("mps");
        this.modes = modes;
        this.namespace = MpsNamespace.in(directory);
        this.daemon = new ControlDaemon(program, namespace);
        this.hasShares = hasShares;
    }

    @Override
    public StrategyName strategy() {
        return StrategyName.MPS;
    }

    @Override
    public void requireThere(SharingSettings settings) {
        daemon.program().requireThere();
    }

    @Override
    public List<String> targets(SharedGroup group) {
        if (hasShares) {
            throw new PrepareException(
                    "MPS is not available with --consumable-shares: a daemon uses its devices for one claim; start the driver without shares, or request shares without MPS");
        }
        DaemonSettings.of(group);
        return group.devices().stream().map(SharedDevice::uuid).distinct().toList();
    }

    @Override
    public ProviderState first(SharedGroup group) {
        return FORM.write(DaemonSettings.of(group));
    }

    @Override
    public Optional<String> conflict(SharedGroup wanted, SharingRecord other) {
        return Optional.of(
                "its MPS daemon has exclusive use of the device; use one claim for all containers, or another device");
    }

    @Override
    public ContainerEdits apply(SharedGroup group, SharingContext context) {
        GroupFolder folder = GroupFolder.of(root, group.claim().uid(), group.name());
        Supplier<Duration> timeout = () -> context.timeout(LONGEST);
        locks.run(folder.name(), () -> {
            if (folder.exists()) { // of an earlier boot
                undo(folder, timeout);
            }
            folder.create();
            begin(folder, DaemonSettings.of(group), timeout);
        });
        return ContainerEdits.builder()
                .env(DaemonProcesses.VARIABLE, PIPES)
                .mount(new Mount(folder.memory().toString(), "/dev/shm", OPTIONS, null))
                .mount(new Mount(folder.pipes().toString(), PIPES, OPTIONS, null))
                .build();
    }

    private void begin(GroupFolder folder, DaemonSettings settings, Supplier<Duration> timeout) {
        namespace.mount(folder.memory(), timeout.get());
        for (Path shared : List.of(folder.pipes(), folder.memory())) {
            namespace.label(shared, daemon.program().selinux(), timeout.get());
        }
        changeModes(settings, timeout);
        try {
            daemon.start(folder, settings, timeout);
            daemon.limit(folder, settings, timeout);
        } catch (DraException e) { // without limits it must not serve clients, even if it answers later
            try {
                daemon.stop(folder, timeout);
            } catch (DraException left) { // the call may have no time for its end
                e.addSuppressed(left);
            }
            throw e;
        }
        LOG.atInfo()
                .addKeyValue("devices", settings.devices())
                .addKeyValue("path", folder.path())
                .log("Started an MPS daemon");
    }

    private void changeModes(DaemonSettings settings, Supplier<Duration> timeout) {
        try {
            modes.change(settings.gpus(), EXCLUSIVE, timeout);
        } catch (SmiException e) { // the message is for the pod's owner
            throw new PrepareException("The GPUs can't be reserved for an MPS daemon: " + e.getMessage(), e);
        }
    }

    @Override
    public Runnable adopt(SharedGroup group) {
        throw new PrepareException("it shares devices by MPS, and only the driver that started the daemon can stop it");
    }

    @Override
    public Resumption resumption() {
        Set<String> running = DaemonProcesses.running();
        return (claim, recorded) -> resume(claim, recorded, running);
    }

    private void resume(ClaimRef claim, SharingRecord recorded, Set<String> running) {
        GroupFolder folder = GroupFolder.of(root, claim.uid(), recorded.group());
        Supplier<Duration> timeout = () -> LONGEST_RESUME;
        locks.run(folder.name(), () -> {
            boolean wasSilent = silent.remove(folder);
            boolean hasEnded = folder.exists()
                    && !running.contains(DaemonProcesses.marker(folder))
                    && !DaemonProcesses.isRunning(folder); // its claim may be unprepared and prepared again meanwhile
            if (hasEnded) {
                LOG.atWarn()
                        .addKeyValue("claim", claim)
                        .addKeyValue("output", ControlDaemon.tail(folder.output()))
                        .log("The MPS daemon of a claim has ended; it is restarted");
                daemon.stop(folder, timeout);
                begin(folder, settings(recorded), timeout);
            } else if (folder.exists() && !daemon.answers(folder, wasSilent ? LONGEST_IF_SILENT : LONGEST_RESUME)) {
                silent.add(folder);
                LOG.atLevel(wasSilent ? Level.DEBUG : Level.WARN) // its clients may still work
                        .addKeyValue("claim", claim)
                        .log(
                                "The MPS daemon of a claim runs, but does not answer; delete the claim's pods if they hang");
            }
        });
    }

    private static DaemonSettings settings(SharingRecord recorded) {
        return FORM.read(Objects.requireNonNull(recorded.state(), "recorded with its group"));
    }

    @Override
    public void undo(SharingRecord recorded, SharingContext context) {
        GroupFolder folder = GroupFolder.of(root, context.claim().uid(), recorded.group());
        locks.run(folder.name(), () -> {
            Supplier<Duration> timeout = () -> context.timeout(LONGEST);
            undo(folder, timeout);
            for (String gpu : recorded.targets()) {
                context.putBack(gpu, () -> modes.restore(gpu, timeout));
            }
        });
    }

    /** Ends the daemon, and deletes its directory last: while that exists, something may be left. */
    private void undo(GroupFolder folder, Supplier<Duration> timeout) {
        silent.remove(folder);
        daemon.stop(folder, timeout);
        if (folder.exists()) {
            namespace.unmount(folder.memory(), timeout.get());
            folder.delete();
        }
    }

    @Override
    public Map<String, String> leftOver(Holders holders) {
        return folders().stream()
                .filter(folder -> !folder.isOfOne(holders.claims()))
                .collect(Collectors.toMap(folder -> folder.path().toString(), folder -> "MPS in " + folder.path()));
    }

    @Override
    public boolean clean(Supplier<Holders> holders, Runnable left) {
        boolean isClean = true;
        for (GroupFolder folder : folders()) {
            isClean &= locks.with(folder.name(), () -> clean(folder, holders.get()));
        }
        return isClean;
    }

    private List<GroupFolder> folders() {
        if (!Files.isDirectory(root)) {
            return List.of();
        }
        try (Stream<Path> found = Files.list(root)) {
            return found.filter(Files::isDirectory)
                    .sorted()
                    .map(GroupFolder::new)
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            throw new DraException("Can't list %s: %s".formatted(root, e.getMessage()), e);
        }
    }

    private boolean clean(GroupFolder folder, Holders holders) {
        if (folder.isOfOne(holders.claims())) {
            return true;
        }
        try {
            undo(folder, () -> LONGEST);
            LOG.atWarn().addKeyValue("path", folder.path()).log("Cleaned up MPS that belongs to no claim");
            return true;
        } catch (DraException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("path", folder.path())
                    .log("MPS that belongs to no claim can't be cleaned up now; will be retried");
            return false;
        }
    }
}
