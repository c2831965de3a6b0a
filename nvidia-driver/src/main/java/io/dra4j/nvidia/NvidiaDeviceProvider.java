// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.health.DeviceFaults;
import io.dra4j.nvidia.health.GpuWatch;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.health.HealthStateFile.Remembered;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.inventory.Offer.ToBeMade;
import io.dra4j.nvidia.mig.ForeignInstances;
import io.dra4j.nvidia.mig.ForeignInstances.Stranger;
import io.dra4j.nvidia.mig.MigDeviceAllocator;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.sharing.GpuConfig;
import io.dra4j.nvidia.sharing.MigDeviceConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The GPUs of a node, and the parts that they are, or can be, divided into. */
final class NvidiaDeviceProvider implements DeviceProvider {

    private static final Logger LOG = LoggerFactory.getLogger(NvidiaDeviceProvider.class);

    private final Nvml nvml;
    private final NodeDevices.Settings settings;
    private final Edits edits;
    private final Care care;
    private final MigDeviceAllocator parts;
    private final DeviceFaults ailments;
    private final HealthStateFile memory;
    private volatile Seen seen = new Seen(Reading.NOTHING, NodeDevices.NONE); // until the start
    private @Nullable DriverContext context; // set by start, which comes before all that needs it
    private @Nullable GpuWatch watch;

    /** A reading, and the devices that were made of it. */
    private record Seen(Reading reading, NodeDevices devices) {}

    /**
     * What is done about what goes wrong.
     *
     * @param ignoredXids errors that taint no device, beside those of applications
     * @param destroyUnknown whether GPU instances that no claim has are destroyed at the start
     * @param rescanInterval how often the GPUs are read again if nothing happens
     * @param memory where is remembered what went wrong
     */
    record Care(
            List<Long> ignoredXids,
            boolean destroyUnknown,
            Duration rescanInterval,
            HealthStateFile memory) {

        Care {
            ignoredXids = List.copyOf(ignoredXids);
        }
    }

    NvidiaDeviceProvider(Nvml nvml, NodeDevices.Settings settings, Edits edits, Care care) {
        this.nvml = nvml;
        this.settings = settings;
        this.edits = edits;
        this.care = care;
        this.parts = new MigDeviceAllocator(nvml, this::modeFollows);
        this.ailments = new DeviceFaults(care.ignoredXids());
        this.memory = care.memory();
    }

    private Seen look() {
        Reading reading = nvml.read();
        return new Seen(reading, NodeDevices.of(reading, settings));
    }

    private boolean modeFollows(String gpu) {
        return settings.dynamicMig()
                && seen.reading().gpus().stream()
                        .filter(each -> each.uuid().equals(gpu))
                        .anyMatch(each -> each.architecture().switchesMigModeAtOnce());
    }

    @Override
    public List<ConfigType<?>> configTypes() {
        return List.of(GpuConfig.TYPE, MigDeviceConfig.TYPE);
    }

    @Override
    public boolean mayTaint() {
        return true;
    }

    @Override
    public boolean reportsHealth() {
        return true;
    }

    @Override
    public void start(DriverContext started) {
        context = started;
        Remembered before = memory.recall();
        nvml.recall(before.gpus());
        ailments.recall(before.errors());
        seen = look();
        seen.devices().troubles().forEach(NvidiaDeviceProvider::warn);
        watch =
                new GpuWatch(
                        nvml,
                        new WatchedNode(started),
                        ailments,
                        care.rescanInterval(),
                        started.clock());
        watch.start();
    }

    /** What the watch needs of the provider. */
    private final class WatchedNode implements GpuWatch.Node {
        private final DriverContext runtime;

        WatchedNode(DriverContext runtime) {
            this.runtime = runtime;
        }

        @Override
        public Reading last() {
            return seen.reading();
        }

        @Override
        public void changed() {
            runtime.inventoryChanged();
        }

        @Override
        public void settled() {
            if (settings.dynamicMig()) {
                meetStrangers(runtime);
            }
        }
    }

    private static void warn(String trouble) {
        LOG.atWarn().addKeyValue("what", trouble).log("Something of the node is left out");
    }

