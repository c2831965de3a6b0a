// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.mig.GpuLocks;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.pci.PciFunction;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.vfio.LentGpus.LentFunction;
import io.dra4j.nvidia.vfio.LentGpus.LentGpu;
import io.dra4j.nvidia.vfio.NodeUsers.User;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes GPUs from NVIDIA's driver for virtual machines, and returns them; a GPU that an administrator has bound to
 * vfio-pci is used as is, and stays bound.
 *
 * <p>The kernel takes a GPU from its driver only while no process has it open, and does not answer until then. So NVML
 * sessions are released first, other processes are waited for and named, and a step that the kernel has not completed
 * at its deadline fails only this claim, not claims of other GPUs. Thread-safe; one thread at a time changes a GPU.
 */
public final class Passthrough {

    private static final Logger LOG = LoggerFactory.getLogger(Passthrough.class);

    /** An unused GPU is released sooner; other calls wait this long for NVML. */
    private static final Duration USUAL_UNBIND = Duration.ofSeconds(2);

    /** Calls of NVML return sooner, unless one hangs; other calls wait this long. */
    private static final Duration LONGEST_CALL = Duration.ofSeconds(10);

    /** A call of nvidia-smi takes less time. */
    private static final Duration PERSISTENCE = Duration.ofSeconds(5);

    private static final long LOOK_NANOS = 250_000_000;

    private final Nvml nvml;
    private final PciBus bus;
    private final NodeUsers users;
    private final NvidiaSmi smi;
    private final Settings settings;
    private final PassthroughChecks checks;
    private final DriverSwitch drivers;
    private final VfioEdits edits;
    private final GpuLocks locks = new GpuLocks();
    private final AtomicInteger changing = new AtomicInteger();

    /**
     * The settings of passthrough.
     *
     * @param proc the mount point of procfs, with the processes of the node
     * @param users how long to wait for other processes that use a GPU
     * @param unbind how long the kernel may take to take a GPU from its driver
     * @param bind how long the kernel may take to give it to another
     */
    public record Settings(
            boolean isOn, Path sysfs, Path proc, Duration users, Duration unbind, Duration bind, InstantSource clock) {

        /** All steps together end within the 45 seconds that the kubelet waits. */
        public Settings(boolean isOn, Path sysfs, Path proc) {
            this(
                    isOn,
                    sysfs,
                    proc,
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(20),
                    Duration.ofSeconds(10),
                    InstantSource.system());
        }
    }

    public Passthrough(Nvml nvml, NvidiaSmi smi, Settings settings) {
        this.nvml = nvml;
        this.settings = settings;
        bus = new PciBus(settings.sysfs());
        users = new NodeUsers(settings.proc());
        this.smi = smi;
        checks = new PassthroughChecks(bus, settings.proc());
        drivers = new DriverSwitch(bus, new KernelWrites());
        edits = new VfioEdits(bus);
    }

    public boolean isOn() {
        return settings.isOn();
    }

    /** Returns the GPUs on the bus; none if GPUs are not offered to virtual machines. */
    public PassthroughGpus gpus(List<HeldClaim> held) {
        return isOn() ? PassthroughGpus.of(bus.gpus(), lent(held)) : PassthroughGpus.NONE;
    }

    /** Returns the addresses of the GPUs that claims have taken from NVIDIA's driver. */
    public static Set<PciAddress> lent(List<HeldClaim> held) {
        return held.stream()
                .filter(claim -> !claim.beforeReboot())
                .flatMap(claim -> read(claim).gpus().stream())
                .map(gpu -> new PciAddress(gpu.address()))
                .collect(Collectors.toUnmodifiableSet());
    }

    private static LentGpus read(HeldClaim claim) {
        try {
            return LentGpus.read(ClaimState.read(claim.state()).lent());
        } catch (DraException e) { // a newer driver's record; unprepare reports more
            return LentGpus.read(null);
        }
    }

    /** Returns whether a GPU is changing its driver, so that no NVML session may be kept. */
    public boolean isChanging() {
        return changing.get() > 0 || drivers.isAnyPending();
    }

