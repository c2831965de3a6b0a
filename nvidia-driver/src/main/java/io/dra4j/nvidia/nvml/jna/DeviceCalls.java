// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

import com.sun.jna.ptr.IntByReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What GPUs there are, and what they are.
 *
 * <p>A GPU is a handle of NVML's; it means the same one until the library is shut down. What a
 * board or an older driver does not know is empty; whatever else fails is thrown.
 */
public final class DeviceCalls {

    private static final int NOT_SUPPORTED = 3;
    private static final int INVALID_ARGUMENT = 2;
    private static final int GPU_IS_LOST = 15;

    /** What says that there is no answer, and not that there is trouble. */
    private static final Set<Integer> UNKNOWN_HERE =
            Set.of(NOT_SUPPORTED, NvmlLibrary.FUNCTION_NOT_FOUND);

    private static final int RECOVERY_ACTION = 230;
    private static final int LINKS = 18;

    private final NvmlLibrary nvml;

    /** The calls of a library. */
    public DeviceCalls(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /** How many GPUs the driver has; NVML counts those that it may not open, too. */
    public int count() {
        return nvml.number("nvmlDeviceGetCount_v2");
    }

    /** The GPU at a position, of which the order is that of the PCI bus ids. */
    public long at(int index) {
        return nvml.handle("nvmlDeviceGetHandleByIndex_v2", index);
    }

    /** The GPU, or the MIG device, that has a UUID. */
    public long withUuid(String uuid) {
        return nvml.handle("nvmlDeviceGetHandleByUUID", uuid);
    }

    /** {@code GPU-…}, or {@code MIG-…}. */
    public String uuid(long device) {
        return nvml.text("nvmlDeviceGetUUID", NvmlLibrary.pointer(device));
    }

    /** What its maker calls it, {@code NVIDIA H100 80GB HBM3}. */
    public String name(long gpu) {
        return nvml.text("nvmlDeviceGetName", NvmlLibrary.pointer(gpu));
    }

    /** The number in {@code /dev/nvidia3}. */
    public int minor(long gpu) {
        return number("nvmlDeviceGetMinorNumber", gpu);
    }

    /** An {@code nvmlBrandType_t}. */
    public int brand(long gpu) {
        return number("nvmlDeviceGetBrand", gpu);
    }

    /** An {@code nvmlDeviceArchitecture_t}; negative if unknown. */
    public int architecture(long gpu) {
        return number("nvmlDeviceGetArchitecture", gpu);
    }

    /** An {@code nvmlGpuVirtualizationMode_t}. */
    public OptionalInt virtualization(long gpu) {
        return known("nvmlDeviceGetVirtualizationMode", gpu);
    }

    private int number(String function, long gpu) {
        return nvml.number(function, NvmlLibrary.pointer(gpu));
    }

    private OptionalInt known(String function, long gpu) {
        IntByReference number = new IntByReference();
        return isKnown(function, NvmlLibrary.pointer(gpu), number)
                ? OptionalInt.of(number.getValue())
                : OptionalInt.empty();
    }

    private boolean isKnown(String function, Object... arguments) {
        int code = nvml.call(function, arguments);
        if (UNKNOWN_HERE.contains(code)) {
            return false;
        }
        nvml.check(function, code);
        return true;
    }

    /** The bus id as NVML writes it: {@code 00000000:17:00.0}. */
    public String busId(long gpu) {
        Structs.PciInfo pci = new Structs.PciInfo();
        nvml.require("nvmlDeviceGetPciInfo_v3", NvmlLibrary.pointer(gpu), pci);
        return text(pci.busId);
    }

    private static String text(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /** Bytes of memory in all; empty on boards that share the machine's. */
    public OptionalLong memory(long gpu) {
        Structs.MemoryInfo memory = new Structs.MemoryInfo();
        return isKnown("nvmlDeviceGetMemoryInfo", NvmlLibrary.pointer(gpu), memory)
                ? OptionalLong.of(memory.total)
                : OptionalLong.empty();
    }

    /**
     * A compute capability.
     *
     * @param major the first number
     * @param minor the second
     */
    public record Capability(int major, int minor) {}

    /** What CUDA can do with it. */
    public Capability capability(long gpu) {
        IntByReference major = new IntByReference();
        IntByReference minor = new IntByReference();
        nvml.require("nvmlDeviceGetCudaComputeCapability", NvmlLibrary.pointer(gpu), major, minor);
        return new Capability(major.getValue(), minor.getValue());
    }

    /** 0 for none, 1 for HMM, 2 for ATS. */
    public OptionalInt addressingMode(long gpu) {
        Structs.AddressingMode mode = new Structs.AddressingMode();
        mode.version = Structs.version(mode, 1);
        return isKnown("nvmlDeviceGetAddressingMode", NvmlLibrary.pointer(gpu), mode)
                ? OptionalInt.of(mode.value)
                : OptionalInt.empty();
    }

    /**
     * What a GPU knows of its fabric.
     *
     * @param cluster the cluster's UUID, 32 hex digits; all zero if there is none
     * @param clique the clique within the cluster
     * @param state an {@code nvmlGpuFabricState_t}: 3 when it is complete
     * @param status what the probe of the fabric returned
     */
    public record Fabric(String cluster, int clique, int state, int status) {}

    /** Its fabric; the older function is asked where the driver lacks the newer. */
    public Optional<Fabric> fabric(long gpu) {
        Structs.FabricInfo info = new Structs.FabricInfo();
        info.version = Structs.version(info, 2);
        int code = nvml.call("nvmlDeviceGetGpuFabricInfoV", NvmlLibrary.pointer(gpu), info);
        if (code == NvmlLibrary.FUNCTION_NOT_FOUND) {
            return olderFabric(gpu);
        }
        if (code == GPU_IS_LOST) {
            nvml.check("nvmlDeviceGetGpuFabricInfoV", code);
        }
        if (code != NvmlLibrary.SUCCESS) {
            return Optional.empty(); // it matters to few, and must not hide the GPU
        }
        return Optional.of(fabric(info.clusterUuid, info.cliqueId, info.state, info.status));
    }

    private Optional<Fabric> olderFabric(long gpu) {
        Structs.OldFabricInfo info = new Structs.OldFabricInfo();
        return isKnown("nvmlDeviceGetGpuFabricInfo", NvmlLibrary.pointer(gpu), info)
                ? Optional.of(fabric(info.clusterUuid, info.cliqueId, info.state, info.status))
                : Optional.empty();
    }

    private static Fabric fabric(byte[] cluster, int clique, int state, int status) {
        return new Fabric(HexFormat.of().formatHex(cluster), clique, state, status);
    }

    /** The bus ids at the other ends of its NVLinks that are up. */
    public List<String> linked(long gpu) {
        List<String> others = new ArrayList<>();
        for (int link = 0; link < LINKS; link++) {
            IntByReference active = new IntByReference();
            int code =
                    nvml.call("nvmlDeviceGetNvLinkState", NvmlLibrary.pointer(gpu), link, active);
            if (code == INVALID_ARGUMENT || UNKNOWN_HERE.contains(code)) {
                return others; // it has no more
            }
            nvml.check("nvmlDeviceGetNvLinkState", code);
            if (active.getValue() != 0) {
                otherEnd(gpu, link).ifPresent(others::add);
            }
        }
        return others;
    }

    /** A link may go down after it was asked for; whatever it says then, it leads nowhere. */
    private Optional<String> otherEnd(long gpu, int link) {
        Structs.PciInfo other = new Structs.PciInfo();
        String function = "nvmlDeviceGetNvLinkRemotePciInfo_v2";
        int code = nvml.call(function, NvmlLibrary.pointer(gpu), link, other);
        if (code == GPU_IS_LOST) {
            nvml.check(function, code);
        }
        return code == NvmlLibrary.SUCCESS ? Optional.of(text(other.busId)) : Optional.empty();
    }

    /** What it needs to work again, an {@code nvmlDeviceGpuRecoveryAction_t}: 0 for nothing. */
    public OptionalInt recoveryAction(long gpu) {
        Structs.FieldValue field = new Structs.FieldValue();
        field.fieldId = RECOVERY_ACTION;
        boolean known =
                isKnown("nvmlDeviceGetFieldValues", NvmlLibrary.pointer(gpu), 1, field)
                        && field.nvmlReturn == NvmlLibrary.SUCCESS;
        return known ? OptionalInt.of((int) field.value) : OptionalInt.empty();
    }
}
