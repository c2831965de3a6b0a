// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The stand-in behaves as NVML does on boards, and as tests order it. */
class StandInTest {

    private static final int UNINITIALIZED = 1;
    private static final int INVALID_ARGUMENT = 2;
    private static final int NOT_SUPPORTED = 3;
    private static final int NO_PERMISSION = 4;
    private static final int DRIVER_NOT_LOADED = 9;
    private static final int TIMEOUT = 10;
    private static final int IN_USE = 19;
    private static final int GPU_NOT_FOUND = 28;
    private static final int SEVEN = 0;
    private static final String CI_PROFILE = "nvmlComputeInstanceProfileInfo_t";
    private static final String CI_PROFILE_INFO = "nvmlGpuInstanceGetComputeInstanceProfileInfo";
    private static final String CREATE_CI = "nvmlGpuInstanceCreateComputeInstance";

    @TempDir
    private Path folder;

    private StandInNode node;
    private NodeState state;
    private RawNvml nvml;

    private void install(String boards) {
        node = StandInNode.install(folder, boards);
        state = node.state();
        nvml = new RawNvml(node);
    }

    /** Returns the first GPU of boards in a new session, in MIG mode. */
    private Pointer divided(String boards) {
        install(boards);
        state.setMig(0, true);
        assertThat(nvml.call("nvmlInit_v2")).isZero();
        return nvml.gpu(0);
    }

    @AfterEach
    void shutDown() {
        state.noneFails();
        while (nvml.call("nvmlShutdown") == 0) {}
    }

    @Nested
    class Instances {

        @ParameterizedTest
        @CsvSource({
            "19, '0,1,2,3,4,5,6', 1, '11,12,13,14,7,8,9'",
            "14, '0,2,4', 2, '5,6,3'",
            "9, '0,4', 4, '2,1'",
            "0, '0', 8, '0'"
        })
        void haveTheIdsOfTheirPlaces(int profile, String starts, int size, String ids) {
            Pointer gpu = divided("a100-40");

            List<Integer> found = new ArrayList<>();
            for (String start : starts.split(",")) {
                Pointer made = nvml.createInstance(gpu, profile, Integer.parseInt(start), size);
                found.add(nvml.instanceId(made));
            }

            assertThat(found)
                    .isEqualTo(Stream.of(ids.split(",")).map(Integer::valueOf).toList());
        }

        @Test
        void haveNamesOfTheirPlacesAsUuids() {
            Pointer gpu = divided("h100-80");

            String first = uuidAt(gpu, 5);

            assertThat(uuidAt(gpu, 6)).isNotEqualTo(first);
            assertThat(uuidAt(gpu, 5)).isEqualTo(first).startsWith("MIG-");
            assertThat(UUID.fromString(first.substring(4)).version()).isEqualTo(5);
        }

        /** Creates a MIG device and destroys it. */
        private String uuidAt(Pointer gpu, int start) {
            Pointer instance = nvml.createInstance(gpu, start);
            Pointer compute = nvml.handle(CREATE_CI, instance, 0);
            String uuid = nvml.uuid(nvml.handle("nvmlDeviceGetMigDeviceHandleByIndex", gpu, 0));
            assertThat(nvml.call("nvmlComputeInstanceDestroy", compute)).isZero();
            assertThat(nvml.call("nvmlGpuInstanceDestroy", instance)).isZero();
            return uuid;
        }

        @Test
        void haveHandlesThatEndWithThem() {
            Pointer gpu = divided("h100-80");
            Pointer instance = nvml.createInstance(gpu, 5);
            Pointer compute = nvml.handle(CREATE_CI, instance, 0);
            Pointer mig = nvml.handle("nvmlDeviceGetMigDeviceHandleByIndex", gpu, 0);

            node.administrator().destroyInstance(0, nvml.instanceId(instance));
            nvml.handle(CREATE_CI, nvml.createInstance(gpu, 5), 0);

            assertThat(nvml.call("nvmlGpuInstanceDestroy", instance)).isEqualTo(INVALID_ARGUMENT);
            assertThat(nvml.call("nvmlComputeInstanceDestroy", compute)).isEqualTo(INVALID_ARGUMENT);
            assertThat(nvml.call("nvmlDeviceGetUUID", mig, Pointer.NULL, 0)).isEqualTo(INVALID_ARGUMENT);
        }

