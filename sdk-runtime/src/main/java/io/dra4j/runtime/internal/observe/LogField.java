// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

/**
 * The keys of structured log events: one list, so that a field is named the same everywhere.
 *
 * <p>{@link #toString} gives the key: {@code log.atInfo().addKeyValue(CLAIM.toString(), ref)}.
 */
public enum LogField {
    /** A claim as people name it, {@code namespace/name}. */
    CLAIM("claim"),
    CLAIM_UID("claim.uid"),
    CLAIM_COUNT("claim.count"),
    DEVICE("device"),
    DEVICE_COUNT("device.count"),
    DRIVER("driver"),
    DURATION_MILLIS("duration.ms"),
    ERROR_COUNT("error.count"),
    /** A part of a device that an API server may leave out. */
    FEATURE("feature"),
    NODE("node"),
    /** Set in the MDC for one RPC of the kubelet, so that all its lines are found together. */
    OP_ID("op.id"),
    PATH("path"),
    POOL("pool"),
    /** Why something ended, in the words of the other side. */
    REASON("reason"),
    SLICE("slice"),
    SLICE_COUNT("slice.count"),
    SOCKET("socket");

    private final String key;

    LogField(String key) {
        this.key = key;
    }

    @Override
    public String toString() {
        return key;
    }
}
