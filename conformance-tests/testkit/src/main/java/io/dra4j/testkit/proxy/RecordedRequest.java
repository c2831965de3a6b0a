// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One request that came to the proxy, as far as it has got by now.
 *
 * @param number counts from 1, in the order of arrival
 * @param at when it arrived
 * @param method for example {@code GET}
 * @param path the path without the query, as it was sent
 * @param query the query's parameters, decoded; the last value where one was sent twice
 * @param body the request's body as text, in JSON for any wire format, cut after a megabyte; empty
 *     if there was none
 * @param status what the client was answered; 0 as long as it got no answer, and so for ever when
 *     the connection was cut
 * @param answer the body of an answer that is an error, in JSON for any wire format, cut; empty for
 *     any other
 * @param fault which fault was put upon it, in words; empty if none
 * @param ended when the answer was complete or cut; null as long as neither
 */
public record RecordedRequest(
        int number,
        Instant at,
        String method,
        String path,
        Map<String, String> query,
        String body,
        int status,
        String answer,
        String fault,
        @Nullable Instant ended) {

    /** Copies the query. */
    public RecordedRequest {
        query = Map.copyOf(query);
    }

    static RecordedRequest arrived(
            int number,
            Instant at,
            String method,
            String path,
            Map<String, String> query,
            String body) {
        return new RecordedRequest(number, at, method, path, query, body, 0, "", "", null);
    }

    RecordedRequest withFault(String words) {
        return new RecordedRequest(
                number, at, method, path, query, body, status, answer, words, ended);
    }

    RecordedRequest withStatus(int code) {
        return new RecordedRequest(
                number, at, method, path, query, body, code, answer, fault, ended);
    }

    RecordedRequest withEnd(Instant when, String text) {
        return new RecordedRequest(
                number, at, method, path, query, body, status, text, fault, when);
    }

    /** Whether it asked to change something, and not only to be told what would happen. */
    public boolean write() {
        return !method.equals("GET") && !method.equals("HEAD") && !dryRun();
    }

    /** Whether it only asked what a change would do. */
    public boolean dryRun() {
        return query.getOrDefault("dryRun", "").equals("All");
    }

    /** Whether it asked for a stream of changes. */
    public boolean watch() {
        String value = query.getOrDefault("watch", "false");
        return method.equals("GET") && !value.equals("0") && !value.equalsIgnoreCase("false");
    }

    /** Whether it asked for all objects of a resource, or all that a selector matches. */
    public boolean list() {
        return method.equals("GET") && !watch() && !resource().isEmpty() && name().isEmpty();
    }

    /** The plural of the resource in the path, {@code resourceslices}; empty for other paths. */
    public String resource() {
        return ApiPath.of(path).resource();
    }

    /** The name of the object in the path; empty for a whole resource. */
    public String name() {
        return ApiPath.of(path).name();
    }

    /** A parameter of the query, empty if it was not sent. */
    public String query(String parameter) {
        return query.getOrDefault(parameter, "");
    }

    /** Whether the answer is still being sent, as that of a watch is. */
    public boolean open() {
        return status != 0 && ended == null;
    }

    /** How long it took until the answer was complete or cut; empty as long as neither. */
    public Optional<Duration> took() {
        return Optional.ofNullable(ended).map(end -> Duration.between(at, end));
    }
}
