// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import java.util.function.Function;

/**
 * The query parameters of a watch.
 *
 * @param revision where to start after; 0 for "what there is now, then changes"
 * @param onlyNew whether the client does not want the existing objects
 * @param initialEvents whether the client asked for the existing objects and a bookmark after them
 * @param timeoutSeconds 0 for the server's choice
 */
record WatchRequest(
        long revision,
        boolean onlyNew,
        boolean initialEvents,
        boolean bookmarks,
        long timeoutSeconds) {

    static WatchRequest of(Exchange exchange) {
        String asked = exchange.query("sendInitialEvents");
        String match = exchange.query("resourceVersionMatch");
        if (!asked.isEmpty() && !match.equals("NotOlderThan")) {
            throw forbiddenMatch(
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if (asked.isEmpty() && !match.isEmpty()) {
            throw forbiddenMatch(
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
        }
        boolean initial = exchange.flag("sendInitialEvents");
        return new WatchRequest(
                revision(exchange, ApiFailure::unexplained),
                !asked.isEmpty() && !initial,
                initial,
                exchange.flag("allowWatchBookmarks"),
                number(exchange, "timeoutSeconds"));
    }

    private static ApiFailure forbiddenMatch(String why) {
        return ApiFailure.invalidListOptions(
                new FieldErrors().forbidden("resourceVersionMatch", why));
    }

    /** With initial events the revision is only a minimum, and they are always current here. */
    boolean fromNow() {
        return revision == 0 || initialEvents;
    }

    static long number(Exchange exchange, String name) {
        String text = exchange.query(name);
        try {
            return text.isEmpty() ? 0 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw ApiFailure.badRequest(unreadable("ParseInt", text));
        }
    }

    private static String unreadable(String function, String text) {
        String range = text.matches("[+-]?\\d+") ? "value out of range" : "invalid syntax";
        return "strconv.%s: parsing %s: %s".formatted(function, QuotedText.of(text), range);
    }

    /** The revision that a list or a watch asks for; 0 for any. */
    static long revision(Exchange exchange, Function<String, ApiFailure> refusal) {
        String text = exchange.query("resourceVersion");
        try {
            return text.isEmpty() ? 0 : Long.parseUnsignedLong(text);
        } catch (NumberFormatException e) {
            String quoted = QuotedText.of(text);
            throw refusal.apply(
                    "resourceVersion: Invalid value: "
                            + quoted
                            + ": "
                            + unreadable("ParseUint", text));
        }
    }
}
