// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The edits of claims that are prepared at the same time, and how many claims have each.
 *
 * @param own the least number of edits that only one claim has, over all claims
 * @param common the edits of more than one claim
 */
public record ClaimEdits(long own, Set<String> common) {

    /** Compares the edits of claims, as {@link #of} has them. */
    public static ClaimEdits among(Collection<List<String>> claims) {
        Map<String, Long> users = claims.stream()
                .flatMap(edits -> edits.stream().distinct())
                .collect(Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()));
        long own = claims.stream()
                .mapToLong(edits ->
                        edits.stream().filter(edit -> users.get(edit) == 1).count())
                .min()
                .orElse(0);
        users.values().removeIf(count -> count == 1);
        return new ClaimEdits(own, users.keySet());
    }

    /** Returns the edits of a prepared claim, sorted, with its UID, its name and its share ids replaced by a star. */
    public static List<String> of(TestContext context, KubeletClaim claim, ClaimResult answer) {
        List<String> names = new ArrayList<>(List.of(claim.uid(), claim.name()));
        context.claims()
                .object(claim)
                .at("/status/allocation/devices/results")
                .forEach(result -> names.add(result.path("shareID").asText(claim.uid())));
        return context.cdi().edits(answer.devices()).stream()
                .map(line -> names.stream().reduce(line, (left, id) -> left.replace(id, "*")))
                .sorted() // again, as they have other names now
                .toList();
    }
}
