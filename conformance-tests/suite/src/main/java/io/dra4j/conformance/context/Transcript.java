// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The gRPC calls of a test context, a line for each that has ended. Thread-safe. */
public final class Transcript {

    private static final int LONGEST = 2000;

    private final long begin = System.nanoTime();
    private final List<String> lines = new ArrayList<>(); // guarded by this

    Transcript() {}

    CallResult call(String method, List<KubeletClaim> claims, Supplier<CallResult> call) {
        long sent = System.nanoTime();
        CallResult result = call.get();
        note("%s(%s) -> %s in %d ms"
                .formatted(
                        method,
                        claims.stream().map(Transcript::text).collect(Collectors.joining(", ")),
                        text(result),
                        Duration.ofNanos(System.nanoTime() - sent).toMillis()));
        return result;
    }

    public synchronized void note(String line) {
        String cut = line.length() > LONGEST ? line.substring(0, LONGEST) + "…" : line;
        lines.add(String.format(Locale.ROOT, "%8.3f s  %s", (System.nanoTime() - begin) / 1e9, cut.replace('\n', ' ')));
    }

    synchronized int size() {
        return lines.size();
    }

    synchronized List<String> since(int first) {
        return List.copyOf(lines.subList(first, lines.size()));
    }

    private static String text(KubeletClaim claim) {
        return claim.namespace() + "/" + claim.name() + " " + claim.uid();
    }

    private static String text(CallResult result) {
        return result.status().equals(CallResult.OK)
                ? result.results().entrySet().stream()
                        .map(answer -> answer.getKey()
                                + ": "
                                + (answer.getValue().error().isEmpty()
                                        ? answer.getValue().devices().toString()
                                        : "error: " + answer.getValue().error()))
                        .collect(Collectors.joining("; ", "OK {", "}"))
                : result.status();
    }
}
