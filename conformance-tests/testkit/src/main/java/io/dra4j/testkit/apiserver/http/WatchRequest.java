// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import java.util.List;
import java.util.function.Function;

/**
 * The query parameters of a watch.
 *
 * @param revision the revision to start after; 0 for "what there is now, then changes"
 * @param onlyNew whether the client does not want the existing objects
 * @param initialEvents whether the client asked for the existing objects and a bookmark after them
 * @param timeoutSeconds 0 for the server's choice
 */
record WatchRequest(long revision, boolean onlyNew, boolean initialEvents, boolean bookmarks, long timeoutSeconds) {

    static final String MATCH = "resourceVersionMatch";

    static WatchRequest of(Exchange exchange) {
        long timeoutSeconds = number(exchange, "timeoutSeconds");
        number(exchange, "limit");
        boolean asked = exchange.has("sendInitialEvents");
        requireValid(exchange, asked);
        boolean initial = exchange.flag("sendInitialEvents");
        return new WatchRequest(
                revision(exchange, ApiFailure::unexplained),
                asked && !initial,
                initial,
                exchange.flag("allowWatchBookmarks"),
                timeoutSeconds);
    }

    private static void requireValid(Exchange exchange, boolean initialAsked) {
        String match = exchange.query(MATCH);
        boolean notOlder = match.equals("NotOlderThan");
        FieldErrors errors = new FieldErrors();
        if (initialAsked && !notOlder) {
            errors.forbidden(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
        }
        if (!match.isEmpty()) {
            if (!initialAsked) {
                errors.forbidden(MATCH, MATCH + " is forbidden for watch unless sendInitialEvents is provided");
            }
            if (!notOlder) {
                errors.notSupported(MATCH, match, List.of("NotOlderThan"));
            }
            if (!exchange.query("continue").isEmpty()) {
                errors.forbidden(MATCH, MATCH + " is forbidden when continue is provided");
            }
        }
        if (!errors.isEmpty()) {
            throw ApiFailure.invalidListOptions(errors);
        }
    }

    /** With initial events the revision is only a minimum, and they are always current here. */
    boolean fromNow() {
        return revision == 0 || initialEvents;
    }

    static long number(Exchange exchange, String name) {
        String text = exchange.query(name);
        try {
            return exchange.has(name) ? Long.parseLong(text) : 0;
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
            throw refusal.apply("resourceVersion: Invalid value: " + quoted + ": " + unreadable("ParseUint", text));
        }
    }
}
