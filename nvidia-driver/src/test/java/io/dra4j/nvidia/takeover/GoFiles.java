// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Entry;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Group;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Checkpoints of NVIDIA's driver, with right sums. */
public final class GoFiles {

    private GoFiles() {}

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the file of an old release. */
    public static byte[] firstVersion(String v1) {
        long sum = GoChecksum.of(bytes("{\"checksum\":0,\"v1\":" + v1 + "}"));
        return bytes("{\"checksum\":" + sum + ",\"v1\":" + v1 + "}");
    }

    /** Returns a file with the members of version 2 behind its sum. */
    public static byte[] secondVersion(String members) {
        long sum = GoChecksum.of(bytes("{\"checksum\":0," + members + "}"));
        return bytes("{\"checksum\":1,\"v2\":{\"checksum\":" + sum + "," + members + "}}");
    }

    /** Returns a file with a claim that is prepared, and has the device {@code gpu-0}. */
    public static byte[] prepared(String claim, String uuid, String boot) {
        HeldDevice gpu = HeldDevice.builder("gpu", new PoolName("node-1"), new DeviceName("gpu-0"))
                .build();
        GoCheckpointWriter writer = new GoCheckpointWriter("gpu.nvidia.com", boot, GoForm.of("0.5"));
        writer.add(claim, List.of(new Group(List.of(new Entry(gpu, uuid, null)), false)));
        return writer.toBytes();
    }

    /**
     * Returns a file with a claim that was begun, and was allocated {@code gpu-0}.
     *
     * @param configs {@code {}} for each configuration
     */
    public static byte[] begun(String claim, String configs, String boot) {
        String members = """
                "preparedClaims":{"%s":{"checkpointState":"PrepareStarted","status":{"allocation":{"devices":{"results":[{"device":"gpu-0"}],"config":[%s]}}}}},"nodeBootID":"%s\"""";
        return secondVersion(members.formatted(claim, configs, boot));
    }
}