    /** Ensures that a GPU can be assigned to a virtual machine, according to the present state of the bus. */
    public void requireUsable(PciAddress gpu) {
        checks.requireUsable(gpu);
    }

    /**
     * Assigns a GPU to a virtual machine.
     *
     * @param whenTaken runs while no session of NVML is kept
     * @throws PrepareException if it is not available within the time of the call
     */
    public ContainerEdits take(
            Offer.Passthrough offer, VfioDeviceConfig config, ClaimRecorder recorder, Runnable whenTaken) {
        return changing(offer.pci(), () -> {
            PciFunction gpu = checks.requireUsable(offer.pci());
            if (!gpu.isForMachines()) {
                lend(gpu, offer, recorder);
                whenTaken.run();
            }
            return edits.of(gpu, config);
        });
    }

    private <T> T changing(PciAddress gpu, Supplier<T> work) {
        return locks.with(gpu.text(), () -> {
            changing.incrementAndGet();
            try {
                return work.get();
            } finally {
                changing.decrementAndGet();
            }
        });
    }

    private void lend(PciFunction gpu, Offer.Passthrough offer, ClaimRecorder recorder) {
        Gpu known = offer.gpu();
        if (known == null) {
            String now = gpu.driver() == null
                    ? "has no driver now; an administrator must bind it to vfio-pci again"
                    : "is bound to %s now; the next attempt finds it there".formatted(gpu.driver());
            throw PassthroughChecks.refused(gpu.address(), "it was bound to vfio-pci, and " + now);
        }
        requireTime(gpu, deadline(settings.unbind(), recorder));
        List<PciFunction> functions = checks.withBoard(gpu);
        String node = "dev/nvidia" + known.minor();
        LentGpu lent = new LentGpu(
                gpu.address().text(),
                node,
                isPersistent(gpu.address(), deadline(PERSISTENCE, recorder)),
                functions.stream().map(this::lent).toList());
        recorder.recordLent(LentGpus.read(recorder.state().lent()).with(lent).toProviderState());
        if (lent.isPersistent()) {
            setPersistent(gpu.address(), false, deadline(PERSISTENCE, recorder));
        }
        for (PciFunction function : functions) {
            StepDeadline toReserve = deadline(settings.unbind(), recorder);
            requireTime(gpu, toReserve);
            String driver = checks.driverFor(function.address());
            if (!drivers.override(function.address(), driver, toReserve)) {
                throw notUnbound(function, users.of(Path.of(node)), toReserve);
            }
            if (function.equals(gpu)) {
                unbindGpu(gpu, Path.of(node), recorder);
            } else {
                unbind(function, List::of, deadline(settings.unbind(), recorder));
            }
            drivers.bind(function.address(), driver, deadline(settings.bind(), recorder));
        }
    }

    /** If it is unknown, and on, nvidia-persistenced shows up among the users of the GPU. */
    private boolean isPersistent(PciAddress gpu, StepDeadline deadline) {
        try {
            return smi.isPersistent(gpu.text(), deadline.left());
        } catch (SmiException e) {
            LOG.atDebug().setCause(e).addKeyValue("pci.address", gpu).log("Persistence mode unknown");
            return false;
        }
    }

    private void setPersistent(PciAddress gpu, boolean isOn, StepDeadline deadline) {
        try {
            smi.setPersistent(gpu.text(), isOn, deadline.left());
        } catch (SmiException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("pci.address", gpu)
                    .addKeyValue("on", isOn)
                    .log("Persistence mode of a GPU can't be switched");
        }
    }

    private LentFunction lent(PciFunction function) {
        String driver = function.driver();
        return new LentFunction(
                function.address().text(),
                driver == null ? PassthroughGpus.NVIDIA : driver,
                drivers.override(function.address()));
    }

    private StepDeadline deadline(Duration limit, ClaimRecorder recorder) {
        return StepDeadline.of(limit, recorder.deadline(), settings.clock());
    }

