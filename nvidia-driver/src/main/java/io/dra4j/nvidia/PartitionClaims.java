// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.fabric.FabricException;
import io.dra4j.nvidia.fabric.FabricManager;
import io.dra4j.nvidia.fabric.Partitions;
import io.dra4j.nvidia.fabric.Partitions.Partition;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.inventory.Offer;
import io.dra4j.nvidia.mig.GpuLocks;
import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.GpuFiles;
import io.dra4j.runtime.RecordState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The partitions of the fabric in the claims of a node.
 *
 * <p>The whole GPUs of a claim form a partition, which is activated before a virtual machine gets them, and deactivated
 * once they are returned. Thread-safe; one thread at a time changes partitions.
 */
final class PartitionClaims {

    private static final Logger LOG = LoggerFactory.getLogger(PartitionClaims.class);
    private static final RecordState<Recorded> FORM = RecordState.of(1, Recorded.class);

    /** The limit for a call of NVML or nvidia-smi, which takes less time unless it hangs. */
    private static final Duration LONGEST_CALL = Duration.ofSeconds(10);

    private final FabricManager fabric;
    private final Nvml nvml;
    private final NvidiaSmi smi;
    private final GpuFiles left; // partitions that could not be deactivated, by claims' UIDs
    private final Set<String> logged = ConcurrentHashMap.newKeySet(); // UIDs of claims already logged
    private volatile boolean isChanging;

    /**
     * The partition of a claim, recorded before it is activated.
     *
     * @param gpus the numbers of its GPUs
     * @param persistent the PCI addresses of its GPUs that stay initialized without users afterwards
     */
    record Recorded(Set<Integer> gpus, List<String> persistent) {

        static @Nullable Recorded read(@Nullable ProviderState state) {
            return state == null ? null : FORM.read(state);
        }
    }

    /**
     * Creates the object; changes nothing yet.
     *
     * @param folder records the partitions that could not be deactivated, by the UIDs of deleted claims, until the next
     * boot: the fabric manager may outlive the kernel module of the GPUs
     */
    PartitionClaims(FabricManager fabric, Nvml nvml, NvidiaSmi smi, Path folder) {
        this.left = new GpuFiles(folder, () -> nvml.moduleLoad().replaceFirst("/.*", ""));
        this.fabric = fabric;
        this.nvml = nvml;
        this.smi = smi;
    }

    /** Returns whether a claim gets a partition, by the snapshot: finding NVSwitches behind network adapters takes long. */
    static boolean isFor(Offer offer, DriverSnapshot now) {
        return offer.isWhole() && now.devices().isPartitioned();
    }

    /** Returns whether a partition is being changed, so that no NVML session may be kept. */
    boolean isChanging() {
        return isChanging;
    }

    void activate(AllocatedClaim claim, DriverSnapshot now, DriverContext runtime, ClaimRecorder recorder) {
        List<Offer> gpus = whole(names(claim.devices().stream().map(AllocatedDevice::held)), now);
        if (!gpus.isEmpty() && now.devices().isPartitioned()) {
            try {
                alone(runtime, recorder.deadline(), () -> {
                    retryAll(now, runtime);
                    activate(gpus, new Others(claim.ref().uid(), now, runtime), recorder);
                });
            } catch (FabricException e) { // the message is also for the pod's owner
                throw new PrepareException(String.valueOf(e.getMessage()), e);
            }
        }
    }

    /** Runs work while the other process of a rolling update leaves the partitions alone. */
    private static void alone(DriverContext runtime, Instant deadline, Runnable work) {
        GpuLocks.onNode(runtime, "partitions", deadline, () -> {
            work.run();
            return true;
        });
    }

    private static List<DeviceName> names(Stream<HeldDevice> devices) {
        return devices.filter(device -> !device.adminAccess())
                .map(HeldDevice::device)
                .toList();
    }

    /** Returns whether a claim may have a GPU as a whole, which MIG devices and admin access are not. */
    private static boolean mayHaveGpu(HeldClaim claim, DriverSnapshot last) {
        return names(claim.devices().stream()).stream()
                .anyMatch(name ->
                        last.devices().offer(name).filter(it -> !it.isWhole()).isEmpty());
    }

    private static List<Offer> whole(List<DeviceName> devices, DriverSnapshot now) {
        return devices.stream()
                .flatMap(device -> now.devices().offer(device).stream())
                .filter(Offer::isWhole)
                .toList();
    }

    private synchronized void activate(List<Offer> gpus, Others others, ClaimRecorder recorder) {
        Partitions all = fabric.partitions();
        Partition wanted = wanted(gpus, all);
        for (Partition other : all.withAnyOf(wanted.gpus())) {
            if (other.isActive() && other.id() != wanted.id()) {
                throw refused(wanted, other, others.holder(other, all));
            }
        }
        List<String> persistent = wanted.isActive() ? List.of() : persistent(gpus);
        recorder.recordPartition(FORM.write(new Recorded(wanted.gpus(), persistent)));
        left.read(others.claim())
                .flatMap(lines -> Left.of(lines).partition(others.now(), all))
                .filter(wanted::equals)
                .ifPresent(waiting -> left.delete(others.claim())); // it is in use again
        if (!wanted.isActive()) {
            setPersistent(persistent, false); // it would keep the GPUs initialized
            change(wanted, true);
            boolean areLent = gpus.stream().anyMatch(Offer.Passthrough.class::isInstance);
            setPersistent(areLent ? List.of() : persistent, true);
        }
    }