        @Test
        void haveComputeInstancesOfTheProfilesOfTheBoard() {
            Pointer ampere = divided("a100-40");
            Pointer seven = nvml.createInstance(ampere, SEVEN, 0, 8);

            assertThat(reported(seven)).containsExactly(0, 1, 2, 3, 4);
            assertThat(nvml.handle(CREATE_CI, seven, 4)).isNotNull();
        }

        @Test
        void haveASecondLargestProfileThatCannotBeMade() {
            Pointer gpu = divided("h100-80");
            Pointer seven = nvml.createInstance(gpu, SEVEN, 0, 8);

            assertThat(reported(seven)).containsExactly(0, 1, 2, 3, 4, 8);
            assertThat(nvml.call(CREATE_CI, seven, 8, new PointerByReference())).isEqualTo(NOT_SUPPORTED);
        }

        private List<Integer> reported(Pointer instance) {
            try (Memory info = RawNvml.room(CI_PROFILE)) {
                return IntStream.range(0, 9)
                        .filter(index -> nvml.call(CI_PROFILE_INFO, instance, index, 0, info) == 0)
                        .map(index -> nvml.field(CI_PROFILE, "id", CI_PROFILE_INFO, instance, index, 0))
                        .boxed()
                        .toList();
            }
        }

        @Test
        void haveProfilesOfTheBoardOnly() {
            Pointer gpu = divided("a100-40");

            try (Memory info = RawNvml.room("nvmlGpuInstanceProfileInfo_t")) {
                String function = "nvmlDeviceGetGpuInstanceProfileInfo";
                assertThat(nvml.call(function, gpu, 5, info)).isEqualTo(NOT_SUPPORTED);
                assertThat(nvml.call(function, gpu, 8, info)).isEqualTo(NOT_SUPPORTED);
                assertThat(nvml.call(function, gpu, 18, info)).isEqualTo(INVALID_ARGUMENT);
            }
        }

        @Test
        void areDividedByTheAdministrator() {
            Pointer gpu = divided("h100-80");
            Pointer events = nvml.handle("nvmlEventSetCreate");
            assertThat(nvml.call("nvmlDeviceRegisterEvents", gpu, 0x100L, events))
                    .isZero();

            int instance = node.administrator().createInstance(0, 9, 4, 1, 0);

            assertThat(waited(events)).isZero();
            assertThat(state.instances())
                    .singleElement()
                    .satisfies(it -> assertThat(it.uuids()).hasSize(2).doesNotHaveDuplicates());
            assertThat(slices(gpu, 0)).isEqualTo(2);
            assertThat(slices(gpu, 1)).isEqualTo(1);
            node.administrator().destroyCompute(0, instance, 0);
            assertThat(slices(gpu, 0)).isEqualTo(1);
        }

        private int slices(Pointer gpu, int index) {
            return nvml.field(
                    "nvmlDeviceAttributes_t",
                    "computeInstanceSliceCount",
                    "nvmlDeviceGetAttributes_v2",
                    nvml.handle("nvmlDeviceGetMigDeviceHandleByIndex", gpu, index));
        }

        @Test
        void areReadAndChangedByPrivilegedProgramsOnly() {
            Pointer gpu = divided("h100-80");
            int id = node.administrator().createInstance(0, 19, 0, 0);
            state.privileged(false);
            IntByReference count = new IntByReference();

            assertThat(nvml.call("nvmlDeviceGetGpuInstances", gpu, 19, new Pointer[8], count))
                    .isEqualTo(NO_PERMISSION);
            assertThat(nvml.call("nvmlDeviceGetGpuInstanceById", gpu, id, new PointerByReference()))
                    .isEqualTo(NO_PERMISSION);
            String placements = "nvmlDeviceGetGpuInstancePossiblePlacements_v2";
            assertThat(nvml.call(placements, gpu, 19, Pointer.NULL, count)).isEqualTo(NO_PERMISSION);
            assertThat(nvml.call("nvmlDeviceSetMigMode", gpu, 0, count)).isEqualTo(NO_PERMISSION);
        }

