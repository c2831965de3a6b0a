// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.nvidia.health.DeviceFaults;
import io.dra4j.nvidia.health.GpuWatch;
import io.dra4j.nvidia.health.HealthPolicy;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.mig.ForeignInstances;
import io.dra4j.nvidia.mig.ForeignInstances.ForeignInstance;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.state.GpuFiles;
import io.dra4j.nvidia.vfio.Passthrough;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The GPUs of a node, and their existing or possible MIG devices. */
final class NvidiaDeviceProvider implements DeviceProvider {

    private static final Logger LOG = LoggerFactory.getLogger(NvidiaDeviceProvider.class);

    private final Nvml nvml;
    private final NodeDevices.Settings settings;
    private final DeviceSharing sharing;
    private final HealthPolicy policy;
    private final MigDeviceAllocator allocator;
    private final NvidiaClaims claims;
    private final Passthrough passthrough;
    private final PartitionClaims partitions;
    private final DeviceFaults faults;
    private final Set<String> measuring = ConcurrentHashMap.newKeySet(); // UUIDs of GPUs
    private volatile DriverSnapshot last = DriverSnapshot.NONE;
    private volatile boolean isUnreadable;
    private volatile boolean isSuspended;
    private @Nullable Lease givenBack; // of suspend and resume, which never run concurrently
    private @Nullable DriverContext driver; // set by start, which precedes all calls but inventory()
    private @Nullable GpuWatch watch;
    private boolean isWatching; // of the thread that reads the inventory

    NvidiaDeviceProvider(
            Nvml nvml,
            NodeDevices.Settings settings,
            Edits edits,
            HealthPolicy policy,
            DeviceSharing sharing,
            Passthrough passthrough,
            PartitionClaims partitions) {
        this.nvml = nvml;
        this.settings = settings;
        this.sharing = sharing;
        this.policy = policy;
        GpuFiles modes = new GpuFiles(policy.stateFile().beside("mig-modes"), nvml::moduleLoad);
        this.allocator = new MigDeviceAllocator(nvml, modes, this::isModeAutomatic);
        this.passthrough = passthrough;
        this.partitions = partitions;
        MachineClaims machines = new MachineClaims(passthrough, allocator, this::readAgain);
        this.claims = new NvidiaClaims(nvml, edits, allocator, sharing, machines, partitions);
        this.faults = new DeviceFaults(policy);
    }

    private DriverSnapshot read() {
        return DriverSnapshot.read(nvml, settings, passthrough, this::held, nvml.known());
    }

    List<HeldClaim> held() {
        return driver == null ? List.of() : driver.held();
    }

    private DriverContext driver() {
        return Objects.requireNonNull(driver, "not started");
    }

    /** Handles a change of the set of GPUs bound to NVIDIA's driver. */
    private void readAgain() {
        try {
            last = read();
        } catch (NvmlException e) { // the next reading reports more
            LOG.atDebug().setCause(e).log("GPUs can't be read after a change of a driver");
        }
        driver().inventoryChanged();
    }

    private boolean isModeAutomatic(String gpu) {
        return settings.dynamicMig()
                && last.reading().gpus().stream()
                        .filter(each -> each.uuid().equals(gpu))
                        .anyMatch(each -> each.switchesMigModeAtOnce());
    }

    @Override
    public List<ConfigType<?>> configTypes() {
        return sharing.kinds();
    }

    /**
     * NVML is not called yet: it may be absent or hang, or wait for claims to be unprepared. The runtime reads the
     * inventory next, and continues without it if that takes long.
     */
    @Override
    public void start(DriverContext started) {
        driver = started;
        sharing.start(started);
        HealthStateFile.State before = policy.stateFile().read();
        nvml.recall(before.gpus(), Passthrough.lent(started.held()));
        faults.recall(before.errors(), before.exceeded());
        allocator.recall(before.ended());
        allocator.start(started);
        watch = new GpuWatch(nvml, new WatchedNode(started), faults, policy, started.clock());
    }

