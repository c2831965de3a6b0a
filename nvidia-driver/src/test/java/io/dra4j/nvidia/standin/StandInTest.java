// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Difficulties that boards make, and that no test of the driver would miss if the stand-in did not make them. */
class StandInTest {

    private static final int INVALID_ARGUMENT = 2;
    private static final int NOT_SUPPORTED = 3;
    private static final int TIMEOUT = 10;
    private static final int SEVEN = 0; // the hardware's number of the largest profile
    private static final String CI_PROFILE = "nvmlComputeInstanceProfileInfo_t";
    private static final String CI_PROFILE_INFO = "nvmlGpuInstanceGetComputeInstanceProfileInfo";

    @TempDir
    private Path folder;

    private NodeState state;
    private Administrator administrator;
    private NativeLibrary library;

    /** Returns the first GPU of boards in a new session, in MIG mode. */
    private Pointer divided(String boards) {
        StandInNode node = StandInNode.install(folder, boards);
        state = node.state();
        administrator = node.administrator();
        library = NativeLibrary.getInstance(node.library().toString());
        state.setMig(0, true);
        assertThat(call("nvmlInit_v2")).isZero();
        return handle("nvmlDeviceGetHandleByIndex_v2", 0);
    }

    @AfterEach
    void shutDown() {
        assertThat(call("nvmlShutdown")).isZero();
    }

    private int call(String function, Object... arguments) {
        return library.getFunction(function).invokeInt(arguments);
    }

    private Pointer handle(String function, Object... arguments) {
        PointerByReference handle = new PointerByReference();
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = handle;
        assertThat(call(function, all)).as(function).isZero();
        return handle.getValue();
    }

    private static Memory room(String struct) {
        Memory memory = new Memory(Layouts.read().of(struct).size());
        memory.clear();
        return memory;
    }

    @Test
    void thereAreOnlyTheProfilesOfTheBoard() {
        Pointer gpu = divided("a100-40");
        String function = "nvmlDeviceGetGpuInstanceProfileInfo";

        try (Memory info = room("nvmlGpuInstanceProfileInfo_t")) {
            assertThat(call(function, gpu, 5, info)).isEqualTo(NOT_SUPPORTED);
            assertThat(call(function, gpu, 8, info)).isEqualTo(NOT_SUPPORTED);
            assertThat(call(function, gpu, 18, info)).isEqualTo(INVALID_ARGUMENT);
        }
    }

    /** Boards since Hopper have a second profile as large as the largest, which cannot be made. */
    @ParameterizedTest
    @CsvSource({"a100-40, '0 1 2 3 4'", "h100-80, '0 1 2 3 4 8'"})
    void theLargestInstanceHasTheProfilesOfTheBoard(String boards, String profiles) {
        Pointer gpu = divided(boards);
        Pointer seven;
        try (Memory placement = room("nvmlGpuInstancePlacement_t")) {
            placement.setInt(Integer.BYTES, 8); // memory slices
            seven = handle("nvmlDeviceCreateGpuInstanceWithPlacement", gpu, SEVEN, placement);
        }

        assertThat(reported(seven)).isEqualTo(profiles);
        assertThat(call("nvmlGpuInstanceCreateComputeInstance", seven, 8, new PointerByReference()))
                .isEqualTo(NOT_SUPPORTED);
    }

    private String reported(Pointer instance) {
        try (Memory info = room(CI_PROFILE)) {
            return IntStream.range(0, 9)
                    .filter(index -> call(CI_PROFILE_INFO, instance, index, 0, info) == 0)
                    .map(index -> info.getInt(Layouts.read().of(CI_PROFILE).at("id")))
                    .mapToObj(String::valueOf)
                    .collect(Collectors.joining(" "));
        }
    }

    @ParameterizedTest
    @CsvSource({"a100-40, true", "h100-80, false"})
    void theModeOutlivesALoadOfTheModuleBeforeHopper(String boards, boolean keepsMode) {
        divided(boards);
        assertThat(call("nvmlShutdown")).isZero();
        assertThat(administrator.unload()).isZero();
        administrator.load();

        assertThat(call("nvmlInit_v2")).isZero();
        assertThat(state.isMigEnabled(0)).isEqualTo(keepsMode);
    }

    @Test
    void aSwitchOfTheModeMayEndTheRegistrationsOfEvents() {
        Pointer gpu = divided("h100-80");
        Pointer events = handle("nvmlEventSetCreate");
        call("nvmlDeviceRegisterEvents", gpu, 0x108L, events);
        state.modeEndsEvents(true);
        assertThat(call("nvmlDeviceSetMigMode", gpu, 0, new Memory(Integer.BYTES)))
                .isZero();

        state.xid(0, -1, 79);
        assertThat(waited(events)).isEqualTo(TIMEOUT);

        call("nvmlDeviceRegisterEvents", gpu, 0x108L, events);
        state.xid(0, -1, 79);
        assertThat(waited(events)).isZero();
    }

    private int waited(Pointer events) {
        try (Memory data = room("nvmlEventData_t")) {
            return call("nvmlEventSetWait_v2", events, data, 1);
        }
    }
}
