// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlCallException.invalid;
import static io.dra4j.nvidia.nvml.NvmlLibrary.FUNCTION_NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.INVALID_ARGUMENT;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NO_PERMISSION;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;

import io.dra4j.nvidia.nvml.jna.SharedLibrary;
import io.dra4j.nvidia.nvml.jna.Structs;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the properties of a GPU.
 *
 * <p>A property that the board or an older driver does not have is null. Any other failure loses only that property,
 * unless the GPU can't be offered without it.
 */
record GpuReader(NvmlLibrary nvml, MigReader mig) {

    private static final Pattern UUID = Pattern.compile("GPU-[0-9A-Za-z-]{1,60}");
    private static final int LONGEST_TEXT = 64; // of an attribute
    private static final int VGPU = 2;
    private static final List<String> ADDRESSING_MODES = List.of("None", "HMM", "ATS");
    private static final String NO_CLUSTER = "0".repeat(32);
    private static final int LINKS = 36;
    private static final Set<Integer> NO_MORE_LINKS = Set.of(INVALID_ARGUMENT, FUNCTION_NOT_FOUND);

    /** Returned for a link that is down, or that leads to a device not visible here. */
    private static final Set<Integer> NO_OTHER_END =
            Set.of(INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, FUNCTION_NOT_FOUND);

    /** The properties without which a GPU is not offered. */
    record Identity(String uuid, PciAddress pci, int minor) {}

    String uuid(long gpu) {
        String function = "nvmlDeviceGetUUID";
        String uuid = nvml.text(function, gpu);
        if (!UUID.matcher(uuid).matches()) {
            throw invalid(function, uuid);
        }
        return uuid;
    }

    Identity identity(long gpu, String uuid) {
        return new Identity(uuid, pci(gpu), minor(gpu));
    }

    private int minor(long gpu) {
        String function = "nvmlDeviceGetMinorNumber";
        try {
            int minor = nvml.number(function, gpu);
            if (minor < 0) {
                throw invalid(function, minor);
            }
            return minor;
        } catch (NvmlCallException e) {
            throw e.code() == NOT_SUPPORTED
                    ? e.because("has no device node that a container could get, as under WSL2, which is not supported")
                    : e;
        }
    }

    private PciAddress pci(long gpu) {
        Structs.PciInfo pci = new Structs.PciInfo();
        String function = "nvmlDeviceGetPciInfo_v3";
        nvml.require(function, gpu, pci);
        return address(function, pci);
    }

    private static PciAddress address(String function, Structs.PciInfo pci) {
        String text = SharedLibrary.text(pci.busId);
        try {
            return PciAddress.ofNvml(text);
        } catch (IllegalArgumentException e) {
            throw invalid(function, text);
        }
    }

    /**
     * Reads the attributes, and MIG.
     *
     * @param needsReset whether a switch of the MIG mode turned out to need a reset
     * @param unplaced MIG devices without their placements are added to it
     * @throws NvmlCallException if the GPU is lost, the session has ended, MIG mode is unknown (a GPU is either whole
     *     or divided), or the memory of a GPU with MIG mode is unknown, which the names of its MIG devices contain
     */
    Gpu read(
            long gpu,
            Identity id,
            boolean needsReset,
            @Nullable Gpu before,
            Problems problems,
            List<UnplacedMigDevice> unplaced) {
        boolean vgpu = Boolean.TRUE.equals(
                problems.attribute("virtualization mode", () -> isVgpu(gpu), before == null ? null : before.vgpu()));
        Gpu last = before == null ? unknown(id) : before;
        Supplier<@Nullable Mig> read = () -> mig.read(gpu, needsReset, last.mig(), problems, unplaced);
        Mig divided = vgpu ? instances(problems.attribute("MIG mode", read, last.mig())) : read.get();
        List<PciAddress> links =
                problems.attribute("nvlinkGroup", () -> links(gpu), before == null ? null : before.links());
        return new Gpu(
                id.uuid(),
                id.pci(),
                id.minor(),
                problems.attribute("gpuModuleID", () -> moduleId(gpu), last.moduleId()),
                problems.attribute("productName", () -> name(gpu), last.productName()),
                problems.attribute("brand", () -> brand(gpu), last.brand()),
                problems.attribute("architecture", () -> architecture(gpu), last.architecture()),
                problems.attribute("cudaComputeCapability", () -> computeCapability(gpu), last.computeCapability()),
                memory(gpu, divided != null, last, problems),
                problems.attribute("addressingMode", () -> addressingMode(gpu), last.addressingMode()),
                problems.attribute("nvlinkClique", () -> fabric(gpu), last.fabric()),
                links == null ? List.of() : links,
                divided,
                vgpu);
    }

    /** A vGPU may be an instance of a divided GPU, and can't be divided further. */
    private static @Nullable Mig instances(@Nullable Mig ofVgpu) {
        return ofVgpu == null || !ofVgpu.enabled() ? null : ofVgpu;
    }

