// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/**
 * The segments of a path as it was sent: split at {@code /}, then decoded once each.
 *
 * <p>A {@code ;} is a character like any other, an encoded slash does not divide a segment, and
 * {@code ..} leads nowhere.
 */
public final class PathSegments {

    private PathSegments() {}

    /**
     * Splits and decodes; slashes at both ends of the path are not significant.
     *
     * @throws IllegalArgumentException if the path has a percent sign without two hex digits
     */
    public static List<String> of(String rawPath) {
        String inner = rawPath.replaceFirst("^/+", "").replaceFirst("/+$", "");
        return inner.isEmpty()
                ? List.of()
                : Stream.of(inner.split("/")).map(PathSegments::decoded).toList();
    }

    private static String decoded(String segment) {
        String plusKept = segment.replace("+", "%2B"); // It is a space in queries alone.
        return URLDecoder.decode(plusKept, StandardCharsets.UTF_8);
    }
}
