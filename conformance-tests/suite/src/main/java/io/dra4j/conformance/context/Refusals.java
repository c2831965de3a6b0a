// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The driver's writes of slices that were refused by the API server, not by the suite. */
public record Refusals(ApiProxy proxy) {

    /** Statuses of errors that a retry may overcome: they say nothing about the slice. */
    private static final Set<Integer> FOR_NOW = Set.of(408, 409, 410, 429);

    private static final int FEW = 3;
    private static final int LONG = 1000;
    private static final JsonFactory JSON = new JsonFactory();

    private static boolean isRefused(RecordedRequest write) {
        boolean gone = write.status() == 404 && !write.method().equals("POST");
        return write.status() / 100 == 4
                && !gone
                && !FOR_NOW.contains(write.status())
                && write.fault().isEmpty();
    }

    /** The last kinds of refusals, each with its last answer; empty if nothing was refused. */
    public String summary() {
        Map<String, List<String>> byKind = new LinkedHashMap<>();
        for (RecordedRequest write : proxy.requests(Requests.writes("resourceslices"))) {
            if (isRefused(write)) {
                List<String> same = byKind.remove(kind(write)); // the last one goes to the end
                List<String> all = same == null ? new ArrayList<>() : same;
                all.add(words(write));
                byKind.put(kind(write), all);
            }
        }
        List<String> kinds = byKind.values().stream().map(Refusals::counted).toList();
        return String.join("; ", kinds.subList(Math.max(0, kinds.size() - FEW), kinds.size()));
    }

    private static String kind(RecordedRequest write) {
        return write.method() + " " + write.status();
    }

    private static String counted(List<String> same) {
        String last = same.get(same.size() - 1);
        String words = last.length() > LONG ? last.substring(0, LONG) + "…" : last;
        return same.size() == 1 ? words : words + " (" + same.size() + " such answers)";
    }

    public static String words(RecordedRequest refused) {
        Map<String, String> status = fields(refused.errorBody());
        String reason = status.getOrDefault("reason", "");
        return "the API server refused its %s with %d%s: %s"
                .formatted(
                        refused.method(),
                        refused.status(),
                        reason.isEmpty() ? "" : " " + reason,
                        status.getOrDefault("message", refused.errorBody()));
    }

    /** The texts of a Status; if it was truncated, those before the cut. */
    private static Map<String, String> fields(String status) {
        Map<String, String> fields = new HashMap<>();
        try (JsonParser json = JSON.createParser(status)) {
            json.nextToken();
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                if (json.nextToken() == JsonToken.VALUE_STRING) {
                    fields.put(name, json.getText());
                }
                json.skipChildren();
            }
        } catch (IOException e) {
            return fields; // it was truncated here, or was not JSON at all
        }
        return fields;
    }
}
