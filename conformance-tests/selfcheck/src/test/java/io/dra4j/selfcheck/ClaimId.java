// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.util.regex.Pattern;

/** A claim as the kubelet names it. */
record ClaimId(String namespace, String name, String uid) {

    private static final Pattern UID = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9-]{0,62}[A-Za-z0-9])?");
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");

    /** Returns whether it could be a claim's at all, and may be part of a file's name or of a path. */
    boolean isSane() {
        return hasSaneUid()
                && NAME.matcher(namespace).matches()
                && NAME.matcher(name).matches();
    }

    boolean hasSaneUid() {
        return UID.matcher(uid).matches();
    }
}
