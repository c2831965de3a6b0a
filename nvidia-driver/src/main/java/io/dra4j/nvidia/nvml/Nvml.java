// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.jna.DeviceCalls;
import io.dra4j.nvidia.nvml.jna.EventCalls;
import io.dra4j.nvidia.nvml.jna.MigCalls;
import io.dra4j.nvidia.nvml.jna.NvmlCallException;
import io.dra4j.nvidia.nvml.jna.NvmlLibrary;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.LongFunction;

/**
 * An open NVML. GPUs are named by their UUIDs; they are the same until it is closed.
 *
 * <p>Thread-safe. Reading many GPUs takes seconds on a busy node, and so does making or destroying
 * an instance; whoever calls takes care that nobody else changes the same GPU meanwhile. What NVML
 * refuses is thrown as {@link NvmlException}.
 */
public final class Nvml implements AutoCloseable {

    private final NvmlLibrary library;
    private final DeviceCalls devices;
    private final MigCalls mig;
    private final MigReader instances;
    private final NodeReader node;
    private final Handles handles;

    private Nvml(NvmlLibrary library) {
        this.library = library;
        devices = new DeviceCalls(library);
        mig = new MigCalls(library);
        instances = new MigReader(devices, mig);
        handles = new Handles(devices);
        node = new NodeReader(devices, new GpuReader(devices, instances), handles);
    }

    /**
     * Opens and initializes the library.
     *
     * @param file its absolute path, below the driver root
     * @throws NvmlException if it is not loadable, or the kernel's driver is not there
     */
    public static Nvml open(Path file) {
        try {
            NvmlLibrary library = NvmlLibrary.open(file);
            library.init();
            return new Nvml(library);
        } catch (UnsatisfiedLinkError e) {
            throw new NvmlException(
                    Reason.NO_DRIVER,
                    "Can't load " + file + ": " + e.getMessage() + "; install the driver again",
                    e);
        } catch (NvmlCallException e) {
            throw Translation.of("Initializing " + file, e);
        }
    }

    /** Takes GPUs for known that somebody read before: one that is lost can't say who it is. */
    public void recall(List<Gpu> gpus) {
        node.recall(gpus);
    }

    /**
     * Reads what the node has. A GPU that has fallen off the bus is there as it was last known; one
     * that never could be read is told of among the troubles, and hides no other.
     *
     * @throws NvmlException if NVML does not say how many GPUs there are: unknown is not none
     */
    public Reading read() {
        try {
            NodeReader.Found found = node.read();
            int cuda = library.cudaVersion();
            String version = cuda / 1000 + "." + cuda % 1000 / 10;
            return new Reading(
                    library.driverVersion(),
                    version,
                    found.gpus,
                    found.lost,
                    found.unread,
                    found.troubles);
        } catch (NvmlCallException e) {
            throw Translation.of("Reading the node's GPUs", e);
        }
    }

    private <T> T on(String gpu, String what, LongFunction<T> work) {
        try {
            return work.apply(handles.of(gpu));
        } catch (NvmlCallException e) {
            throw Translation.of(what + " of " + gpu, e);
        }
    }

    /** Asks for a MIG mode, which comes into force at once where that needs no reset. */
    public MigSwitch switchMig(String gpu, boolean divided) {
        int status = on(gpu, "Switching the MIG mode", handle -> mig.setMode(handle, divided));
        if (status == 0) {
            return MigSwitch.DONE;
        }
        return Translation.reason(status) == Reason.IN_USE
                ? MigSwitch.IN_USE
                : MigSwitch.NEEDS_RESET;
    }

    /** Whether a GPU is divided now, so that nobody can use it as a whole. */
    public boolean isDivided(String gpu) {
        return on(
                gpu,
                "Reading the MIG mode",
                handle -> mig.mode(handle).map(MigCalls.Mode::current).orElse(false));
    }

    /**
     * Whether a GPU needs a reset, or something harder, before it can be trusted again.
     *
     * @return empty if the driver does not say: before R565, none does
     */
    public Optional<Boolean> needsRecovery(String gpu) {
        OptionalInt action = on(gpu, "Reading the recovery action", devices::recoveryAction);
        return action.isPresent() ? Optional.of(action.getAsInt() != 0) : Optional.empty();
    }

    /** The GPU instances of a GPU, whoever made them; none if it is not divided. */
    public List<GpuInstance> instances(String gpu) {
        return on(gpu, "Reading the GPU instances", instances::instances);
    }

    /** Makes a GPU instance, and returns its number. */
    public int createInstance(String gpu, int profileId, Placement at) {
        MigCalls.Placement place = new MigCalls.Placement(at.start(), at.size());
        return on(
                gpu,
                "Making a GPU instance of profile " + profileId + " at " + at.start(),
                handle -> mig.describe(mig.create(handle, profileId, place)).id());
    }

    /**
     * Makes a compute instance as large as its GPU instance, and returns the MIG device.
     *
     * @throws NvmlException if there is no such GPU instance, or none of the profiles can be made
     */
    public MigDevice createCompute(String gpu, int instance) {
        return on(
                gpu,
                "Making a compute instance in GPU instance " + instance,
                handle -> new ComputeInstances(mig, instances).create(gpu, handle, instance));
    }

    /** Destroys a compute instance; one that is not there is no trouble. */
    public void destroyCompute(String gpu, int instance, int compute) {
        on(
                gpu,
                "Destroying compute instance " + compute + " in GPU instance " + instance,
                handle -> {
                    mig.instance(handle, instance)
                            .ifPresent(
                                    in -> mig.compute(in, compute).ifPresent(mig::destroyCompute));
                    return true;
                });
    }

    /** Destroys a GPU instance without compute instances; one that is not there is no trouble. */
    public void destroyInstance(String gpu, int instance) {
        on(
                gpu,
                "Destroying GPU instance " + instance,
                handle -> {
                    mig.instance(handle, instance).ifPresent(mig::destroy);
                    return true;
                });
    }

    /** Listens to what happens to some GPUs from now on. */
    public NvmlEvents listen(Set<String> gpus) {
        return NvmlEvents.open(new EventCalls(library), handles, gpus);
    }

    @Override
    public void close() {
        try {
            library.shutdown();
        } catch (NvmlCallException e) {
            throw Translation.of("Shutting NVML down", e);
        }
    }
}
