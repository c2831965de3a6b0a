// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Prints requests for people, one a line. */
final class LogTable {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final int LONGEST_ERROR = 200;

    private LogTable() {}

    static String of(List<RecordedRequest> requests) {
        return requests.stream().map(LogTable::line).collect(Collectors.joining("\n", "", "\n"));
    }

    private static String line(RecordedRequest request) {
        return "%4d  %s  %-6s %s  %s%s%s"
                .formatted(
                        request.number(),
                        TIME.format(request.at()),
                        request.method(),
                        request.path() + query(request.query()),
                        request.status() == 0 ? "no response" : request.status(),
                        state(request),
                        complaint(request));
    }

    private static String query(Map<String, String> query) {
        StringJoiner text = new StringJoiner("&", "?", "").setEmptyValue("");
        new TreeMap<>(query).forEach((name, value) -> text.add(name + "=" + value));
        return text.toString();
    }

    private static String state(RecordedRequest request) {
        String time =
                request.took().map(took -> " (" + took.toMillis() + " ms)").orElse(request.open() ? " (open)" : "");
        return request.fault().isEmpty() ? time : time + " [" + request.fault() + "]";
    }

    private static String complaint(RecordedRequest request) {
        String error = request.errorBody();
        if (error.isEmpty()) {
            return "";
        }
        return "\n      "
                + error.substring(0, Math.min(error.length(), LONGEST_ERROR)).strip();
    }
}
