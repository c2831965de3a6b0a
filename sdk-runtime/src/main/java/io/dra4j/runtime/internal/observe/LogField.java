// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

/**
 * The keys of structured log events: one list, so that a field is named the same everywhere. The
 * reference page on log fields describes each.
 */
public final class LogField {

    public static final String ADDRESS = "address";
    public static final String API_GROUP = "api.group";
    public static final String CLAIM = "claim";
    public static final String CLAIM_UID = "claim.uid";
    public static final String DEVICE = "device";
    public static final String DEVICE_COUNT = "device.count";
    public static final String FEATURE = "feature";
    public static final String OBJECT = "object";
    public static final String OP_ID = "op.id";
    public static final String OPTION = "option";
    public static final String PATH = "path";
    public static final String POOL = "pool";
    public static final String REASON = "reason";
    public static final String RELEASE = "release";
    public static final String RESOURCE = "resource";
    public static final String SLICE = "slice";
    public static final String SLICE_COUNT = "slice.count";
    public static final String SOCKET = "socket";
    public static final String VALUE = "value";
    public static final String VERB = "verb";

    private LogField() {}
}
