// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import java.nio.charset.StandardCharsets;

/**
 * The checksum of checkpoints in Go: 32-bit FNV-1a of the text that describes the bytes.
 *
 * @see <a href="https://github.com/kubernetes/kubernetes/tree/v1.36.2/pkg/kubelet/checkpointmanager/checksum"> The
 *     kubelet's package, which prints a slice of bytes as {@code ([]uint8)[123 34 …]}</a>
 */
final class GoChecksum {

    private static final int OFFSET = 0x811c9dc5;
    private static final int PRIME = 0x01000193;

    private GoChecksum() {}

    static long of(byte[] json) {
        StringBuilder printed = new StringBuilder("([]uint8)[");
        for (int i = 0; i < json.length; i++) {
            printed.append(i == 0 ? "" : " ").append(json[i] & 0xff);
        }
        return fnv(printed.append(']').toString().getBytes(StandardCharsets.US_ASCII));
    }

    static long fnv(byte[] bytes) {
        int hash = OFFSET;
        for (byte one : bytes) {
            hash = (hash ^ (one & 0xff)) * PRIME;
        }
        return hash & 0xffffffffL;
    }
}
