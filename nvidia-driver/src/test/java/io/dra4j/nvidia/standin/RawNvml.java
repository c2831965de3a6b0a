// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Arrays;

/** The library without the driver's binding: functions, numbers and bytes. */
final class RawNvml {

    private static final Layouts LAYOUTS = Layouts.read();
    private static final int TEXT = 96;

    private final NativeLibrary library;

    RawNvml(StandInNode node) {
        library = NativeLibrary.getInstance(node.library().toString());
    }

    int call(String function, Object... arguments) {
        return library.getFunction(function).invokeInt(arguments);
    }

    private void require(String function, Object... arguments) {
        assertThat(call(function, arguments)).as(function).isZero();
    }

    private static Object[] with(Object[] arguments, Object last) {
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = last;
        return all;
    }

    Pointer handle(String function, Object... arguments) {
        PointerByReference handle = new PointerByReference();
        require(function, with(arguments, handle));
        return handle.getValue();
    }

    int number(String function, Object... arguments) {
        IntByReference number = new IntByReference();
        require(function, with(arguments, number));
        return number.getValue();
    }

    /** Returns a field of the struct that a function writes to its last argument. */
    int field(String struct, String field, String function, Object... arguments) {
        try (Memory memory = room(struct)) {
            require(function, with(arguments, memory));
            return memory.getInt(LAYOUTS.of(struct).at(field));
        }
    }

    static Memory room(String struct) {
        Memory memory = new Memory(LAYOUTS.of(struct).size());
        memory.clear();
        return memory;
    }

    String uuid(Pointer device) {
        try (Memory text = new Memory(TEXT)) {
            require("nvmlDeviceGetUUID", device, text, TEXT);
            return text.getString(0);
        }
    }

    Pointer gpu(int index) {
        return handle("nvmlDeviceGetHandleByIndex_v2", index);
    }

    /** Creates a GPU instance of one slice that is one memory slice large. */
    Pointer createInstance(Pointer gpu, int start) {
        return createInstance(gpu, 19, start, 1);
    }

    Pointer createInstance(Pointer gpu, int profileId, int start, int size) {
        try (Memory placement = room("nvmlGpuInstancePlacement_t")) {
            placement.setInt(0, start);
            placement.setInt(Integer.BYTES, size);
            return handle("nvmlDeviceCreateGpuInstanceWithPlacement", gpu, profileId, placement);
        }
    }

    int instanceId(Pointer instance) {
        return field("nvmlGpuInstanceInfo_t", "id", "nvmlGpuInstanceGetInfo", instance);
    }

    void setMode(Pointer gpu, boolean enabled) {
        assertThat(number("nvmlDeviceSetMigMode", gpu, enabled ? 1 : 0)).isZero();
    }
}
