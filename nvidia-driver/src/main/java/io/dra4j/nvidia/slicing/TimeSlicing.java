// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.slicing;

import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.install.SmiException.Outcome;
import io.dra4j.nvidia.mig.GpuLocks;
import io.dra4j.nvidia.sharing.Holders;
import io.dra4j.nvidia.sharing.SharedDevice;
import io.dra4j.nvidia.sharing.SharedGroup;
import io.dra4j.nvidia.sharing.SharingContext;
import io.dra4j.nvidia.sharing.SharingStrategy;
import io.dra4j.nvidia.sharing.Strategy;
import io.dra4j.nvidia.sharing.TimeSliceInterval;
import io.dra4j.nvidia.state.SharingRecord;
import io.dra4j.runtime.RecordState;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets the time slices of whole GPUs: once for all sharers of a GPU, and back to the driver's
 * default after the last.
 *
 * <p>Time slices are a setting of the GPU: sharers with another interval are refused. MIG devices
 * have none. Thread-safe: one thread at a time changes a GPU.
 */
public final class TimeSlicing implements SharingStrategy {

    private static final Logger LOG = LoggerFactory.getLogger(TimeSlicing.class);
    private static final RecordState<Recorded> FORM = RecordState.of(1, Recorded.class);

    /** The compute mode in which several processes use a GPU. */
    private static final String SHARED = "DEFAULT";

    private static final Duration LONGEST = Duration.ofSeconds(20); // of nvidia-smi

    private final NvidiaSmi smi;
    private final SliceFiles files;
    private final GpuLocks locks = new GpuLocks();

    /** The state of a group. */
    private record Recorded(TimeSliceInterval interval) {}

    /**
     * Creates the strategy.
     *
     * @param smi sets the time slices
     * @param files remember which GPUs were given time slices
     */
    public TimeSlicing(NvidiaSmi smi, SliceFiles files) {
        this.smi = smi;
        this.files = files;
    }

    @Override
    public Strategy strategy() {
        return Strategy.TimeSlicing;
    }

    @Override
    public List<String> targets(SharedGroup group) {
        return group.devices().stream()
                .filter(device -> device.mig() == null)
                .map(SharedDevice::uuid)
                .distinct()
                .toList();
    }

    @Override
    public ProviderState first(SharedGroup group) {
        return FORM.write(new Recorded(interval(group)));
    }

    private static TimeSliceInterval interval(SharedGroup group) {
        return Objects.requireNonNull(group.settings().interval(), "a GPU has an interval");
    }

    @Override
    public Optional<String> conflict(SharedGroup wanted, SharingRecord other) {
        TimeSliceInterval present = recorded(other);
        return present == interval(wanted)
                ? Optional.empty()
                : Optional.of(
                        "its time-slice interval is %s, and this claim asks for %s; ask for the same, or for another GPU"
                                .formatted(present, interval(wanted)));
    }

    private static TimeSliceInterval recorded(SharingRecord group) {
        return FORM.read(Objects.requireNonNull(group.state(), "recorded with its group"))
                .interval();
    }

    @Override
    public ContainerEdits apply(SharedGroup group, SharingContext context) {
        for (SharedDevice device : group.devices()) {
            if (device.mig() != null) {
                String name = device.allocated().device().value();
                context.notice(
                        name,
                        "Claim %s/%s asks for TimeSlicing on MIG device %s, which has no effect: only whole GPUs have time slices"
                                .formatted(
                                        group.claim().namespace(), group.claim().name(), name));
            }
        }
        for (String gpu : targets(group)) {
            locks.with(gpu, () -> {
                set(gpu, interval(group), context);
                return true;
            });
        }
        return ContainerEdits.NONE;
    }

    /** The setting is the GPU's, whichever driver has set it. */
    @Override
    public Runnable adopt(SharedGroup group) {
        List<String> gpus = targets(group);
        Slice set = new Slice(interval(group), true);
        return () -> gpus.forEach(gpu -> files.write(gpu, set));
    }

    @Override
    public void suspect(List<String> gpus) {
        gpus.forEach(gpu -> files.write(gpu, Slice.SUSPECTED));
    }

    private void set(String gpu, TimeSliceInterval interval, SharingContext context) {
        Slice before = files.read(gpu);
        if (before.equals(new Slice(interval, true)) && isShared(gpu, context)) {
            return; // by another sharer
        }
        try {
            smi.setComputeMode(gpu, SHARED, context.timeout(LONGEST));
            files.write(gpu, new Slice(interval, false));
            smi.setTimeSlice(gpu, interval.ordinal(), context.timeout(LONGEST));
            files.write(gpu, new Slice(interval, true));
        } catch (SmiException e) {
            if (e.outcome() != Outcome.UNKNOWN) {
                files.write(gpu, before);
            }
            if (interval != TimeSliceInterval.Default) {
                throw new PrepareException(
                        "time slices of %s can't be set to %s: %s".formatted(gpu, interval, e.getMessage()), e);
            }
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("gpu", gpu)
                    .log("Time slices can't be set to the driver's default; going on as they are");
        }
    }

    private static boolean isShared(String gpu, SharingContext context) {
        return !context.others(gpu).isEmpty();
    }

    @Override
    public void undo(SharingRecord recorded, SharingContext context) {
        for (String gpu : recorded.targets()) {
            locks.with(gpu, () -> {
                if (!isShared(gpu, context)) {
                    reset(gpu, context.timeout(LONGEST));
                }
                context.release(gpu);
                return true;
            });
        }
    }

    private void reset(String gpu, Duration timeout) {
        if (files.read(gpu).isToReset()) {
            NvidiaSmi.unlessGone(gpu, () -> smi.setTimeSlice(gpu, TimeSliceInterval.Default.ordinal(), timeout));
        }
        files.write(gpu, Slice.NONE);
    }

    @Override
    public List<String> leftOver(Holders holders) {
        return files.gpus().stream()
                .filter(gpu -> files.read(gpu).isToReset() && !holders.mayHold(gpu))
                .map(gpu -> "time slices of " + gpu)
                .toList();
    }

    @Override
    public boolean clean(Supplier<Holders> holders) {
        boolean isClean = true;
        for (String gpu : files.gpus()) {
            isClean &= locks.with(gpu, () -> clean(gpu, holders.get()));
        }
        return isClean;
    }

    private boolean clean(String gpu, Holders holders) {
        if (holders.mayHold(gpu)) {
            return true;
        }
        try {
            boolean wasSet = files.read(gpu).isToReset();
            reset(gpu, LONGEST);
            if (wasSet) {
                LOG.atWarn().addKeyValue("gpu", gpu).log("Reset time slices of no claim");
            }
            return true;
        } catch (DraException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("gpu", gpu)
                    .log("Time slices of no claim can't be reset now; tried again");
            return false;
        }
    }
}
