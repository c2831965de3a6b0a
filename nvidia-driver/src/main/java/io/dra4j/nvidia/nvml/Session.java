// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.jna.SharedLibrary;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An open NVML session with its handles, which end with it.
 *
 * <p>The library is loaded for each session, so that the next session uses a library that was replaced on disk.
 */
final class Session {

    /** Lets the initialization succeed on a node without GPUs, or whose GPUs all have other drivers. */
    private static final int NO_GPUS = 1;

    final NvmlLibrary library;
    final Handles handles;
    final MigInstances mig;
    final GpuReader reader;
    final Quantities quantities;
    final GpmReader gpm;

    private Session(NvmlLibrary library, InstantSource clock) {
        this.library = library;
        handles = new Handles(library);
        mig = new MigInstances(library);
        reader = new GpuReader(library, mig.reader);
        gpm = new GpmReader(library, clock);
        quantities = new Quantities(library, gpm);
    }

    /**
     * Loads and initializes the library.
     *
     * @throws NvmlException if it can't be loaded, or the kernel has no driver
     */
    static Session open(Path file, InstantSource clock) {
        NvmlLibrary library = load(file);
        try {
            initialize(library);
            return new Session(library, clock);
        } catch (NvmlCallException e) {
            library.close();
            throw NvmlException.of("Initializing " + file, e);
        }
    }

    private static NvmlLibrary load(Path file) {
        loadJna();
        try {
            return NvmlLibrary.open(file);
        } catch (UnsatisfiedLinkError e) {
            throw new NvmlException(
                    Reason.NO_DRIVER, "Can't load " + file + ": " + e.getMessage() + "; install the driver again", e);
        }
    }

    private static void loadJna() {
        try {
            SharedLibrary.loadJna();
        } catch (LinkageError e) {
            String why = e.getCause() == null ? e.getMessage() : e.getCause().getMessage(); // after the first time
            throw new NvmlException(
                    Reason.FAILING,
                    "JNA can't load the library that it unpacks to the folder for temporary files: " + why
                            + "; if that folder is read-only or mounted noexec, start Java with -Djna.tmpdir=DIR, a folder from which"
                            + " programs may run",
                    e);
        }
    }

    private static void initialize(NvmlLibrary library) {
        String function = "nvmlInitWithFlags";
        int code = library.call(function, NO_GPUS);
        if (code == NvmlLibrary.FUNCTION_NOT_FOUND) { // an older driver
            library.require("nvmlInit_v2");
        } else {
            library.check(function, code);
        }
    }

    /** Ends the session; it is not an error if the session has already ended. */
    void end() {
        gpm.end();
        library.call("nvmlShutdown");
        library.close();
    }

    /** The handles of GPUs by their UUIDs, while a session is open: a lookup takes seconds on a busy node. */
    static final class Handles {

        private final NvmlLibrary nvml;
        private final Map<String, Long> known = new ConcurrentHashMap<>();

        Handles(NvmlLibrary nvml) {
            this.nvml = nvml;
        }

        /** Returns a handle; a lookup that hangs does not block others. */
        long of(String uuid) {
            Long handle = known.get(uuid);
            if (handle == null) {
                handle = nvml.handle("nvmlDeviceGetHandleByUUID", uuid);
                known.put(uuid, handle);
            }
            return handle;
        }

        /** Looks up a handle again: the handle of a MIG device is stale once the device was recreated. */
        long again(String uuid) {
            known.remove(uuid);
            return of(uuid);
        }

        void know(String uuid, long handle) {
            known.put(uuid, handle);
        }
    }
}
