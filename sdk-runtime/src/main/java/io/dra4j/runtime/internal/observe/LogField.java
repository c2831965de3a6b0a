// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

/**
 * The keys of structured log events: one list, so that a field is named the same everywhere.
 *
 * <p>{@link #toString} gives the key: {@code log.atInfo().addKeyValue(CLAIM.toString(), ref)}. The
 * reference page of the log is rendered from here.
 */
public enum LogField {
    ADDRESS("address", "where a server listens"),
    CLAIM("claim", "a claim as people name it, `namespace/name`"),
    CLAIM_UID("claim.uid", "the UID of a claim"),
    CLAIM_COUNT("claim.count", "how many claims"),
    DEVICE("device", "a device, by its name in the pool"),
    DEVICE_COUNT("device.count", "how many devices"),
    DRIVER("driver", "the driver's name"),
    DURATION_MILLIS("duration.ms", "how long it took, in milliseconds"),
    ERROR_COUNT("error.count", "how many errors"),
    FEATURE("feature", "a part of a device that an API server may leave out"),
    NODE("node", "the node's name"),
    OP_ID(
            "op.id",
            "one call of the kubelet: on each line that is logged for it, by whatever thread; it"
                    + " counts from 1 when the process starts"),
    PATH("path", "a file or directory"),
    POOL("pool", "a pool of devices"),
    REASON("reason", "why something ended, in the words of the other side"),
    SLICE("slice", "a ResourceSlice, by name"),
    SLICE_COUNT("slice.count", "how many ResourceSlices"),
    SOCKET("socket", "the path of a unix socket");

    private final String key;
    private final String meaning;

    LogField(String key, String meaning) {
        this.key = key;
        this.meaning = meaning;
    }

    /** What the field holds, for the reference page. */
    String meaning() {
        return meaning;
    }

    @Override
    public String toString() {
        return key;
    }
}
