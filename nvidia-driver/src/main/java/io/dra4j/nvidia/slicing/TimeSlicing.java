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
import io.dra4j.nvidia.sharing.ComputeModes;
import io.dra4j.nvidia.sharing.Holders;
import io.dra4j.nvidia.sharing.SharedDevice;
import io.dra4j.nvidia.sharing.SharedGroup;
import io.dra4j.nvidia.sharing.SharingContext;
import io.dra4j.nvidia.sharing.SharingSettings;
import io.dra4j.nvidia.sharing.SharingSettings.StrategyName;
import io.dra4j.nvidia.sharing.SharingSettings.TimeSliceInterval;
import io.dra4j.nvidia.sharing.SharingStrategy;
import io.dra4j.nvidia.state.GpuFiles;
import io.dra4j.nvidia.state.SharingRecord;
import io.dra4j.runtime.RecordState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets the time slices of whole GPUs, and the compute mode that they need. Both are set once for all claims that share
 * a GPU, and restored after the last one.
 *
 * <p>Time slices are a setting of the GPU, so claims with a different interval are refused. MIG devices have no time
 * slices. Thread-safe: one thread at a time changes a GPU.
 */
public final class TimeSlicing implements SharingStrategy {

    private static final Logger LOG = LoggerFactory.getLogger(TimeSlicing.class);
    private static final RecordState<Recorded> FORM = RecordState.of(1, Recorded.class);

    private static final Duration LONGEST = Duration.ofSeconds(20); // of nvidia-smi

    private final NvidiaSmi smi;
    private final GpuFiles files;
    private final ComputeModes modes;
    private final GpuLocks locks = new GpuLocks();

    private record Recorded(TimeSliceInterval interval) {}

    /**
     * Creates the strategy.
     *
     * @param files remember which GPUs were given time slices
     */
    public TimeSlicing(NvidiaSmi smi, GpuFiles files, ComputeModes modes) {
        this.smi = smi;
        this.files = files;
        this.modes = modes;
    }

    @Override
    public StrategyName strategy() {
        return StrategyName.TimeSlicing;
    }

