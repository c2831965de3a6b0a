// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.http;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A response: its status, headers and body. */
public record HttpAnswer(int status, Map<String, String> headers, byte[] body) {

    private static final String TYPE = "Content-Type";

    /** Copies the map. */
    public HttpAnswer {
        headers = Map.copyOf(headers);
    }

    /** Returns an answer of some media type. */
    public static HttpAnswer of(int status, String type, byte[] body) {
        return new HttpAnswer(status, Map.of(TYPE, type), body);
    }

    /** Returns one line or more for people; the line's end is added. */
    public static HttpAnswer text(int status, String text) {
        return of(status, "text/plain; charset=utf-8", (text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    HttpAnswer allowing(String methods) {
        return new HttpAnswer(status, Map.of(TYPE, headers.getOrDefault(TYPE, ""), "Allow", methods), body);
    }
}
