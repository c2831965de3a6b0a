// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Names the field manager of a part of a claim's status: one of a driver's parts on a node.
 *
 * <p>A claim may have devices on several nodes, and two processes of a driver on one node during an
 * update: each node has its own entries, whichever process wrote them.
 */
final class FieldOwner {

    private static final int LONGEST = 128;
    private static final int HASH_BYTES = 8;

    private FieldOwner() {}

    /** Returns {@code <part>/<node>}; the end of a long node name is replaced by a hash. */
    static String of(String part, String node) {
        String name = part + "/" + node;
        if (name.length() <= LONGEST) {
            return name;
        }
        String hash = "-" + hash(node);
        return name.substring(0, LONGEST - hash.length()) + hash;
    }

    private static String hash(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }
}
