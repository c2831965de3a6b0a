// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Access to a node's NVML. GPUs are identified by their UUIDs.
 *
 * <p>Each call has its own session, which blocks resets and updates of the driver only during the call, unless a
 * session is {@link #keep kept}. If the driver was reloaded or replaced, the next call has a new session.
 *
 * <p>Thread-safe. Reading many GPUs takes seconds on a busy node, and so does creating or destroying an instance; the
 * caller ensures that nothing else changes the same GPU meanwhile. Failures are thrown as {@link NvmlException}.
 */
public final class Nvml implements AutoCloseable {

    private final Installation installation;
    private final Sessions sessions;
    private final NodeReader.Known known = new NodeReader.Known();
    private final CreatedInstances created = new CreatedInstances();
    private final AtomicLong modeSwitches = new AtomicLong();

    /** Creates the object without a session; failures are timed by a monotonic clock. */
    public Nvml(Installation installation) {
        this(installation, steadyClock());
    }

    public Nvml(Installation installation, InstantSource clock) {
        this.installation = installation;
        sessions = new Sessions(installation, clock);
    }

    private static InstantSource steadyClock() {
        Instant start = Instant.now();
        long nanos = System.nanoTime();
        return () -> start.plusNanos(System.nanoTime() - nanos);
    }

    /**
     * Opens a session that is kept until the result is closed.
     *
     * @param file the absolute path of the library, below the driver root
     * @throws NvmlException if it can't be loaded, or the kernel has no driver
     */
    @SuppressWarnings("resource") // kept for the life of the result
    public static Nvml open(Path file) {
        Nvml opened = new Nvml(Installation.of(file));
        opened.keep();
        opened.sessions.change(session -> true);
        return opened;
    }

    /** Keeps one session open, from the next call until all results are closed. */
    public Lease keep() {
        return sessions.keep();
    }

    /** Runs calls in one session, which the first call opens if necessary. */
    @SuppressWarnings("try") // the lease only has to be held
    public <T> T inOneSession(Supplier<T> calls) {
        try (Lease kept = keep()) {
            return calls.get();
        }
    }

    /**
     * Releases NVML for the whole node: ends the session when its calls have returned, and opens none until the result
     * is closed. Meanwhile all calls fail with {@link Reason#GIVEN_BACK}.
     *
     * @param purpose the reason, named in the failures of others: {@code maintenance}
     * @throws NvmlException with {@link Reason#IN_USE} if a call does not return within half a minute
     */
    public Lease giveBack(String purpose) {
        return sessions.giveBack(purpose);
    }

    /**
     * Releases NVML for a moment, while the kernel takes a GPU from its driver: other calls wait until the result is
     * closed, for at most half a minute.
     *
     * @param purpose the reason, named to calls that wait too long
     * @throws NvmlException with {@link Reason#IN_USE} if one does not return within the time
     */
    public Lease pause(String purpose, Duration timeout) {
        return sessions.pause(purpose, timeout);
    }

    /** Returns why only a restart of the process may help; does not wait for NVML. */
    public Optional<String> persistentFailure() {
        return sessions.persistentFailure();
    }

    public String fingerprint() {
        return installation.fingerprint();
    }

    /**
     * Sets the GPUs that an earlier process read: a lost GPU can't be identified on its own.
     *
     * @param away the addresses of those that NVML does not report, because another driver is bound to them
     */
    public void recall(List<Gpu> gpus, Set<PciAddress> away) {
        known.recall(gpus, away);
    }

    /** Returns the GPUs of all readings, including an earlier process's, each as last read. */
    public List<Gpu> known() {
        return known.gpus();
    }

    /**
     * Reads the GPUs of the node. A failed call loses only what it reads, which is then returned as last read. A GPU
     * that was never read is reported as a problem, and does not affect others.
     *
     * @throws NvmlException if NVML does not return the number of GPUs: unknown does not mean none; or if
     *     the session has ended
     */
    public Reading read() {
        return checked(
                "Reading the node's GPUs", () -> sessions.read(session -> new NodeReader(session, known).read()));
    }

    private static <T> T checked(String operation, Supplier<T> calls) {
        try {
            return calls.get();
        } catch (NvmlCallException e) {
            throw NvmlException.of(operation, e);
        }
    }

    private <T> T read(String gpu, String operation, BiFunction<Session, Long, T> work) {
        return checked(operation + " of " + gpu, () -> sessions.read(on(gpu, work)));
    }

    private <T> T change(String gpu, String operation, BiFunction<Session, Long, T> work) {
        return checked(operation + " of " + gpu, () -> sessions.change(on(gpu, work)));
    }

    private static <T> Function<Session, T> on(String gpu, BiFunction<Session, Long, T> work) {
        return session -> work.apply(session, session.handles.of(gpu));
    }

    /** Requests a MIG mode; if that turns out to need a reset, later readings of the GPU say so. */
    public MigSwitch switchMig(String gpu, boolean enabled) {
        int status = change(gpu, "Switching the MIG mode", (session, handle) -> session.mig.setMode(handle, enabled));
        modeSwitches.incrementAndGet();
        if (status == NvmlLibrary.RESET_REQUIRED) {
            known.modeNeedsReset.add(gpu);
        }
        if (status == NvmlLibrary.SUCCESS) {
            return MigSwitch.DONE;
        }
        return Reason.of(status) == Reason.IN_USE ? MigSwitch.IN_USE : MigSwitch.NEEDS_RESET;
    }

    public boolean modeNeedsReset(String gpu) {
        return known.modeNeedsReset.contains(gpu);
    }

    public boolean isMigEnabled(String gpu) {
        return read(gpu, "Reading the MIG mode", (session, handle) -> session.mig.reader.isEnabled(handle));
    }

    /**
     * Returns whether a GPU needs a reset, or a stronger recovery, before it works again.
     *
     * @return empty if the driver does not report it: before R565, none does
     */
    public Optional<Boolean> needsRecovery(String gpu) {
        OptionalInt action = read(
                gpu, "Reading the recovery action", (session, handle) -> session.quantities.recoveryAction(handle));
        return action.isPresent() ? Optional.of(action.getAsInt() != 0) : Optional.empty();
    }

    /**
     * Returns whether failed memory of a GPU is replaced only with its next reset, or can't be replaced; false for a
     * board that replaces none.
     */
    public boolean isRepairPending(String gpu) {
        return read(
                gpu,
                "Reading pending repairs of the memory",
                (session, handle) -> session.quantities.isRepairPending(handle));
    }

    /** Returns a quantity of a GPU that one call reads, such as the temperature; empty if not supported. */
    public OptionalDouble measure(String gpu, DeviceMeasure quantity) {
        String operation = "Reading the " + quantity.name().toLowerCase(Locale.ROOT);
        return read(gpu, operation, (session, handle) -> session.quantities.of(quantity, handle));
    }

    /**
     * Measures a GPU. Quantities that the board, its mode or an older driver does not measure, or that fail for another
     * reason, are left out.
     *
     * @throws NvmlException if the GPU is lost, or the session has ended
     */
    public Map<DeviceMeasure, Double> measure(String gpu) {
        return read(gpu, "Measuring the GPU", (session, handle) -> session.quantities.ofGpu(handle));
    }

    /**
     * Measures a MIG device, which must be the only one in its GPU instance.
     *
     * <p>Its utilization needs two samples of one session, so it is left out the first time.
     *
     * @throws NvmlException if the MIG device does not exist, its GPU is lost, or the session has ended
     */
    public Map<DeviceMeasure, Double> measureMig(String gpu, String mig) {
        return read(gpu, "Measuring MIG device " + mig, (session, parent) -> measureMig(session, parent, mig));
    }

    private static Map<DeviceMeasure, Double> measureMig(Session session, long gpu, String mig) {
        long device = session.handles.of(mig);
        OptionalInt instance = session.quantities.gpuInstance(device);
        if (instance.isEmpty()) {
            device = session.handles.again(mig);
            instance = session.quantities.gpuInstance(device);
            instance.ifPresent(number -> session.gpm.forget(gpu, number)); // it was recreated
        }
        return session.quantities.ofMig(gpu, device, mig, instance);
    }

    /** Returns all GPU instances of a GPU, including foreign ones; none outside MIG mode. */
    public List<GpuInstance> instances(String gpu) {
        return read(gpu, "Reading the GPU instances", (session, handle) -> session.mig.reader.instances(handle));
    }

    public CreatedInstance createInstance(String gpu, int profileId, InstancePlacement at) {
        return change(
                gpu, "Creating a GPU instance of profile " + profileId + " at " + at.start(), (session, handle) -> {
                    long instance = session.mig.create(handle, profileId, at);
                    long serial = created.instance(session, instance);
                    return new CreatedInstance(session.mig.number(instance), serial);
                });
    }

    /**
     * Creates a compute instance that fills its GPU instance, and returns the MIG device.
     *
     * @param instance a GPU instance that this object has created
     * @throws NvmlException if there is no such GPU instance, or it supports none of the profiles
     */
    public MigDevice createCompute(String gpu, CreatedInstance instance) {
        return change(
                gpu,
                "Creating a compute instance in GPU instance " + instance.id(),
                (session, handle) -> session.mig.createCompute(
                        gpu, handle, instance.id(), compute -> created.compute(session, instance.serial(), compute)));
    }

    /**
     * Returns what is known of an instance that this process has created. Its number and UUID prove nothing, since an
     * instance that others create in the same place has the same ones.
     *
     * @param serial its {@link CreatedInstance#serial}
     * @param withCompute whether its compute instance should also exist
     */
    public Presence presence(String gpu, long serial, boolean withCompute) {
        return read(
                gpu, "Looking for a GPU instance", (session, handle) -> created.presence(session, serial, withCompute));
    }

    /**
     * Starts following an existing instance, as if it had been created here.
     *
     * @return its {@link CreatedInstance#serial}, for {@link #presence}
     */
    public long follow(String gpu, GpuInstance instance) {
        return read(
                gpu,
                "Looking for GPU instance " + instance.id(),
                (session, handle) -> follow(session, handle, instance));
    }

    private long follow(Session session, long gpu, GpuInstance instance) {
        long serial = created.instance(session, session.mig.handle(gpu, instance.id()));
        instance.devices().forEach(device -> created.compute(session, serial, session.mig.computeHandle(gpu, device)));
        return serial;
    }

    public String moduleLoad() {
        return installation.moduleLoad();
    }

    /** Destroys a GPU instance, if it exists, after its compute instances. */
    public void destroy(String gpu, GpuInstance instance) {
        instance.devices().forEach(it -> destroyCompute(gpu, instance.id(), it.computeInstance()));
        destroyInstance(gpu, instance.id());
    }

    /** Destroys a compute instance, if it exists. */
    public void destroyCompute(String gpu, int instance, int compute) {
        change(gpu, "Destroying compute instance " + compute + " in GPU instance " + instance, (session, handle) -> {
            session.mig.destroyCompute(handle, instance, compute);
            return true;
        });
    }

    /** Destroys a GPU instance without compute instances, if it exists. */
    public void destroyInstance(String gpu, int instance) {
        change(gpu, "Destroying GPU instance " + instance, (session, handle) -> {
            session.mig.destroy(handle, instance).ifPresent(created::forget);
            session.gpm.forget(handle, instance);
            return true;
        });
    }

    /**
     * Subscribes to the events of some GPUs; a session is kept until the result is closed.
     *
     * @throws NvmlException if NVML creates no event set
     */
    public NvmlEvents subscribe(Set<String> gpus) {
        long switches = modeSwitches.get();
        BooleanSupplier isCurrent = () -> modeSwitches.get() == switches;
        Lease kept = keep();
        try {
            return checked(
                    "Creating an event set",
                    () -> sessions.read(session -> new NvmlEvents(sessions, session, kept, gpus, isCurrent)));
        } catch (NvmlException e) {
            kept.close();
            throw e;
        }
    }

    @Override
    public void close() {
        sessions.close();
    }

    /**
     * The instances that were created in the present session, by their handles: NVML accepts a handle only while its
     * instance exists, even if another has the same number. Thread-safe.
     */
    private static final class CreatedInstances {

        private final Map<Long, Created> bySerial = new HashMap<>(); // guarded by this, as what follows
        private @Nullable Session present;
        private long last;
        private long earlier; // the last of earlier sessions

        private static final Created GONE = new Created(0, 0);

        /** Handles, which belong to the session; 0 if none exists. */
        private record Created(long instance, long compute) {}

        synchronized long instance(Session session, long handle) {
            if (session != present) {
                present = session;
                earlier = last;
                bySerial.clear();
            }
            forget(handle); // it now refers to another instance
            bySerial.put(++last, new Created(handle, 0));
            return last;
        }

        synchronized void forget(long handle) {
            bySerial.values().removeIf(known -> known.instance == handle);
        }

        synchronized void compute(Session session, long serial, long handle) {
            if (session == present) {
                bySerial.computeIfPresent(serial, (key, known) -> new Created(known.instance, handle));
            }
        }

        /**
         * Tests the handles, the compute instance's only if it should exist. Otherwise a GPU instance counts as foreign
         * as soon as it has another compute instance.
         */
        Presence presence(Session session, long serial, boolean withCompute) {
            Created known = find(session, serial);
            if (known == null) {
                return Presence.UNKNOWN;
            }
            boolean exists = known.instance != 0
                    && session.mig.exists(known.instance)
                    && (!withCompute
                            || known.compute == 0
                            || session.mig.computeExists(known.compute)
                            || !session.mig.hasComputes(known.instance));
            return exists ? Presence.PRESENT : Presence.GONE;
        }

        private synchronized @Nullable Created find(Session session, long serial) {
            return session == present && serial > earlier ? bySerial.getOrDefault(serial, GONE) : null;
        }
    }

    /**
     * A GPU instance that this process has created.
     *
     * @param id its number, which is reused
     * @param serial its place in the order of creation by this process, which is not reused
     */
    public record CreatedInstance(int id, long serial) {}

    /** The result of a request for a MIG mode. */
    public enum MigSwitch {
        /** The mode is in effect. */
        DONE,
        /** The mode takes effect after a reset of the GPU. */
        NEEDS_RESET,
        /** A process uses the GPU. */
        IN_USE
    }

    /** The state of a GPU instance that was created here, as far as it is known. */
    public enum Presence {
        /** It exists. */
        PRESENT,
        /** It was destroyed; an instance in its place is foreign. */
        GONE,
        /** It was created in an earlier session: an instance in its place may be this one or a foreign one. */
        UNKNOWN
    }
}
