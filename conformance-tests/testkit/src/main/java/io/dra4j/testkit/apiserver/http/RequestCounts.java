// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.rbac.ApiAction;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The number of requests of each kind and protocol; thread-safe. */
final class RequestCounts {

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> protocols = new ConcurrentHashMap<>();

    /** Counts a request, whatever becomes of it. */
    void add(Exchange exchange) {
        Map<String, String> query = Map.of("watch", Boolean.toString(exchange.flag("watch")));
        ApiAction action = ApiAction.of(exchange.method(), exchange.path(), query);
        String resource = action.resource().isEmpty() ? "(no resource)" : action.resource();
        add(counts, action.verb() + " " + resource);
        add(protocols, exchange.protocol());
    }

    private static void add(Map<String, LongAdder> counts, String kind) {
        counts.computeIfAbsent(kind, any -> new LongAdder()).increment();
    }

    SortedMap<String, Long> all() {
        return sums(counts);
    }

    SortedMap<String, Long> protocols() {
        return sums(protocols);
    }

    private static SortedMap<String, Long> sums(Map<String, LongAdder> counts) {
        SortedMap<String, Long> all = new TreeMap<>();
        counts.forEach((kind, count) -> all.put(kind, count.sum()));
        return all;
    }
}