    private static Gpu unknown(Identity id) {
        PciAddress pci = id.pci();
        return new Gpu(
                id.uuid(), pci, id.minor(), null, null, null, null, null, null, null, null, List.of(), null, false);
    }

    private boolean isVgpu(long gpu) {
        return nvml.number(UNSUPPORTED, "nvmlDeviceGetVirtualizationMode", gpu).orElse(0) == VGPU;
    }

    private @Nullable Integer moduleId(long gpu) {
        int module = nvml.number(UNSUPPORTED, "nvmlDeviceGetModuleId", gpu).orElse(0);
        return module > 0 ? module : null;
    }

    private String name(long gpu) {
        String function = "nvmlDeviceGetName";
        String name = nvml.text(function, gpu);
        if (name.isBlank() || name.length() > LONGEST_TEXT) {
            throw invalid(function, name);
        }
        return name;
    }

    private String brand(long gpu) {
        return Brand.name(nvml.number("nvmlDeviceGetBrand", gpu));
    }

    private Architecture architecture(long gpu) {
        return Architecture.of(nvml.number("nvmlDeviceGetArchitecture", gpu));
    }

    private String computeCapability(long gpu) {
        int[] major = new int[1];
        int[] minor = new int[1];
        String function = "nvmlDeviceGetCudaComputeCapability";
        nvml.require(function, gpu, major, minor);
        String capability = major[0] + "." + minor[0];
        if (major[0] < 0 || minor[0] < 0) {
            throw invalid(function, capability);
        }
        return capability;
    }

    /** Reads the memory, without which MIG devices have no names; in MIG mode, NVML reports it only to root. */
    private @Nullable Long memory(long gpu, boolean hasMig, Gpu last, Problems problems) {
        try {
            if (hasMig && last.memory() == null) {
                return memory(gpu);
            }
        } catch (NvmlCallException e) {
            if (e.code() != NO_PERMISSION) {
                throw e;
            }
        }
        return problems.attribute("memory", () -> memory(gpu), last.memory());
    }

    private @Nullable Long memory(long gpu) {
        Structs.MemoryInfo memory = new Structs.MemoryInfo();
        String function = "nvmlDeviceGetMemoryInfo";
        if (!nvml.succeeds(UNSUPPORTED, function, gpu, memory)) {
            return null;
        }
        if (memory.total < 0) {
            throw invalid(function, Long.toUnsignedString(memory.total));
        }
        return memory.total;
    }

    private @Nullable String addressingMode(long gpu) {
        Structs.AddressingMode mode = new Structs.AddressingMode();
        String function = "nvmlDeviceGetAddressingMode";
        if (!nvml.succeeds(UNSUPPORTED, function, gpu, mode)) {
            return null;
        }
        if (mode.value < 0 || mode.value >= ADDRESSING_MODES.size()) {
            throw invalid(function, mode.value);
        }
        return ADDRESSING_MODES.get(mode.value);
    }

    /** Reads the fabric, by the older function if the driver lacks the newer one. */
    private @Nullable Fabric fabric(long gpu) {
        Structs.FabricInfo info = new Structs.FabricInfo();
        String function = "nvmlDeviceGetGpuFabricInfoV";
        int code = nvml.call(function, gpu, info);
        if (code == FUNCTION_NOT_FOUND) {
            Structs.OldFabricInfo old = new Structs.OldFabricInfo();
            return nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetGpuFabricInfo", gpu, old)
                    ? fabric(old.clusterUuid, old.cliqueId, old.state, old.status)
                    : null;
        }
        if (code == NOT_SUPPORTED) {
            return null;
        }
        nvml.check(function, code);
        return fabric(info.clusterUuid, info.cliqueId, info.state, info.status);
    }

    private static @Nullable Fabric fabric(byte[] clusterUuid, int clique, byte state, int status) {
        String cluster = HexFormat.of().formatHex(clusterUuid);
        if (state == 0) {
            return null;
        }
        String uuid = cluster.replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})", "$1-$2-$3-$4-$5");
        return new Fabric(cluster.equals(NO_CLUSTER) ? null : uuid, clique, Byte.toUnsignedInt(state), status);
    }

    private List<PciAddress> links(long gpu) {
        List<PciAddress> links = new ArrayList<>();
        String function = "nvmlDeviceGetNvLinkState";
        for (int link = 0; link < LINKS; link++) {
            int[] active = new int[1];
            int code = nvml.call(function, gpu, link, active);
            if (NO_MORE_LINKS.contains(code)) {
                break;
            }
            if (code != NOT_SUPPORTED) { // the next may be
                nvml.check(function, code);
                PciAddress other = active[0] == 0 ? null : otherEnd(gpu, link);
                if (other != null) {
                    links.add(other);
                }
            }
        }
        return links;
    }

    private @Nullable PciAddress otherEnd(long gpu, int link) {
        Structs.PciInfo other = new Structs.PciInfo();
        String function = "nvmlDeviceGetNvLinkRemotePciInfo_v2";
        return nvml.succeeds(NO_OTHER_END, function, gpu, link, other) ? address(function, other) : null;
    }
}
