// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An API server's response at {@code /version}.
 *
 * @param gitVersion the release, which distributions append to: {@code v1.34.1+k3s1}; empty if it does not report it
 */
record ServerVersion(String gitVersion) {

    private static final Pattern RELEASE = Pattern.compile("v?1\\.([0-9]{1,4})(\\D.*)?");

    /** Reads the response; a proxy between may respond with something else, which counts as empty. */
    static ServerVersion parse(String response) {
        try {
            return new ServerVersion(Json.parse(response).path("gitVersion").asText());
        } catch (IllegalArgumentException e) {
            return new ServerVersion("");
        }
    }

    /** Returns the number after {@code 1.}; empty if there is none. */
    OptionalInt minor() {
        Matcher matcher = RELEASE.matcher(gitVersion);
        return matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(1))) : OptionalInt.empty();
    }
}
