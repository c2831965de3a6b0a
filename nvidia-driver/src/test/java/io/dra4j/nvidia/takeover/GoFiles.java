// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import java.nio.charset.StandardCharsets;

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
}