    /** Without an interval, the claim is prepared even if none can be set. */
    @Override
    public void requireThere(SharingSettings settings) {
        if (settings.interval() != null && settings.interval() != TimeSliceInterval.Default) {
            smi.requireThere();
        }
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
            locks.run(gpu, () -> set(gpu, interval(group), context));
        }
        return ContainerEdits.NONE;
    }

    /** The setting belongs to the GPU, regardless of the driver that set it. */
    @Override
    public Runnable adopt(SharedGroup group) {
        List<String> gpus = targets(group);
        Slice set = new Slice(interval(group), true, TimeSliceInterval.Default);
        return () -> gpus.forEach(gpu -> write(gpu, set));
    }

    @Override
    public void suspect(List<String> gpus) {
        gpus.forEach(gpu -> write(gpu, Slice.SUSPECTED));
    }

    private Slice read(String gpu) {
        return files.read(gpu).map(Slice::read).orElse(Slice.NONE);
    }

    private void write(String gpu, Slice slice) {
        if (slice.equals(Slice.NONE)) {
            files.delete(gpu);
        } else {
            files.write(gpu, slice.lines());
        }
    }

    private void set(String gpu, TimeSliceInterval interval, SharingContext context) {
        Slice known = read(gpu);
        if (known.isSetTo(interval) && isShared(gpu, context)) {
            return; // by another claim
        }
        try {
            modes.change(List.of(gpu), ComputeModes.DEFAULT, () -> context.timeout(LONGEST));
            TimeSliceInterval before = known.equals(Slice.NONE) ? present(gpu, context) : known.before();
            write(gpu, new Slice(interval, false, before));
            smi.setTimeSlice(gpu, interval.ordinal(), context.timeout(LONGEST));
            write(gpu, new Slice(interval, true, before));
        } catch (SmiException e) {
            if (e.outcome() != Outcome.UNKNOWN) {
                write(gpu, known);
            }
            if (interval != TimeSliceInterval.Default) {
                throw new PrepareException(
                        "time slices of %s can't be set to %s: %s".formatted(gpu, interval, e.getMessage()), e);
            }
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("gpu", gpu)
                    .log("Time slices can't be set to the driver's default; continuing with the current ones");
        }
    }

    private TimeSliceInterval present(String gpu, SharingContext context) {
        return smi.timeSlice(gpu, context.timeout(LONGEST))
                .flatMap(found -> Stream.of(TimeSliceInterval.values())
                        .filter(one -> one.name().equalsIgnoreCase(found))
                        .findFirst())
                .orElse(TimeSliceInterval.Default);
    }

    private static boolean isShared(String gpu, SharingContext context) {
        return !context.others(gpu).isEmpty();
    }

    @Override
    public void undo(SharingRecord recorded, SharingContext context) {
        for (String gpu : recorded.targets()) {
            locks.run(gpu, () -> undo(gpu, context));
        }
    }

    private void undo(String gpu, SharingContext context) {
        if (!isShared(gpu, context)) {
            context.putBack(gpu, () -> reset(gpu, () -> context.timeout(LONGEST)));
        }
        context.release(gpu);
    }

    /** Restores the GPU's settings, each even if the other can't be restored. */
    private Optional<String> reset(String gpu, Supplier<Duration> timeout) {
        try {
            return modes.restore(gpu, timeout);
        } finally {
            resetSlices(gpu, timeout);
        }
    }

    private void resetSlices(String gpu, Supplier<Duration> timeout) {
        Slice slice = read(gpu);
        if (slice.isToReset()) {
            NvidiaSmi.unlessGone(gpu, () -> smi.setTimeSlice(gpu, slice.before().ordinal(), timeout.get()));
        }
        write(gpu, Slice.NONE);
    }

    @Override
    public Map<String, String> leftOver(Holders holders) {
        Map<String, String> left = new TreeMap<>();
        files.gpus().stream()
                .filter(gpu -> read(gpu).isToReset())
                .forEach(gpu -> left.put(gpu, "time slices of " + gpu));
        modes.gpus().stream()
                .filter(modes::isToRestore)
                .forEach(gpu -> left.merge(gpu, "compute mode of " + gpu, (slices, mode) -> slices + " and " + mode));
        left.keySet().removeIf(holders::mayHold);
        return left;
    }

    @Override
    public boolean clean(Supplier<Holders> holders, Runnable left) {
        Set<String> gpus = new TreeSet<>(files.gpus());
        gpus.addAll(modes.gpus());
        for (String gpu : gpus) {
            Supplier<Boolean> work = () -> holders.get().mayHold(gpu) || clean(gpu);
            boolean isClean = locks.with(gpu, () -> modes.with(gpu, work));
            if (!isClean) {
                left.run();
            }
        }
        return true;
    }

    private boolean clean(String gpu) {
        try {
            boolean wasSet = read(gpu).isToReset() || modes.isToRestore(gpu);
            Optional<String> problem = reset(gpu, () -> LONGEST);
            if (wasSet) {
                LOG.atWarn()
                        .addKeyValue("gpu", gpu)
                        .addKeyValue("reason", problem.orElse("none"))
                        .log("Restored settings of a GPU that no claim has");
            }
            return true;
        } catch (DraException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("gpu", gpu)
                    .log("Settings of a GPU that no claim has can't be restored now; will be retried");
            return false;
        }
    }

    /**
     * The time slices that this driver has given a GPU.
     *
     * @param isSet whether it is certainly in effect; otherwise it may be
     */
    private record Slice(TimeSliceInterval interval, boolean isSet, TimeSliceInterval before) {

        /** The slices of a GPU on which this driver has set none. */
        static final Slice NONE = new Slice(TimeSliceInterval.Default, true, TimeSliceInterval.Default);

        /** Any slices, whether set or not. */
        static final Slice SUSPECTED = new Slice(TimeSliceInterval.Long, false, TimeSliceInterval.Default);

        /** Reads the lines of a file; a damaged one gives Long, not known to be set. */
        static Slice read(List<String> lines) {
            try {
                return new Slice(
                        TimeSliceInterval.valueOf(lines.get(0)),
                        Boolean.parseBoolean(lines.get(1)),
                        lines.size() == 2 ? TimeSliceInterval.Default : TimeSliceInterval.valueOf(lines.get(2)));
            } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
                return SUSPECTED;
            }
        }

        List<String> lines() {
            return List.of(interval.name(), String.valueOf(isSet), before.name());
        }

        boolean isSetTo(TimeSliceInterval wanted) {
            return isSet && interval == wanted;
        }

        boolean isToReset() {
            return interval != before;
        }
    }
}
