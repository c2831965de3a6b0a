// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The requirements that hold so far, and what that means for the others: execution groups wait here for requirements of
 * other groups.
 */
final class Verdicts {

    /** All requirements that need one are blocked, of any profile. */
    private static final String ALL = "*";

    private final Map<String, CompletableFuture<End>> ends;
    private final List<String> order;
    private final Set<String> optional;

    /**
     * The consequences of a requirement's result for others.
     *
     * @param blocked the profiles whose requirements it blocks
     * @param broken whether the driver breaks it, or that is not known
     * @param cause the id of the requirement that it is itself blocked by, else its own
     */
    private record End(Set<String> blocked, boolean broken, String cause) {

        boolean blocks(Requirement requirement) {
            return blocked.contains(ALL) || blocked.contains(requirement.profile());
        }
    }

    /** Nothing has been tried; the plan's order is that within a group. */
    Verdicts(List<Requirement> plan, List<Profile> profiles) {
        order = plan.stream().map(Requirement::id).toList();
        ends = order.stream().collect(Collectors.toMap(Function.identity(), id -> new CompletableFuture<>()));
        optional = profiles.stream()
                .filter(profile -> !profile.core())
                .map(Profile::name)
                .collect(Collectors.toSet());
    }

    /** The result of a requirement in one variant, with the optional profile whose part alone is broken. */
    record Ended(Result result, String profile) {

        /** Returns whether a result concerns the whole requirement. */
        Ended(Result result) {
            this(result, "");
        }
    }

    /** Returns the variant of results of a version of the service. */
    static String variant(Service service) {
        return service.wireName().split("\\.")[0];
    }

    /** Reports that a requirement has no result, unless it has one. */
    void abandoned(Requirement requirement) {
        ends.get(requirement.id()).complete(new End(Set.of(blocked(requirement, "")), true, requirement.id()));
    }

    void ended(Requirement requirement, List<Ended> variants) {
        List<Ended> broken =
                variants.stream().filter(one -> one.result().verdict().blocks()).toList();
        String cause = broken.stream()
                .map(one -> one.result().blockedBy())
                .filter(by -> !by.isEmpty())
                .findFirst()
                .orElse(requirement.id());
        Set<String> blocked =
                broken.stream().map(one -> blocked(requirement, one.profile())).collect(Collectors.toSet());
        boolean warned = variants.stream().anyMatch(one -> one.result().verdict() == Verdict.WARN);
        ends.get(requirement.id()).complete(new End(blocked, warned || !broken.isEmpty(), cause));
    }

    /** The profile whose requirements a failure blocks: an optional one blocks no other. */
    private String blocked(Requirement requirement, String part) {
        if (!part.isEmpty()) {
            return part;
        }
        return optional.contains(requirement.profile()) ? requirement.profile() : ALL;
    }

    /** Waits for the needs of a requirement, and returns why it is blocked; empty if all of them hold. */
    Optional<Closed> broken(Requirement requirement) {
        return requirement.needs().stream()
                .filter(ends::containsKey)
                .filter(need -> ends.get(need).join().blocks(requirement))
                .findFirst()
                .map(need -> blockedBy(need, ""));
    }

    /** The reason for requirements blocked by one: that one, and the one that blocks it in turn. */
    Closed blockedBy(String need, String state) {
        String cause = ends.containsKey(need) && ends.get(need).isDone()
                ? ends.get(need).join().cause()
                : need;
        String words = cause.equals(need) ? "needs " + need : "needs %s, which %s blocks".formatted(need, cause);
        return new Closed(Verdict.BLOCKED, state.isEmpty() ? words : words + ": " + state, cause);
    }

    /**
     * Decides what a violation means: the rule's own failure, or that of a requirement which it is
     * about. It waits only for one that precedes the rule in the plan, so that no two groups wait for each other. At
     * the end, when all results are known, any counts.
     *
     * @return why the rule has no answer; empty if it is broken
     */
    Optional<Closed> explained(Requirement requirement, Violation violation, boolean end) {
        String id = requirement.id();
        List<String> known = end ? order : order.subList(0, order.indexOf(id));
        return violation.roots().stream()
                .takeWhile(root -> !root.equals(id))
                .filter(known::contains)
                .filter(root -> ends.get(root).join().broken())
                .filter(root -> !ends.get(root).join().cause().equals(id))
                .map(root -> blockedBy(root, String.valueOf(violation.getMessage())))
                .findFirst();
    }
}
