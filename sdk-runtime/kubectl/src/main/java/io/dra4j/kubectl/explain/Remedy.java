// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.kubectl.explain.PodEndings.PodName;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A way to make claims fit.
 *
 * @param node the node on which they then fit
 * @param steps the steps, which together are enough
 */
record Remedy(String node, List<Step> steps) {
    /** Least disruptive first, then the fewest steps, then the fewest pods. */
    static final Comparator<Remedy> LEAST_HARM = Comparator.comparing(Remedy::harm)
            .thenComparing(one -> one.steps.size())
            .thenComparing(one -> one.steps.stream().mapToInt(Step::pods).sum());

    /**
     * A change of one object.
     *
     * @param text a sentence without its full stop, in the imperative
     */
    record Step(String text, Harm harm, List<PodName> ends) {
        Step(String text, Harm harm) {
            this(text, harm, List.of());
        }

        int pods() {
            return ends.size();
        }
    }

    Harm harm() {
        return steps.stream().map(Step::harm).max(Comparator.naturalOrder()).orElse(Harm.NONE);
    }

    List<String> texts() {
        return steps.stream().map(Step::text).toList();
    }

    /** The texts, with commands for the pods that they end. */
    List<String> texts(PodEndings endings) {
        return steps.stream().map(one -> one.text() + endings.of(one.ends())).toList();
    }

    /** States how to make these changes where the API does not allow edits. */
    static List<String> how(List<Remedy> ways, Subject subject) {
        Set<Harm> harms = EnumSet.noneOf(Harm.class);
        ways.stream().flatMap(way -> way.steps.stream()).map(Step::harm).forEach(harms::add);
        List<String> how = new ArrayList<>();
        boolean ofClaim = harms.contains(Harm.OWN_CLAIM) || harms.contains(Harm.RISK);
        if (subject.isApplied() && !subject.pending().isEmpty() && ofClaim) {
            how.add("Claims and templates can't be edited: change the manifest, then delete and"
                    + " create the claim (or template) and the pod.");
        } else if (subject.isApplied() && (ofClaim || harms.contains(Harm.OTHER_NODE))) {
            how.add("This part of a pod can't be edited: change its manifest, then delete and create the pod.");
        }
        return how;
    }
}
