// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import io.dra4j.nvidia.standin.Layouts;
import io.dra4j.nvidia.standin.Layouts.Layout;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The structs lie in memory as the C compiler of this machine lays them out. */
class StructLayoutTest {

    private static final Layouts LAYOUTS = Layouts.read();

    private static Stream<Arguments> structs() {
        return Stream.of(
                Arguments.of("nvmlPciInfo_t", new Structs.PciInfo(), 68),
                Arguments.of("nvmlMemory_t", new Structs.MemoryInfo(), 24),
                Arguments.of("nvmlMemory_v2_t", new Structs.MemoryInfoV2(), 40),
                Arguments.of("nvmlUtilization_t", new Structs.Utilization(), 8),
                Arguments.of("nvmlGpmSupport_t", new Structs.GpmSupport(), 8),
                Arguments.of("nvmlGpmMetric_t", new Structs.GpmMetric(), 40),
                Arguments.of("nvmlGpmMetricsGet_t", new Structs.GpmMetrics(), 24 + 333 * 40),
                Arguments.of("nvmlDeviceAddressingMode_t", new Structs.AddressingMode(), 8),
                Arguments.of("nvmlDeviceAttributes_t", new Structs.DeviceAttributes(), 40),
                Arguments.of("nvmlFieldValue_t", new Structs.FieldValue(), 40),
                Arguments.of("nvmlGpuFabricInfo_v2_t", new Structs.FabricInfo(), 36),
                Arguments.of("nvmlGpuFabricInfo_t", new Structs.OldFabricInfo(), 28),
                Arguments.of("nvmlGpuInstancePlacement_t", new Structs.PlacementStruct(), 8),
                Arguments.of("profileNumbers", new Structs.ProfileNumbers(), 40),
                Arguments.of("nvmlGpuInstanceProfileInfo_t", new Structs.GpuInstanceProfile(), 48),
                Arguments.of("nvmlGpuInstanceProfileInfo_v2_t", new Structs.NamedInstanceProfile(), 152),
                Arguments.of("nvmlGpuInstanceInfo_t", new Structs.GpuInstanceInfo(), 24),
                Arguments.of("nvmlComputeInstanceProfileInfo_t", new Structs.ComputeInstanceProfile(), 36),
                Arguments.of("nvmlComputeInstanceInfo_t", new Structs.ComputeInstanceInfo(), 32),
                Arguments.of("nvmlEventData_t", new Structs.EventData(), 32));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("structs")
    void areAsTheCompilerLaysThemOut(String name, Structure struct, int size) throws Exception {
        assertThat(new Layout(struct.size(), offsets(struct))).isEqualTo(LAYOUTS.of(name));
        assertThat(struct.size()).as("the size that NVML's header has").isEqualTo(size);
    }

    @Test
    void areTheSameForArm64() {
        Optional<Layouts> arm64 = Layouts.ofArm64();

        assumeTrue(
                arm64.isPresent(),
                "Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static lay them out for arm64: install all three");
        assertThat(arm64.get().all()).isEqualTo(LAYOUTS.all()).hasSizeGreaterThan(20);
    }

    private static Map<String, Integer> offsets(Structure struct) throws Exception {
        Method offset = Structure.class.getDeclaredMethod("fieldOffset", String.class);
        offset.setAccessible(true);
        Map<String, Integer> offsets = new LinkedHashMap<>();
        for (String field : struct.getClass().getAnnotation(FieldOrder.class).value()) {
            offsets.put(field, (Integer) offset.invoke(struct, field));
        }
        return offsets;
    }

    @Test
    void haveTheVersionsOfTheHeader() {
        assertThat(new Structs.FabricInfo().version).isEqualTo(0x02000024);
        assertThat(new Structs.AddressingMode().version).isEqualTo(0x01000008);
        assertThat(new Structs.MemoryInfoV2().version).isEqualTo(0x02000028);
        assertThat(new Structs.NamedInstanceProfile().version).isEqualTo(0x02000098);
    }
}