    /** The kubelet's next attempt has its own time limit, and first undoes what this one began. */
    private static void requireTime(PciFunction gpu, StepDeadline deadline) {
        if (deadline.isOver()) {
            throw PassthroughChecks.refused(
                    gpu.address(),
                    "this call has no time left to take it from its driver, and it stays there; it will be retried");
        }
    }

    /** An attempt to take a GPU from its driver, which begins only if no process uses the GPU. */
    private record Attempt(List<User> users, boolean isUnbound) {}

    private void unbindGpu(PciFunction gpu, Path node, ClaimRecorder recorder) {
        StepDeadline ofUsers = deadline(settings.users(), recorder);
        Attempt attempt = attempt(gpu, node, recorder);
        while (!attempt.users().isEmpty()) {
            if (ofUsers.isOver()) {
                throw PassthroughChecks.refused(
                        gpu.address(),
                        "/%s has been open in %s for more than %s; end what uses the GPU"
                                .formatted(node, NodeUsers.named(attempt.users()), ofUsers.text()));
            }
            LockSupport.parkNanos(LOOK_NANOS);
            attempt = attempt(gpu, node, recorder);
        }
        StepDeadline deadline = deadline(settings.unbind(), recorder);
        if (!attempt.isUnbound() && !drivers.awaitUnbound(gpu, deadline)) {
            throw notUnbound(gpu, users.of(node), deadline);
        }
    }

    /** When the kernel begins, neither this driver nor a visible process has an open session. */
    @SuppressWarnings("try") // the lease only has to be held
    private Attempt attempt(PciFunction gpu, Path node, ClaimRecorder recorder) {
        StepDeadline ofCalls = deadline(LONGEST_CALL, recorder);
        requireTime(gpu, ofCalls);
        try (Lease paused = nvml.pause("the passthrough of GPU " + gpu.address(), ofCalls.left())) {
            List<User> found = users.of(node);
            if (!found.isEmpty()) {
                return new Attempt(found, false);
            }
            StepDeadline toUnbind = deadline(USUAL_UNBIND, recorder);
            requireTime(gpu, toUnbind);
            return new Attempt(found, drivers.unbind(gpu, toUnbind));
        } catch (NvmlException e) {
            throw e.reason() == Reason.IN_USE ? notPaused(gpu, ofCalls) : e;
        }
    }

    private static PrepareException notPaused(PciFunction gpu, StepDeadline ofCalls) {
        return PassthroughChecks.refused(
                gpu.address(),
                "a call of NVML by this driver has not returned for %s, and it stays with its driver; it will be retried"
                        .formatted(ofCalls.text()));
    }

    private void unbind(PciFunction function, Supplier<List<User>> users, StepDeadline deadline) {
        if (!drivers.unbind(function, deadline)) {
            throw notUnbound(function, users.get(), deadline);
        }
    }

    private static PrepareException notUnbound(PciFunction function, List<User> found, StepDeadline deadline) {
        return new PrepareException(
                "The driver %s did not release PCI device %s within %s%s; the kernel continues, and the next attempt finds the result"
                        .formatted(
                                Objects.requireNonNullElse(function.driver(), "in the kernel"),
                                function.address(),
                                deadline.text(),
                                found.isEmpty()
                                        ? ": no visible process has it open"
                                        : ", which is open in " + NodeUsers.named(found)));
    }

    /**
     * Returns all GPUs of a claim to the drivers that they were taken from.
     *
     * @return whether there were any
     * @throws DraException if one is still in use; GPUs that are not returned stay recorded
     */
    public boolean giveBack(ClaimRecorder recorder) {
        List<LentGpu> latestFirst =
                new ArrayList<>(LentGpus.read(recorder.state().lent()).gpus());
        Collections.reverse(latestFirst);
        for (LentGpu gpu : latestFirst) {
            changing(new PciAddress(gpu.address()), () -> {
                giveBack(gpu, recorder);
                return true;
            });
            recorder.recordLent(
                    LentGpus.read(recorder.state().lent()).without(gpu).toProviderState());
        }
        return !latestFirst.isEmpty();
    }

