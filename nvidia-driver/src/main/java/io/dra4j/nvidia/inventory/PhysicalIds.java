// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.nvml.Placement;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * The hardware behind names, which are made of minor numbers: these may move with a reboot.
 *
 * <p>A GPU has its UUID. A MIG device has its GPU's with its profile and place: one that is created
 * again in the same place is the same hardware. A GPU for a virtual machine has a UUID of its PCI
 * address: what is bound to vfio-pci has no UUID that the node can read.
 */
final class PhysicalIds {

    /** The namespace of DNS names in RFC 9562, which NVIDIA's driver uses for addresses, too. */
    private static final UUID NAMESPACE = UUID.fromString("6ba7b810-9dad-11d1-80b4-00c04fd430c8");

    private static final int VERSION_BYTE = 6;
    private static final int VARIANT_BYTE = 8;

    private PhysicalIds() {}

    /** Returns {@code GPU-…/mig-19-3}: the GPU, the profile's id, and the first memory slice. */
    static String mig(Gpu gpu, MigProfile profile, Placement placement) {
        return "%s/mig-%d-%d".formatted(gpu.uuid(), profile.id(), placement.start());
    }

    /** Returns the UUID of version 5 of an address, which is the same on each node. */
    static String uuid(PciAddress address) {
        try {
            MessageDigest sha1 = MessageDigest.getInstance("SHA-1"); // as the version demands
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
}
