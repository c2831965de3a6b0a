// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.LongFunction;

/**
 * An open NVML. GPUs are named by their UUIDs.
 *
 * <p>Thread-safe. Reading many GPUs takes seconds on a busy node, and so does creating or
 * destroying an instance; the caller ensures that nothing else changes the same GPU meanwhile.
 * Failures are thrown as {@link NvmlException}.
 */
public final class Nvml implements AutoCloseable {

    private final NvmlLibrary library;
    private final MigInstances mig;
    private final GpuReader reader;
    private final NodeReader node;
    private final Handles handles;

    private Nvml(NvmlLibrary library) {
        this.library = library;
        mig = new MigInstances(library);
        handles = new Handles(library);
        reader = new GpuReader(library, mig);
        node = new NodeReader(library, reader, handles);
    }

    /**
     * Opens and initializes the library.
     *
     * @param file its absolute path, below the driver root
     * @throws NvmlException if it can't be loaded, or the kernel has no driver
     */
    public static Nvml open(Path file) {
        try {
            NvmlLibrary library = NvmlLibrary.open(file);
            library.require("nvmlInit_v2");
            return new Nvml(library);
        } catch (UnsatisfiedLinkError e) {
            throw new NvmlException(
                    Reason.NO_DRIVER,
                    "Can't load " + file + ": " + e.getMessage() + "; install the driver again",
                    e);
        } catch (NvmlCallException e) {
            throw NvmlException.of("Initializing " + file, e);
        }
    }

    /** Sets the GPUs that an earlier process read: a lost GPU can't be identified by itself. */
    public void recall(List<Gpu> gpus) {
        node.recall(gpus);
    }

    /**
     * Reads the GPUs of the node. A GPU that has fallen off the bus is returned as last read; one
     * that was never read is among the problems, and does not hide the others.
     *
     * @throws NvmlException if NVML does not return the number of GPUs: unknown is not none
     */
    public Reading read() {
        try {
            NodeReader.Found found = node.read();
            int cuda = library.number("nvmlSystemGetCudaDriverVersion_v2");
            return new Reading(
                    library.text("nvmlSystemGetDriverVersion"),
                    cuda / 1000 + "." + cuda % 1000 / 10,
                    found.gpus,
                    found.lost,
                    found.unread,
                    found.problems);
        } catch (NvmlCallException e) {
            throw NvmlException.of("Reading the node's GPUs", e);
        }
    }

    private <T> T on(String gpu, String operation, LongFunction<T> work) {
        try {
            return work.apply(handles.of(gpu));
        } catch (NvmlCallException e) {
            throw NvmlException.of(operation + " of " + gpu, e);
        }
    }

    /** Requests a MIG mode, which takes effect at once where no reset is needed. */
    public MigSwitch switchMig(String gpu, boolean enabled) {
        int status = on(gpu, "Switching the MIG mode", handle -> mig.setMode(handle, enabled));
        if (status == NvmlLibrary.SUCCESS) {
            return MigSwitch.DONE;
        }
        return Reason.of(status) == Reason.IN_USE ? MigSwitch.IN_USE : MigSwitch.NEEDS_RESET;
    }

    /** Returns whether a GPU is in MIG mode now, and so can't be used as a whole. */
    public boolean isMigEnabled(String gpu) {
        return on(gpu, "Reading the MIG mode", mig::isEnabled);
    }

    /**
     * Returns whether a GPU needs a reset, or a stronger recovery, before it works again.
     *
     * @return empty if the driver does not report it: before R565, none does
     */
    public Optional<Boolean> needsRecovery(String gpu) {
        OptionalInt action = on(gpu, "Reading the recovery action", reader::recoveryAction);
        return action.isPresent() ? Optional.of(action.getAsInt() != 0) : Optional.empty();
    }

    /** Returns the GPU instances of a GPU, including those of others; none outside MIG mode. */
    public List<GpuInstance> instances(String gpu) {
        return on(gpu, "Reading the GPU instances", mig::instances);
    }

    /** Creates a GPU instance, and returns its number. */
    public int createInstance(String gpu, int profileId, Placement at) {
        return on(
                gpu,
                "Creating a GPU instance of profile " + profileId + " at " + at.start(),
                handle -> mig.create(handle, profileId, at));
    }

    /**
     * Creates a compute instance as large as its GPU instance, and returns the MIG device.
     *
     * @throws NvmlException if there is no such GPU instance, or it supports none of the profiles
     */
    public MigDevice createCompute(String gpu, int instance) {
        return on(
                gpu,
                "Creating a compute instance in GPU instance " + instance,
                handle -> mig.createCompute(gpu, handle, instance));
    }

    /** Destroys a compute instance, if it exists. */
    public void destroyCompute(String gpu, int instance, int compute) {
        on(
                gpu,
                "Destroying compute instance " + compute + " in GPU instance " + instance,
                handle -> {
                    mig.destroyCompute(handle, instance, compute);
                    return true;
                });
    }

    /** Destroys a GPU instance without compute instances, if it exists. */
    public void destroyInstance(String gpu, int instance) {
        on(
                gpu,
                "Destroying GPU instance " + instance,
                handle -> {
                    mig.destroy(handle, instance);
                    return true;
                });
    }

    /** Destroys a GPU instance, if it exists, and first its compute instances. */
    public void destroy(String gpu, GpuInstance instance) {
        instance.devices().forEach(it -> destroyCompute(gpu, instance.id(), it.computeInstance()));
        destroyInstance(gpu, instance.id());
    }

    /** Subscribes to the events of some GPUs. */
    public NvmlEvents subscribe(Set<String> gpus) {
        return new NvmlEvents(library, handles, gpus);
    }

    @Override
    public void close() {
        try {
            library.require("nvmlShutdown");
        } catch (NvmlCallException e) {
            throw NvmlException.of("Shutting NVML down", e);
        }
    }
}
