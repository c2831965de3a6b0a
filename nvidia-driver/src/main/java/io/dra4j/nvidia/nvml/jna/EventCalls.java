// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import java.util.Optional;

/** What happens to GPUs, as NVML tells it. */
public final class EventCalls {

    /** A critical error of a GPU, with its number. */
    public static final long XID = 0x8;

    /** Instances came or went. */
    public static final long MIG_CONFIG_CHANGED = 0x100;

    private static final int TIMEOUT = 10;

    private final NvmlLibrary nvml;

    /** The calls of a library. */
    public EventCalls(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /** Makes a set, in which events are waited for. */
    public long create() {
        return nvml.handle("nvmlEventSetCreate");
    }

    /** Ends a set, in which nobody waits any more. */
    public void free(long set) {
        nvml.require("nvmlEventSetFree", NvmlLibrary.pointer(set));
    }

    /** The types of events that a GPU tells of. */
    public long supported(long gpu) {
        LongByReference types = new LongByReference();
        nvml.require("nvmlDeviceGetSupportedEventTypes", NvmlLibrary.pointer(gpu), types);
        return types.getValue();
    }

    /** Lets a set hear of a GPU from now on. */
    public void register(long gpu, long types, long set) {
        nvml.require(
                "nvmlDeviceRegisterEvents",
                NvmlLibrary.pointer(gpu),
                types,
                NvmlLibrary.pointer(set));
    }

    /**
     * Something that happened.
     *
     * @param gpu the handle of the GPU
     * @param type one of the types
     * @param data the number of an XID
     * @param instance the GPU instance, or -1 if it concerns the whole GPU
     * @param compute the compute instance, or -1
     */
    public record Event(long gpu, long type, long data, int instance, int compute) {}

    /** Waits for the next event, on the calling thread; empty when the time is over. */
    public Optional<Event> await(long set, int millis) {
        Structs.EventData data = new Structs.EventData();
        String function = "nvmlEventSetWait_v2";
        int code = nvml.call(function, NvmlLibrary.pointer(set), data, millis);
        if (code == TIMEOUT) {
            return Optional.empty();
        }
        nvml.check(function, code);
        return Optional.of(
                new Event(
                        Pointer.nativeValue(data.device),
                        data.eventType,
                        data.eventData,
                        data.gpuInstanceId,
                        data.computeInstanceId));
    }
}
