// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The requests that a page accepts: its path, methods, and the size of its documents.
 *
 * @param longest the most bytes of a document; 0 for a page without
 */
record Request(String path, int longest, List<String> methods) {

    private static final String JSON = "application/json";

    Request(String path, int longest, String... methods) {
        this(path, longest, List.of(methods));
    }

    /** Returns the answer of the page, or the reason why it is not asked. */
    HttpAnswer answer(HttpExchange exchange, Page page) throws IOException {
        HttpAnswer refusal = refusal(exchange);
        if (refusal != null) {
            return refusal;
        }
        Headers headers = exchange.getRequestHeaders();
        String accept = headers.getFirst("Accept");
        byte[] body = longest == 0 ? new byte[0] : body(exchange.getRequestBody());
        return body.length > longest
                ? tooLarge(exchange.getRequestBody())
                : page.answer(accept == null ? "" : accept, body);
    }

    private @Nullable HttpAnswer refusal(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestURI().getPath().equals(path)) {
            return HttpAnswer.text(404, "no such page");
        }
        if (!methods.contains(exchange.getRequestMethod())) {
            String allowed = String.join(", ", methods);
            return HttpAnswer.text(405, "only " + String.join(" and ", methods)).allowing(allowed);
        }
        Headers headers = exchange.getRequestHeaders();
        if (longest > 0 && !isJson(headers.getFirst("Content-Type"))) {
            return HttpAnswer.text(415, "the Content-Type must be " + JSON);
        }
        return null;
    }

    private static boolean isJson(@Nullable String contentType) {
        return contentType != null
                && contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT).equals(JSON);
    }

    private byte[] body(InputStream in) throws IOException {
        return in.readNBytes(longest + 1);
    }

    /** A client that still sends when the connection is closed may never see the answer. */
    private HttpAnswer tooLarge(InputStream rest) throws IOException {
        rest.transferTo(OutputStream.nullOutputStream());
        return HttpAnswer.text(413, "the document has more than " + longest + " bytes");
    }
}
