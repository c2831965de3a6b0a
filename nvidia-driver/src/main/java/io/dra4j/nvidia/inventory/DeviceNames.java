// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.PciAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/**
 * The names of devices, which are those of NVIDIA's driver: claims may select by name.
 *
 * <p>They contain minor numbers, which may change with a reboot, so a device also has a hardware id. A GPU has its
 * UUID. A MIG device has its GPU's UUID with its profile and placement: one recreated in the same place is the same
 * hardware. A GPU for a virtual machine has a UUID derived from its PCI address, because the node can't read the UUID
 * of a device bound to vfio-pci.
 */
final class DeviceNames {

    /** The namespace of DNS names in RFC 9562, which NVIDIA's driver also uses for addresses. */
    private static final UUID NAMESPACE = UUID.fromString("6ba7b810-9dad-11d1-80b4-00c04fd430c8");

    private static final int VERSION_BYTE = 6;
    private static final int VARIANT_BYTE = 8;

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final int EIGHTHS = 8;

    /** Suffixes by NVML's index, which distinguish variants of a size. */
    private static final List<String> VARIANTS = List.of(
            "", "", "", "", "", "", "", "+me", "+me", "", "+gfx", "+gfx", "+gfx", "-me", "-me", "+me.all", "+me.all",
            "+gfx");

    private DeviceNames() {}

    /** Returns {@code gpu-0}, by the number of its device node. */
    static String gpu(Gpu gpu) {
        return "gpu-" + gpu.minor();
    }

    /** Returns {@code gpu-0-mig-1g10gb-19-3}: profile, its id, and the first memory slice. */
    static String mig(Gpu gpu, String profileName, MigProfile profile, InstancePlacement placement) {
        return "%s-mig-%s-%d-%d".formatted(gpu(gpu), canonical(profileName), profile.id(), placement.start());
    }

    /** Returns {@code gpu-vfio-0}, by the position among the GPUs of the PCI bus. */
    static String vfio(int position) {
        return "gpu-vfio-" + position;
    }

    /** Returns {@code gpu-0-counter-set}. */
    static String counterSet(Gpu gpu) {
        return gpu(gpu) + "-counter-set";
    }

    private static String canonical(String profileName) {
        return profileName
                .toLowerCase(Locale.ROOT)
                .replace(".", "")
                .replaceAll("[^a-z0-9-]", "-")
                .replaceAll("^-+|-+$", "");
    }

    /** Returns {@code GPU-…/mig-19-3}: the GPU, the profile's id, and the first memory slice. */
    static String physicalId(Gpu gpu, MigProfile profile, InstancePlacement placement) {
        return "%s/mig-%d-%d".formatted(gpu.uuid(), profile.id(), placement.start());
    }

    /** Returns the UUID of version 5 of an address, which is the same on each node. */
    static String uuid(PciAddress address) {
        try {
            MessageDigest sha1 = MessageDigest.getInstance("SHA-1"); // as the version requires
            sha1.update(ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(NAMESPACE.getMostSignificantBits())
                    .putLong(NAMESPACE.getLeastSignificantBits())
                    .array());
            byte[] hash = sha1.digest(address.text().getBytes(StandardCharsets.UTF_8));
            hash[VERSION_BYTE] = (byte) (hash[VERSION_BYTE] & 0x0f | 0x50);
            hash[VARIANT_BYTE] = (byte) (hash[VARIANT_BYTE] & 0x3f | 0x80);
            ByteBuffer bits = ByteBuffer.wrap(hash);
            return new UUID(bits.getLong(), bits.getLong()).toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-1", e);
        }
    }

    /**
     * Returns the name of a profile in {@code nvidia-smi}: {@code 1g.10gb}, {@code 1g.10gb+me}; empty for an unknown
     * index without a name in NVML.
     *
     * <p>It is NVML's name. Drivers before R570 have no names: the memory in the name is then the GPU's in whole GiB,
     * times the instance's eighths. It is a name, not an amount, and may change with a new driver.
     */
    static Optional<String> profile(Gpu gpu, MigProfile profile) {
        if (profile.name() != null) {
            return Optional.of(profile.name());
        }
        if (profile.index() >= VARIANTS.size()) {
            return Optional.empty();
        }
        String variant = VARIANTS.get(profile.index());
        return Optional.of(profile(gpu, profile.slices(), profile.memoryMiB()) + variant);
    }

    /** Returns the name without the suffix of its variant. */
    static String profile(Gpu gpu, int slices, long memoryMiB) {
        return "%dg.%dgb".formatted(slices, gibibytes(gpu, memoryMiB));
    }

    private static long gibibytes(Gpu gpu, long memoryMiB) {
        Long total = gpu.memory();
        if (total == null || total == 0) {
            return Math.round((double) memoryMiB * MIB / GIB);
        }
        double eighths = Math.ceil((double) memoryMiB * MIB * EIGHTHS / total);
        double whole = Math.ceil((double) total / GIB);
        return Math.round(eighths / EIGHTHS * whole);
    }
}