    private final class WatchedNode implements GpuWatch.Node {
        private final DriverContext runtime;
        private boolean isSettled; // of the watch's thread

        WatchedNode(DriverContext runtime) {
            this.runtime = runtime;
        }

        @Override
        public Reading last() {
            return last.reading();
        }

        @Override
        public boolean isUnreadable() {
            return isUnreadable;
        }

        @Override
        public boolean isSuspended() {
            return isSuspended;
        }

        @Override
        public boolean wantsEvents() {
            if (passthrough.isChanging() || partitions.isChanging() || isWithoutNvml()) {
                return false; // a session would keep the GPU from being released, or is not available
            }
            return switch (policy.watch()) {
                case always -> true;
                case never -> false;
                case auto -> settings.dynamicMig() || mayHaveClaims();
            };
        }

        private boolean mayHaveClaims() {
            try {
                return !runtime.held().isEmpty();
            } catch (DraException e) { // of the journal; unknown does not mean none
                return true;
            }
        }

        private boolean isWithoutNvml() {
            boolean wasNeverRead = last == DriverSnapshot.NONE;
            return wasNeverRead || (passthrough.isOn() && last.reading().gpus().isEmpty());
        }

        @Override
        public void changed() {
            runtime.inventoryChanged();
        }

        @Override
        public void resume() {
            if (isUnreadable) {
                return;
            }
            sharing.resume();
            if (sharing.hasLeftSettings()) {
                claims.clean(runtime, last, null);
            }
        }

        @Override
        public void beforeReading() {
            claims.restoreModes(runtime, last, null);
            partitions.retry(last, runtime);
        }

        @Override
        public boolean settled() {
            if (isUnreadable) {
                return false;
            }
            boolean isClean = claims.clean(runtime, last, null);
            if (settings.dynamicMig() && !isSettled) {
                handleForeignInstances(runtime);
            }
            isSettled = true; // only the clean is retried
            return isClean;
        }
    }

    private void followInstances(DriverContext runtime) {
        try {
            nvml.inOneSession(() -> {
                allocator.follow(() -> NvidiaClaims.migStates(runtime));
                return true;
            });
        } catch (DraException e) { // a newer driver's record; unprepare reports more
            LOG.atDebug().setCause(e).log("The instances of claims can't be tracked");
        }
    }

    /** Logs each problem once while it is unchanged. */
    private static void logProblems(NodeDevices before, NodeDevices now) {
        now.inventory().leftOut().stream()
                .filter(one -> !before.inventory().leftOut().contains(one))
                .forEach(one -> warn(one.device(), one.reason(), "Hardware is left out"));
        now.notes().stream()
                .filter(one -> !before.notes().contains(one))
                .forEach(one -> warn(one.subject(), one.reason(), "Reading of NVML is incomplete"));
    }

    private static void warn(String device, String reason, String message) {
        LOG.atWarn().addKeyValue("device", device).addKeyValue("reason", reason).log(message);
    }

    private void handleForeignInstances(DriverContext runtime) {
        ForeignInstances foreign = allocator.foreignInstances(() -> NvidiaClaims.migStates(runtime));
        try {
            List<ForeignInstance> found = foreign.find(last.reading().present());
            boolean isCertain = runtime.held().stream().noneMatch(claim -> claim.phase() == Phase.DAMAGED);
            if (policy.destroyUnknown() && isCertain) {
                foreign.destroy(found);
            } else {
                foreign.report(found);
            }
        } catch (DraException e) {
            LOG.atWarn().setCause(e).log("GPU instances without a claim can't be determined; all instances stay");
        }
    }

    @Override
    public Inventory inventory() {
        try {
            Inventory inventory = readInventory();
            isUnreadable = false;
            return inventory;
        } catch (NvmlException e) {
            if (e.reason() == Reason.GIVEN_BACK) { // on request, so nothing has changed
                return faults.tainted(last.devices());
            }
            isUnreadable = true;
            throw e;
        } finally {
            startWatch();
        }
    }

