// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.FUNCTION_NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.GPU_IS_LOST;
import static io.dra4j.nvidia.nvml.NvmlLibrary.INVALID_ARGUMENT;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.SUCCESS;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.pointer;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the properties of a GPU.
 *
 * <p>A property that the board or an older driver does not have is empty; any other failure is
 * thrown.
 */
final class GpuReader {

    private static final int VGPU = 2;
    private static final List<String> ADDRESSING = List.of("None", "HMM", "ATS");
    private static final int FABRIC_COMPLETE = 3;
    private static final String NO_CLUSTER = "0".repeat(32);
    private static final int LINKS = 18;
    private static final Set<Integer> NO_MORE_LINKS =
            Set.of(INVALID_ARGUMENT, NOT_SUPPORTED, FUNCTION_NOT_FOUND);
    private static final int RECOVERY_ACTION = 230;

    private final NvmlLibrary nvml;
    private final MigInstances mig;

    GpuReader(NvmlLibrary nvml, MigInstances mig) {
        this.nvml = nvml;
        this.mig = mig;
    }

    Gpu read(long handle) {
        Pointer gpu = pointer(handle);
        boolean vgpu = known("nvmlDeviceGetVirtualizationMode", gpu).orElse(0) == VGPU;
        return new Gpu(
                nvml.text("nvmlDeviceGetUUID", gpu),
                pci(gpu),
                nvml.number("nvmlDeviceGetMinorNumber", gpu),
                nvml.text("nvmlDeviceGetName", gpu),
                Brand.name(nvml.number("nvmlDeviceGetBrand", gpu)),
                Architecture.of(nvml.number("nvmlDeviceGetArchitecture", gpu)),
                computeCapability(gpu),
                memory(gpu),
                addressingMode(gpu),
                fabric(gpu),
                links(gpu),
                vgpu ? null : mig.read(handle),
                vgpu);
    }

    private OptionalInt known(String function, Pointer gpu) {
        IntByReference number = new IntByReference();
        return nvml.succeeds(UNSUPPORTED, function, gpu, number)
                ? OptionalInt.of(number.getValue())
                : OptionalInt.empty();
    }

    private PciAddress pci(Pointer gpu) {
        Structs.PciInfo pci = new Structs.PciInfo();
        nvml.require("nvmlDeviceGetPciInfo_v3", gpu, pci);
        return PciAddress.ofNvml(text(pci.busId));
    }

    private static String text(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private String computeCapability(Pointer gpu) {
        IntByReference major = new IntByReference();
        IntByReference minor = new IntByReference();
        nvml.require("nvmlDeviceGetCudaComputeCapability", gpu, major, minor);
        return major.getValue() + "." + minor.getValue();
    }

    private @Nullable Long memory(Pointer gpu) {
        Structs.MemoryInfo memory = new Structs.MemoryInfo();
        return nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetMemoryInfo", gpu, memory)
                ? memory.total
                : null;
    }

    private @Nullable String addressingMode(Pointer gpu) {
        Structs.AddressingMode mode = new Structs.AddressingMode();
        mode.version = Structs.version(mode, 1);
        boolean isKnown =
                nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetAddressingMode", gpu, mode)
                        && mode.value < ADDRESSING.size();
        return isKnown ? ADDRESSING.get(mode.value) : null;
    }

    /** Reads the fabric, by the older function if the driver lacks the newer one. */
    private @Nullable Fabric fabric(Pointer gpu) {
        Structs.FabricInfo info = new Structs.FabricInfo();
        info.version = Structs.version(info, 2);
        String function = "nvmlDeviceGetGpuFabricInfoV";
        int code = nvml.call(function, gpu, info);
        if (code == FUNCTION_NOT_FOUND) {
            Structs.OldFabricInfo old = new Structs.OldFabricInfo();
            return nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetGpuFabricInfo", gpu, old)
                    ? fabric(old.clusterUuid, old.cliqueId, old.state, old.status)
                    : null;
        }
        if (code == GPU_IS_LOST) {
            nvml.check(function, code);
        }
        return code == SUCCESS // a fabric matters to few, and must not hide the GPU
                ? fabric(info.clusterUuid, info.cliqueId, info.state, info.status)
                : null;
    }

    private static @Nullable Fabric fabric(byte[] clusterUuid, int clique, int state, int status) {
        String cluster = HexFormat.of().formatHex(clusterUuid);
        if (state == 0 || cluster.equals(NO_CLUSTER)) {
            return null;
        }
        return new Fabric(
                cluster.replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})", "$1-$2-$3-$4-$5"),
                clique,
                state == FABRIC_COMPLETE && status == 0);
    }

    private List<PciAddress> links(Pointer gpu) {
        List<PciAddress> links = new ArrayList<>();
        IntByReference active = new IntByReference();
        for (int link = 0;
                link < LINKS
                        && nvml.succeeds(
                                NO_MORE_LINKS, "nvmlDeviceGetNvLinkState", gpu, link, active);
                link++) {
            PciAddress other = active.getValue() == 0 ? null : otherEnd(gpu, link);
            if (other != null) {
                links.add(other);
            }
        }
        return links;
    }

    /** A link may go down while it is read, and then leads nowhere. */
    private @Nullable PciAddress otherEnd(Pointer gpu, int link) {
        Structs.PciInfo other = new Structs.PciInfo();
        String function = "nvmlDeviceGetNvLinkRemotePciInfo_v2";
        int code = nvml.call(function, gpu, link, other);
        if (code == GPU_IS_LOST) {
            nvml.check(function, code);
        }
        try {
            return code == SUCCESS ? PciAddress.ofNvml(text(other.busId)) : null;
        } catch (IllegalArgumentException e) {
            return null; // a link matters to few, and must not hide the GPU
        }
    }

    /** Returns the recovery action, an {@code nvmlDeviceGpuRecoveryAction_t}: 0 for none. */
    OptionalInt recoveryAction(long gpu) {
        Structs.FieldValue field = new Structs.FieldValue();
        field.fieldId = RECOVERY_ACTION;
        boolean isKnown =
                nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetFieldValues", pointer(gpu), 1, field)
                        && field.nvmlReturn == SUCCESS;
        return isKnown ? OptionalInt.of((int) field.value) : OptionalInt.empty();
    }
}
