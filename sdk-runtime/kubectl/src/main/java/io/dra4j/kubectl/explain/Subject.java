// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.NodeSelector;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A pod that is explained, or a claim without one.
 *
 * @param title such as {@code pod default/train}
 * @param pod the object, for its containers' extended resources; null for a claim
 * @param node the node that it is placed on; empty if it is not
 * @param pending its claims that are not allocated, in the pod's order
 * @param templates the templates, by the full names of the pending claims made from them
 * @param blockers why a scheduler does not try it at all
 * @param scheduler what the scheduler and others wrote on it, or that they wrote nothing
 */
record Subject(
        String title,
        @Nullable JsonNode pod,
        String node,
        List<Claim> pending,
        List<Allocated> allocated,
        Map<String, String> templates,
        List<Blocker> blockers,
        List<String> scheduler,
        List<String> notes) {

    /**
     * A claim that is allocated.
     *
     * @param nodes the nodes from which its devices can be used; null for all
     */
    record Allocated(Claim claim, @Nullable NodeSelector nodes) {}

    /**
     * A reason why nothing can be allocated yet.
     *
     * @param problem the problem, as a part of a sentence
     * @param remedy the remedy, a sentence without its full stop, in the imperative
     */
    record Blocker(String problem, String remedy) {}

    String namespace() {
        return title.substring(title.indexOf(' ') + 1, title.indexOf('/'));
    }

    /** Returns whether it is in the cluster, rather than in a file. */
    boolean isApplied() {
        return pod == null ? title.startsWith("claim ") : pod.has("status");
    }

    /** The kind as a noun: a template stands for the claim made from it. */
    String noun() {
        return title.startsWith("pod ") ? "pod" : "claim";
    }

    /** Names templates in place of their claims, since the template has to be changed. */
    String withTemplates(String text) {
        String named = text;
        for (Map.Entry<String, String> one : templates.entrySet()) {
            named = named.replaceAll(
                    "claim " + Pattern.quote(one.getKey()) + "(?![a-z0-9.-]*[a-z0-9])",
                    Matcher.quoteReplacement("template " + one.getValue()));
        }
        return named;
    }

    /** The title as the start of a sentence. */
    String opening() {
        return Character.toUpperCase(title.charAt(0)) + title.substring(1);
    }
}
