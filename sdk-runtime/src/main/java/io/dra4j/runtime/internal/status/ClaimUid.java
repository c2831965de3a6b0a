// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import io.dra4j.api.error.DraException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** UIDs as parts of paths: nothing from outside becomes one unchecked. */
final class ClaimUid {

    private static final Pattern FORM =
            Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?");

    private ClaimUid() {}

    static boolean isOne(String text) {
        return FORM.matcher(text).matches();
    }

    /**
     * Returns the path of what is a claim's in a directory.
     *
     * @throws DraException if the UID is no plain name
     */
    static Path in(Path directory, String uid, String ending) {
        if (!isOne(uid)) {
            throw new DraException("Not a claim UID: it can't be part of a path");
        }
        return directory.resolve(uid + ending);
    }
}