        @Test
        void areMigDevicesForEachProgram() {
            Pointer gpu = divided("h100-80");
            int id = node.administrator().createInstance(0, 19, 0, 0);
            state.privileged(false);

            assertThat(nvml.number("nvmlDeviceGetMaxMigDeviceCount", gpu)).isEqualTo(7);
            Pointer mig = nvml.handle("nvmlDeviceGetMigDeviceHandleByIndex", gpu, 0);
            assertThat(nvml.number("nvmlDeviceGetGpuInstanceId", mig)).isEqualTo(id);
            assertThat(nvml.number("nvmlDeviceGetComputeInstanceId", mig)).isZero();
            assertThat(nvml.number("nvmlDeviceIsMigDeviceHandle", mig)).isEqualTo(1);
            assertThat(nvml.number("nvmlDeviceIsMigDeviceHandle", gpu)).isZero();
            assertThat(nvml.handle("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", mig))
                    .isEqualTo(gpu);
            assertThat(nvml.uuid(mig))
                    .isEqualTo(state.instances().get(0).uuids().get(0));
            assertThat(slices(gpu, 0)).isEqualTo(1);
        }
    }

    private int waited(Pointer events) {
        try (Memory data = RawNvml.room("nvmlEventData_t")) {
            return nvml.call("nvmlEventSetWait_v2", events, data, 1);
        }
    }

    @Nested
    class Sessions {

        @Test
        void needAGpuOrAFlag() {
            install("none");

            assertThat(nvml.call("nvmlInit_v2")).isEqualTo(GPU_NOT_FOUND);
            assertThat(nvml.call("nvmlInitWithFlags", 0)).isEqualTo(GPU_NOT_FOUND);
            assertThat(nvml.call("nvmlInitWithFlags", 1)).isZero();
            assertThat(nvml.number("nvmlDeviceGetCount_v2")).isZero();
        }

        @Test
        void endWithTheLastShutdown() throws Exception {
            install("t4");
            nvml.call("nvmlInit_v2");
            nvml.call("nvmlInit_v2");
            Pointer gpu = nvml.gpu(0);

            assertThat(nvml.call("nvmlShutdown")).isZero();
            assertThat(nvml.uuid(gpu)).isEqualTo(state.uuid(0));
            assertThat(openFiles()).contains(node.session());
            assertThat(nvml.call("nvmlShutdown")).isZero();
            assertThat(nvml.call("nvmlDeviceGetIndex", gpu, new IntByReference()))
                    .isEqualTo(UNINITIALIZED);
            assertThat(openFiles()).doesNotContain(node.session());
            assertThat(nvml.call("nvmlInit_v2")).isZero();
            assertThat(nvml.call("nvmlDeviceGetIndex", gpu, new IntByReference()))
                    .as("a handle of the last session")
                    .isEqualTo(INVALID_ARGUMENT);
        }

        private List<Path> openFiles() throws IOException {
            List<Path> files = new ArrayList<>();
            try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
                for (Path link : links.toList()) {
                    if (Files.isSymbolicLink(link)) {
                        files.add(Files.readSymbolicLink(link));
                    }
                }
            }
            return files;
        }

        @ParameterizedTest
        @CsvSource({"1, 9", "9, 9", "15, 9", "18, 18"})
        void areGoneWhenTheDriverIsReplaced(int code, int initCode) {
            install("t4");
            nvml.call("nvmlInit_v2");
            Pointer gpu = nvml.gpu(0);

            state.replacing(code, initCode);

            assertThat(nvml.call("nvmlDeviceGetIndex", gpu, new IntByReference()))
                    .isEqualTo(code);
            assertThat(nvml.call("nvmlInit_v2")).isEqualTo(initCode);
            state.replaced("580.95.05");
            assertThat(nvml.call("nvmlDeviceGetIndex", gpu, new IntByReference()))
                    .isEqualTo(code);
            assertThat(nvml.call("nvmlShutdown")).isZero();
            assertThat(nvml.call("nvmlInit_v2")).isZero();
            try (Memory version = new Memory(80)) {
                assertThat(nvml.call("nvmlSystemGetDriverVersion", version, 80)).isZero();
                assertThat(version.getString(0)).isEqualTo("580.95.05");
            }
        }

