// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import io.dra4j.testkit.rbac.ApiAction;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One request to the proxy, as far as it has progressed.
 *
 * @param number counts from 1, in the order of arrival
 * @param at when it arrived
 * @param method for example {@code GET}
 * @param path the path without the query, as it was sent
 * @param query the query's parameters, decoded; the last value where one was sent twice
 * @param body the request's body as text, in JSON for any wire format, cut after a megabyte; empty if there was none
 * @param status the status of the response; 0 until there is one, so always 0 if the connection was cut before
 * @param errorBody the body of an error response, in JSON for any wire format, cut; empty for any other
 * @param fault the fault that was applied to it, in words; empty if none
 * @param client the protocol, the client's own description of itself, and the media types that it accepts, if it sends
 *     them: {@code HTTP/1.1 driver/v1.0 [application/json]}
 * @param ended the time when the response was complete or cut; null until then
 */
public record RecordedRequest(
        int number,
        Instant at,
        String method,
        String path,
        Map<String, String> query,
        String body,
        int status,
        String errorBody,
        String fault,
        String client,
        @Nullable Instant ended) {

    public RecordedRequest {
        query = Map.copyOf(query);
    }

    static RecordedRequest arrived(
            int number, Instant at, String method, String path, Map<String, String> query, String body, String client) {
        return new RecordedRequest(number, at, method, path, query, body, 0, "", "", client, null);
    }

    RecordedRequest withFault(String words) {
        return new RecordedRequest(number, at, method, path, query, body, status, errorBody, words, client, ended);
    }

    RecordedRequest withStatus(int code) {
        return new RecordedRequest(number, at, method, path, query, body, code, errorBody, fault, client, ended);
    }

    RecordedRequest withEnd(Instant when, String text) {
        return new RecordedRequest(number, at, method, path, query, body, status, text, fault, client, when);
    }

    /** Returns whether it is a write, and not a dry run. */
    public boolean write() {
        return !method.equals("GET") && !method.equals("HEAD") && !dryRun();
    }

    /** Returns whether it is a dry run. */
    public boolean dryRun() {
        return query.getOrDefault("dryRun", "").equals("All");
    }

    /** Returns whether it is a watch. */
    public boolean watch() {
        return method.equals("GET") && ApiAction.isWatch(query);
    }

    /** Returns whether it is a list of a resource, with or without a selector. */
    public boolean list() {
        return method.equals("GET") && !watch() && !resource().isEmpty() && name().isEmpty();
    }

    /** The plural of the resource in the path, {@code resourceslices}; empty for other paths. */
    public String resource() {
        return ApiAction.of(method, path, Map.of()).plural();
    }

    /** The name of the object in the path; empty for a whole resource. */
    public String name() {
        return ApiAction.of(method, path, Map.of()).name();
    }

    /** A parameter of the query, empty if it was not sent. */
    public String query(String parameter) {
        return query.getOrDefault(parameter, "");
    }

    /** Returns whether the response is still being sent, like that of a watch. */
    public boolean open() {
        return status != 0 && ended == null;
    }

    /** The time until the response was complete or cut; empty until then. */
    public Optional<Duration> took() {
        return Optional.ofNullable(ended).map(end -> Duration.between(at, end));
    }
}
