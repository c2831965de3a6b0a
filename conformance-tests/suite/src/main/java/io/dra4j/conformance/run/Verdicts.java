// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.requirements.Requirement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The requirements that hold so far: execution groups wait here for what they need of other
 * execution groups.
 */
final class Verdicts {

    /** All requirements that need one are blocked, of any profile. */
    private static final String ALL = "*";

    private final Map<String, CompletableFuture<Set<String>>> blocking;
    private final Set<String> optional;

    /**
     * Nothing has been tried.
     *
     * @param plan what will be tried
     * @param profiles the profiles of the catalogue
     */
    Verdicts(List<Requirement> plan, List<Profile> profiles) {
        blocking = new ConcurrentHashMap<>(plan.stream()
                .map(Requirement::id)
                .collect(Collectors.toMap(Function.identity(), id -> new CompletableFuture<>())));
        optional = profiles.stream()
                .filter(profile -> !profile.core())
                .map(Profile::name)
                .collect(Collectors.toSet());
    }

    /**
     * The end of a requirement in one variant.
     *
     * @param result the result
     * @param profile the optional profile whose part of the requirement is broken; empty if it is
     *     none, or the whole
     */
    record Ended(Result result, String profile) {

        /** A result that is of the requirement as a whole. */
        Ended(Result result) {
            this(result, "");
        }
    }

    /** Reports that a requirement has no result, unless it has one. */
    void abandoned(Requirement requirement) {
        blocking.get(requirement.id()).complete(Set.of(blocked(requirement, "")));
    }

    /** Reports the results of a requirement, in all its variants. */
    void ended(Requirement requirement, List<Ended> variants) {
        blocking.get(requirement.id())
                .complete(variants.stream()
                        .filter(one -> one.result().verdict().blocks())
                        .map(one -> blocked(requirement, one.profile()))
                        .collect(Collectors.toSet()));
    }

    /** The profile whose requirements a failure blocks: an optional one blocks no other. */
    private String blocked(Requirement requirement, String part) {
        if (!part.isEmpty()) {
            return part;
        }
        return optional.contains(requirement.profile()) ? requirement.profile() : ALL;
    }

    /** Waits for the needs of a requirement, and returns the first that does not hold. */
    Optional<String> broken(Requirement requirement) {
        return requirement.needs().stream()
                .filter(need -> blocking.containsKey(need))
                .filter(need -> isBlocked(requirement, blocking.get(need).join()))
                .findFirst();
    }

    private static boolean isBlocked(Requirement requirement, Set<String> profiles) {
        return profiles.contains(ALL) || profiles.contains(requirement.profile());
    }
}
