// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The segments of a path as it was sent: decoded once, then split at {@code /}, as the real server does it.
 *
 * <p>A {@code ;} is a character like any other, an encoded slash divides like a plain one, and {@code ..} is not
 * resolved.
 */
public final class PathSegments {

    private PathSegments() {}

    /**
     * Decodes and splits; slashes at both ends of the path are not significant.
     *
     * @throws IllegalArgumentException if the path has a percent sign without two hex digits
     */
    public static List<String> of(String rawPath) {
        String plusKept = rawPath.replace("+", "%2B"); // It is a space only in queries.
        String path = URLDecoder.decode(plusKept, StandardCharsets.UTF_8);
        String inner = path.replaceFirst("^/+", "").replaceFirst("/+$", "");
        return inner.isEmpty() ? List.of() : List.of(inner.split("/"));
    }
}
