// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.requirements.Requirement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Which requirements hold so far: lanes wait here for what they need of other lanes. */
final class Verdicts {

    private final Map<String, CompletableFuture<Boolean>> blocking;

    Verdicts(List<Requirement> plan) {
        blocking =
                new ConcurrentHashMap<>(
                        plan.stream()
                                .map(Requirement::id)
                                .collect(
                                        Collectors.toMap(
                                                Function.identity(),
                                                id -> new CompletableFuture<>())));
    }

    /** Says what came of a requirement, in all its variants. */
    void ended(String id, List<Result> results) {
        blocking.get(id).complete(results.stream().anyMatch(r -> r.verdict().blocks()));
    }

    /** Waits for the needs of a requirement, and returns the first that does not hold. */
    Optional<String> broken(Requirement requirement) {
        return requirement.needs().stream()
                .filter(need -> blocking.containsKey(need) && blocking.get(need).join())
                .findFirst();
    }
}