    /** Runs after the first reading: keeps a session, in which GPUs are watched and instances followed. */
    private void startWatch() {
        if (!isWatching && watch != null) {
            watch.start();
            isWatching = true;
            followInstances(driver());
        }
    }

    private Inventory readInventory() {
        DriverSnapshot before = last;
        DriverSnapshot now = read();
        last = now;
        logProblems(before.devices(), now.devices());
        faults.lost(now.reading().lost())
                .forEach(gpu -> LOG.atError()
                        .addKeyValue("gpu", gpu)
                        .log("GPU has fallen off the bus; its devices are tainted"));
        if (driver != null) {
            followInstances(driver);
        }
        findUnrestored(now);
        Inventory tainted = faults.tainted(now.devices()); // first, because published slices outlive the driver
        policy.stateFile().write(now.known(), faults.errors(), faults.exceeded(), allocator.ended());
        if (driver != null) {
            driver.reportHealth(faults.reports(now.devices(), now.unknown()));
        }
        return tainted;
    }

    private void findUnrestored(DriverSnapshot now) {
        try {
            Set<String> unrestored = new HashSet<>(partitions.unrestored(now));
            unrestored.addAll(driver == null ? Set.of() : claims.unrestored(driver, now));
            faults.unrestored(unrestored);
        } catch (DraException e) { // a newer driver's record; unprepare reports more
            LOG.atDebug().setCause(e).log("Settings that were not restored can't be determined; their taints stay");
        }
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        try {
            Supplier<PreparedClaim> work = () -> claims.prepare(claim, latest(), driver(), context);
            return keepsNoSession(claim) ? work.get() : nvml.inOneSession(work);
        } catch (NvmlException e) { // the message is also for the pod's owner
            throw new PrepareException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Whole GPUs are only checked, unless they are shared, leave MIG mode for the claim, or form a partition. */
    @Override
    public boolean changesNothing(AllocatedClaim claim) {
        return !DeviceSharing.isWanted(claim)
                && claim.devices().stream()
                        .allMatch(device -> last.devices()
                                .offer(device.device())
                                .filter(offer -> offer instanceof Offer.Whole
                                        && !isModeAutomatic(offer.uuid())
                                        && !PartitionClaims.isFor(offer, last))
                                .isPresent());
    }

    /** A session kept for the claim would keep the GPU and its partition from being released. */
    private boolean keepsNoSession(AllocatedClaim claim) {
        return claim.devices().stream()
                .flatMap(device -> last.devices().offer(device.device()).stream())
                .anyMatch(offer -> offer instanceof Offer.Passthrough || PartitionClaims.isFor(offer, last));
    }

    /** Returns the last reading; a new one if the driver was updated since. */
    private DriverSnapshot latest() {
        DriverSnapshot known = last;
        if (!known.installed().equals(nvml.fingerprint())) {
            known = read();
            last = known;
        }
        return known;
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) {
        if (!claim.beforeReboot()) { // otherwise everything ended with the boot
            claims.unprepare(claim, last, driver(), context);
        }
        if (sharing.hasLeftSettings()) {
            driver().inventoryChanged();
        }
    }

    @Override
    public void suspend() {
        isSuspended = true;
        try {
            givenBack = nvml.giveBack("the maintenance of this node");
        } catch (NvmlException e) {
            isSuspended = false;
            throw e;
        }
    }

    @Override
    public void resume() {
        if (givenBack != null) {
            givenBack.close();
        }
        isSuspended = false;
    }

    @Override
    public DeviceMeter meter() {
        return new NvidiaMeter(nvml, last.devices(), faults, measuring);
    }

    @Override
    public Optional<String> restartReason() {
        return nvml.persistentFailure();
    }

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
        nvml.close();
    }
}