    private static Partition wanted(List<Offer> gpus, Partitions all) {
        Set<Integer> numbers = numbers(gpus, all);
        String message =
                "The claim has the GPUs %s, of the modules %s, which do not form a partition of the fabric; the partitions with any of them are %s: claim as many GPUs as one of these has, with a constraint such as matchAttribute gpu.nvidia.com/partition2";
        return all.exactly(numbers)
                .filter(found -> numbers.size() == gpus.size())
                .orElseThrow(() ->
                        new PrepareException(message.formatted(addresses(gpus), numbers, all.withAnyOf(numbers))));
    }

    private static List<String> addresses(List<Offer> gpus) {
        return gpus.stream().map(gpu -> gpu.pci().text()).toList();
    }

    private static Set<Integer> numbers(List<Offer> gpus, Partitions all) {
        Set<Integer> numbers = new TreeSet<>();
        gpus.forEach(gpu -> all.number(gpu.pci(), gpu.gpu()).ifPresent(numbers::add));
        return numbers;
    }

    private static PrepareException refused(Partition wanted, Partition other, Optional<ClaimRef> holder) {
        String none = "and no claim of this driver has it; an administrator must stop what uses it, and run fmpm -d %d";
        return new PrepareException("Partition %s of the fabric can't be activated: partition %s is active, %s"
                .formatted(
                        wanted,
                        other,
                        holder.map(claim -> "for claim %s/%s".formatted(claim.namespace(), claim.name()))
                                .orElse(none.formatted(other.id()))));
    }

    private List<String> persistent(List<Offer> gpus) {
        try {
            return addresses(gpus).stream()
                    .filter(gpu -> smi.isPersistent(gpu, LONGEST_CALL))
                    .toList();
        } catch (SmiException e) {
            LOG.atDebug().setCause(e).log("Persistence mode unknown");
            return List.of();
        }
    }

    private void setPersistent(List<String> gpus, boolean isOn) {
        try {
            if (!gpus.isEmpty()) {
                smi.setPersistent(String.join(",", gpus), isOn, LONGEST_CALL);
            }
        } catch (SmiException e) {
            LOG.atWarn().setCause(e).addKeyValue("on", isOn).log("Persistence mode of GPUs can't be switched");
        }
    }

    /** Changes a partition while this driver has no open session: a session would keep the GPUs initialized. */
    @SuppressWarnings("try") // the lease only has to be held
    private void change(Partition partition, boolean isActive) {
        isChanging = true;
        try (Lease paused = nvml.pause("a change of the fabric's partitions", LONGEST_CALL)) {
            fabric.change(partition, isActive);
        } finally {
            isChanging = false;
        }
        LOG.atInfo()
                .addKeyValue("partition", partition)
                .addKeyValue("active", isActive)
                .log("Changed a partition of the fabric");
    }

    /**
     * Deactivates the partition of a claim, unless another claim has it too. If its record is lost, the claim's GPUs
     * determine the partition.
     *
     * @throws DraException if a retry may deactivate it; it stays recorded
     */
    void deactivate(HeldClaim claim, DriverSnapshot last, DriverContext runtime, ClaimRecorder recorder) {
        Recorded recorded = Recorded.read(recorder.state().partition());
        if (recorded == null
                && (claim.phase() == Phase.PREPARING || !last.devices().isPartitioned() || !mayHaveGpu(claim, last))) {
            return;
        }
        Others others = new Others(claim.ref().uid(), last, runtime);
        alone(runtime, recorder.deadline(), () -> deactivate(claim, recorded, others, recorder));
    }

    private synchronized void deactivate(
            HeldClaim claim, @Nullable Recorded recorded, Others others, ClaimRecorder recorder) {
        Left leaving = new Left(names(claim.devices().stream()), recorded == null ? Set.of() : recorded.gpus());
        try {
            deactivate(leaving, others);
        } catch (FabricException e) {
            if (recorded != null && e.isTransient()) {
                throw e;
            }
            left.write(claim.ref().uid(), leaving.lines());
            report(claim, others.runtime(), e);
        }
        if (recorded != null) { // now, so that another leaving claim does not see it
            setPersistent(recorded.persistent(), true);
            recorder.recordPartition(null);
        }
    }

    /** If the fabric manager does not answer, the partition may still be active: the driver's next attempt finds out. */
    private static void report(HeldClaim claim, DriverContext runtime, FabricException e) {
        String message = "The partition of claim %s is not deactivated yet, and will be retried: %s"
                .formatted(claim.ref(), e.getMessage());
        LOG.atWarn().setCause(e).log(message);
        claim.devices().forEach(device -> runtime.notice(device.device().value(), message));
    }