    private void meetStrangers(DriverContext runtime) {
        ForeignInstances strangers = parts.strangers();
        try {
            List<Stranger> found =
                    strangers.among(seen.reading().present(), () -> states(runtime.held()));
            boolean isSure =
                    runtime.held().stream().noneMatch(claim -> claim.phase() == Phase.DAMAGED);
            if (care.destroyUnknown() && isSure) {
                strangers.destroy(found);
            } else {
                strangers.report(found);
            }
        } catch (DraException e) {
            LOG.atWarn().setCause(e).log("Nobody knows which GPU instances no claim has; all stay");
        }
    }

    private static List<ProviderState> states(List<HeldClaim> held) {
        return held.stream().map(HeldClaim::state).filter(Objects::nonNull).toList();
    }

    @Override
    public Inventory inventory() {
        Seen before = seen;
        Seen now = look();
        seen = now;
        now.devices().troubles().stream()
                .filter(trouble -> !before.devices().troubles().contains(trouble))
                .forEach(NvidiaDeviceProvider::warn);
        ailments.lost(now.reading().lost());
        memory.remember(now.reading().gpus(), ailments.errors());
        HealthOfDevices health = new HealthOfDevices(ailments, care.rescanInterval());
        if (context != null) {
            context.reportHealth(health.reports(now.devices(), now.reading().unread()));
        }
        return health.tainted(now.devices());
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, Progress progress) {
        try {
            return prepared(claim, progress);
        } catch (NvmlException e) { // what it says is for the pod's owner, too
            throw new PrepareException(String.valueOf(e.getMessage()), e);
        }
    }

    private PreparedClaim prepared(AllocatedClaim claim, Progress progress) {
        Seen now = seen;
        ContainerEdits common = edits.common(now.reading().driverVersion());
        Map<String, ToBeMade> wanted = new LinkedHashMap<>();
        for (AllocatedDevice device : claim.devices()) {
            if (offer(now, device) instanceof ToBeMade part && !device.adminAccess()) {
                wanted.put(device.device().value(), part);
            }
        }
        MigDeviceAllocator.Made made = parts.make(wanted, progress);
        List<PreparedDevice> devices = new ArrayList<>();
        for (AllocatedDevice device : claim.devices()) {
            devices.add(PreparedDevice.of(device, edits(offer(now, device), device, made)));
        }
        PreparedClaim prepared = PreparedClaim.of(devices).withEdits(common);
        return made.state() == null ? prepared : prepared.withState(made.state());
    }

    private static Offer offer(Seen now, AllocatedDevice device) {
        return now.devices()
                .offer(device.device())
                .orElseThrow(
                        () ->
                                new PrepareException(
                                        "There is no device "
                                                + device.device()
                                                + " on this node any more"));
    }

    private ContainerEdits edits(
            Offer offer, AllocatedDevice device, MigDeviceAllocator.Made made) {
        String name = device.device().value();
        if (offer instanceof Offer.Made there) {
            parts.require(there.gpu(), there.device());
            return edits.part(there.gpu(), there.device());
        }
        if (offer instanceof ToBeMade part) {
            return edits.part(
                    part.gpu(),
                    device.adminAccess() ? parts.existing(name, part) : made.devices().get(name));
        }
        if (!device.adminAccess()) {
            parts.makeWhole(offer.gpu());
        }
        return edits.whole(offer.gpu());
    }

    @Override
    public void unprepare(HeldClaim claim, Progress progress) {
        if (claim.beforeReboot()) {
            return; // no GPU instance outlives a boot, and what is there now is another's
        }
        boolean isLost = claim.state() == null && claim.phase() == Phase.DAMAGED;
        parts.destroy(isLost ? suspected(claim) : claim.state(), progress);
    }

    private ProviderState suspected(HeldClaim claim) {
        Map<String, ToBeMade> wanted = new LinkedHashMap<>();
        for (HeldDevice device : claim.devices()) {
            Offer offer = seen.devices().offer(device.device()).orElse(null);
            if (offer instanceof ToBeMade part && !device.adminAccess()) {
                wanted.put(device.device().value(), part);
            }
        }
        return parts.suspected(wanted, context == null ? List.of() : states(context.held()));
    }

    @Override
    public void close() {
        if (watch != null) {
            watch.close();
        }
        nvml.close();
    }
}