        @ParameterizedTest
        @CsvSource({"a100-40, true", "h100-80, false"})
        void keepGpusFromAResetAndTheDriverFromBeingUnloaded(String boards, boolean keepsMode) {
            divided(boards);
            node.administrator().createInstance(0, 19, 0, 0);

            assertThat(node.administrator().reset(0)).isEqualTo(IN_USE);
            assertThat(node.administrator().unload()).isEqualTo(IN_USE);
            assertThat(state.instances()).hasSize(1);
            nvml.call("nvmlShutdown");
            assertThat(node.administrator().reset(0)).isZero();
            assertThat(state.instances()).isEmpty();
            assertThat(state.isMigEnabled(0)).as("MIG mode after a reset").isTrue();
            assertThat(node.administrator().unload()).isZero();
            assertThat(nvml.call("nvmlInit_v2")).isEqualTo(DRIVER_NOT_LOADED);
            node.administrator().load();
            assertThat(nvml.call("nvmlInit_v2")).isZero();
            assertThat(state.isMigEnabled(0)).as("MIG mode after a reload").isEqualTo(keepsMode);
        }
    }

    @Nested
    class Faults {

        @Test
        void areReturnedByEachFunction() {
            install("t4");
            assertThat(nvml.call("nvmlInit_v2")).isZero();

            for (String function : functions()) {
                for (int code : List.of(1, 3, 4, 6, 9, 15, 18, 19, 999)) {
                    state.fails(function, code);
                    Object no = Pointer.NULL;
                    assertThat(nvml.call(function, no, no, no, no)).as(function).isEqualTo(code);
                    state.noneFails();
                }
            }
        }

        /** Returns all that return a code. */
        private List<String> functions() {
            List<String> all = new ArrayList<>(StandInNode.functions());
            assertThat(all.remove("nvmlErrorString")).isTrue();
            assertThat(all).contains("nvmlInit_v2", "nvmlShutdown").hasSizeGreaterThan(50);
            return all;
        }

        @Test
        void areOfOneGpuForSomeCalls() {
            install("t4");
            nvml.call("nvmlInit_v2");
            Pointer gpu = nvml.gpu(1);
            String uuid = state.uuid(1);
            state.fails("nvmlDeviceGetIndex", 1, 999, 2);
            state.fails("nvmlDeviceGetHandleByUUID", 1, 999, 1);

            assertThat(nvml.number("nvmlDeviceGetIndex", nvml.gpu(0))).isZero();
            assertThat(nvml.call("nvmlDeviceGetIndex", gpu, new IntByReference()))
                    .isEqualTo(999);
            assertThat(nvml.call("nvmlDeviceGetIndex", gpu, new IntByReference()))
                    .isEqualTo(999);
            assertThat(nvml.number("nvmlDeviceGetIndex", gpu)).isEqualTo(1);
            assertThat(nvml.call("nvmlDeviceGetHandleByUUID", uuid, new PointerByReference()))
                    .isEqualTo(999);
            assertThat(nvml.handle("nvmlDeviceGetHandleByUUID", uuid)).isEqualTo(gpu);
        }

        @Test
        void areOfOneLink() {
            install("nvlink36");
            nvml.call("nvmlInit_v2");
            state.linkFails(0, 7, 999);

            assertThat(nvml.number("nvmlDeviceGetNvLinkState", nvml.gpu(0), 35)).isEqualTo(1);
            assertThat(link(0, 7)).isEqualTo(999);
            assertThat(link(0, 36)).isEqualTo(INVALID_ARGUMENT);
            assertThat(link(1, 0)).as("a board without links").isEqualTo(NOT_SUPPORTED);
        }

        private int link(int gpu, int link) {
            return nvml.call("nvmlDeviceGetNvLinkState", nvml.gpu(gpu), link, new IntByReference());
        }

        @ParameterizedTest
        @ValueSource(ints = {0, 1, 2, 3, 4, 5})
        void areRecoveryActions(int action) {
            install("t4");
            nvml.call("nvmlInit_v2");
            state.recovery(2, action);

            try (Memory field = RawNvml.room("nvmlFieldValue_t")) {
                field.setInt(0, 230);
                assertThat(nvml.call("nvmlDeviceGetFieldValues", nvml.gpu(2), 1, field))
                        .isZero();
                assertThat(field.getInt(32)).isEqualTo(action);
            }
        }

        @Test
        void endTheRegistrationsOfEvents() {
            Pointer gpu = divided("h100-80");
            Pointer events = nvml.handle("nvmlEventSetCreate");
            nvml.call("nvmlDeviceRegisterEvents", gpu, 0x108L, events);
            state.modeEndsEvents(true);

            nvml.setMode(gpu, false);

            state.xid(0, -1, 79);
            assertThat(waited(events)).isEqualTo(TIMEOUT);
            nvml.call("nvmlDeviceRegisterEvents", gpu, 0x108L, events);
            state.xid(0, -1, 79);
            assertThat(waited(events)).isZero();
        }
    }
}