    private void giveBack(LentGpu gpu, ClaimRecorder recorder) {
        for (LentFunction function : gpu.functions()) {
            PciAddress address = new PciAddress(function.address());
            PciFunction before = bus.find(address).orElse(null);
            if (before == null) {
                LOG.atWarn().addKeyValue("pci.address", address).log("PCI device of a claim is no longer on the bus");
                continue;
            }
            override(before, null, Path.of(gpu.node()), recorder);
            bus.find(address)
                    .filter(PciFunction::isForMachines)
                    .ifPresent(now -> unbind(now, () -> machines(now), deadline(settings.unbind(), recorder)));
            restore(address, function.driver(), recorder);
            if (function.override() != null) { // last, because the driver may differ from the previous one
                override(before, function.override(), Path.of(gpu.node()), recorder);
            }
        }
        if (gpu.isPersistent()) {
            switchOn(new PciAddress(gpu.address()), deadline(PERSISTENCE, recorder));
        }
    }

    private void switchOn(PciAddress gpu, StepDeadline deadline) {
        if (deadline.isOver()) {
            throw new DraException(
                    "GPU %s is back, but this call has no time left to turn its persistence mode on again; the next attempt does"
                            .formatted(gpu));
        }
        setPersistent(gpu, true, deadline);
    }

    /** Waits for what the kernel has begun. */
    private void override(PciFunction before, @Nullable String driver, Path node, ClaimRecorder recorder) {
        StepDeadline deadline = deadline(settings.unbind(), recorder);
        if (!drivers.override(before.address(), driver, deadline)) {
            PciFunction now = bus.find(before.address()).orElse(before); // the next attempt finds it gone
            throw notUnbound(now, now.isForMachines() ? machines(now) : users.of(node), deadline);
        }
    }

    private List<User> machines(PciFunction gpu) {
        return edits.nodes(gpu).flatMap(node -> users.of(node).stream()).toList();
    }

    private void restore(PciAddress address, String driver, ClaimRecorder recorder) {
        PciFunction now = bus.find(address).orElse(null);
        if (now != null && now.driver() == null && bus.isLoaded(driver)) {
            drivers.bind(address, driver, deadline(settings.bind(), recorder));
        } else if (now != null && !now.isBoundTo(driver)) {
            LOG.atWarn()
                    .addKeyValue("pci.address", address)
                    .addKeyValue("driver", driver)
                    .addKeyValue("now", now.driver())
                    .log(
                            "PCI device of a claim is not returned to its driver: another has it, or the module is not loaded");
        }
    }

    /**
     * The device nodes of vfio, by which a virtual machine's program opens a GPU: one of the device and
     * one that all devices share, of iommufd or of the older interface.
     */
    private record VfioEdits(PciBus bus) {

        /** Returns the nodes of a GPU that is bound to vfio-pci. */
        ContainerEdits of(PciFunction gpu, VfioDeviceConfig config) {
            Optional<String> iommufd = config.prefersIommufd() && bus.hasIommufd()
                    ? bus.vfioDevice(gpu.address())
                    : Optional.empty(); // an older kernel has no such nodes
            ContainerEdits.Builder edits = ContainerEdits.builder();
            edits.deviceNode(DeviceNode.of(
                    iommufd.map(name -> "/dev/vfio/devices/" + name).orElse("/dev/vfio/" + gpu.group())));
            if (config.hasApiDevice()) {
                edits.deviceNode(DeviceNode.of(iommufd.isPresent() ? "/dev/iommu" : "/dev/vfio/vfio"));
            }
            return edits.build();
        }

        /** Returns the nodes through which processes may have a function open, relative to {@code /}. */
        Stream<Path> nodes(PciFunction function) {
            return Stream.concat(
                            Optional.ofNullable(function.group()).stream().map(one -> "dev/vfio/" + one),
                            bus.vfioDevice(function.address()).stream().map(one -> "dev/vfio/devices/" + one))
                    .map(Path::of);
        }
    }
}