    /**
     * Deactivates the partitions that could not be deactivated when their claims were unprepared.
     *
     * @param last the last reading; before the first, it is unknown which other claims have them
     */
    void retry(DriverSnapshot last, DriverContext runtime) {
        try {
            if (last != DriverSnapshot.NONE && !left.gpus().isEmpty()) {
                alone(runtime, Instant.MIN, () -> retryAll(last, runtime));
            }
        } catch (DraException e) {
            LOG.atDebug().setCause(e).log("Partitions can't be deactivated now");
        }
    }

    /** Retries all; if claims no longer get partitions, the fabric manager may be gone, so it is asked only once. */
    private synchronized void retryAll(DriverSnapshot last, DriverContext runtime) {
        boolean isNeeded = last.devices().isPartitioned();
        left.gpus().stream()
                .filter(claim -> isNeeded || !logged.contains(claim))
                .forEach(claim -> retry(claim, new Others("", last, runtime)));
    }

    private void retry(String claim, Others all) {
        try {
            List<String> lines = left.read(claim).orElse(null);
            if (lines != null && lines.isEmpty()) {
                throw new DraException("The file can't be read; fmpm -l lists the active partitions");
            }
            Optional<ClaimRef> holder = lines == null ? Optional.empty() : deactivate(Left.of(lines), all);
            if (holder.filter(it -> it.uid().equals(claim)).isEmpty()) { // otherwise the claim is about to leave it
                left.delete(claim);
                logged.remove(claim);
            }
        } catch (DraException e) {
            LOG.atLevel(logged.add(claim) ? Level.WARN : Level.DEBUG)
                    .setCause(e)
                    .addKeyValue("path", left.folder().resolve(claim))
                    .log("The partition of a deleted claim is not deactivated; delete the file to stop the retries");
        }
    }

    /** Returns the UUIDs of GPUs of partitions that could not be deactivated; none where claims get no partitions. */
    Set<String> unrestored(DriverSnapshot now) {
        return (now.devices().isPartitioned() ? left.gpus() : List.<String>of())
                .stream()
                        .flatMap(claim -> left.read(claim).stream())
                        .flatMap(lines -> whole(Left.of(lines).devices(), now).stream())
                        .map(Offer::uuid)
                        .collect(Collectors.toUnmodifiableSet());
    }

    /** Returns another claim that has the partition, which then stays active. */
    private Optional<ClaimRef> deactivate(Left leaving, Others others) {
        Partitions all = fabric.partitions();
        Partition found =
                leaving.partition(others.now(), all).filter(Partition::isActive).orElse(null);
        Optional<ClaimRef> holder = found == null ? Optional.empty() : others.holder(found, all);
        if (found != null && holder.isEmpty()) {
            List<String> persistent = persistent(whole(leaving.devices(), others.now()));
            setPersistent(persistent, false); // as for its activation
            try {
                change(found, false);
            } finally {
                setPersistent(persistent, true);
            }
        }
        return holder;
    }

    /**
     * A claim that leaves its partition.
     *
     * @param devices its devices, without those used with admin access
     * @param gpus the numbers of the partition's GPUs; empty if they were not recorded, and follow from the devices
     */
    private record Left(List<DeviceName> devices, Set<Integer> gpus) {

        private static final Pattern NUMBER = Pattern.compile("[0-9]+");

        /** Reads a line of numbers and a line for each device. */
        static Left of(List<String> lines) {
            return new Left(
                    lines.stream().skip(1).map(DeviceName::new).toList(),
                    lines.stream()
                            .limit(1)
                            .flatMap(line -> NUMBER.matcher(line).results())
                            .map(number -> Integer.valueOf(number.group()))
                            .collect(Collectors.toUnmodifiableSet()));
        }

        Optional<Partition> partition(DriverSnapshot now, Partitions all) {
            return all.exactly(gpus.isEmpty() ? numbers(whole(devices, now), all) : gpus);
        }

        List<String> lines() {
            return Stream.concat(Stream.of(gpus.toString()), devices.stream().map(DeviceName::value))
                    .toList();
        }
    }

    /**
     * The other claims.
     *
     * @param claim the UID of the claim to exclude; empty for all claims
     */
    private record Others(String claim, DriverSnapshot now, DriverContext runtime) {

        /** Returns a claim that has the partition or, if the claim's record is lost, one of its GPUs. */
        Optional<ClaimRef> holder(Partition partition, Partitions all) {
            return runtime.held().stream()
                    .filter(other -> !other.ref().uid().equals(claim) && !other.beforeReboot())
                    .filter(other -> !hasNone(other))
                    .filter(other -> !Collections.disjoint(partition.gpus(), gpus(other, all)))
                    .map(HeldClaim::ref)
                    .findFirst();
        }

        /** A claim has no record when its preparation begins, nor after it has left the partition to others. */
        private static boolean hasNone(HeldClaim other) {
            return (other.phase() == Phase.PREPARING || other.phase() == Phase.UNPREPARING)
                    && ClaimState.read(other.state()).partition() == null;
        }

        Set<Integer> gpus(HeldClaim other, Partitions all) {
            return numbers(whole(names(other.devices().stream()), now), all);
        }
    }
}
