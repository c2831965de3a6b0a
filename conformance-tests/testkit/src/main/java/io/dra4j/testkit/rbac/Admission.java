// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The admission policies of manifests whose bindings deny what they refuse; thread-safe. */
final class Admission {

    private static final Map<String, String> OPERATIONS =
            Map.of("create", "CREATE", "update", "UPDATE", "patch", "UPDATE", "delete", "DELETE");

    private final List<AdmissionPolicy> policies = new ArrayList<>();
    private final Set<String> notes = new ConcurrentSkipListSet<>();

    Admission(List<JsonNode> manifests) {
        of(manifests, "ValidatingAdmissionPolicyBinding")
                .filter(binding -> binding.at("/spec/validationActions")
                        .valueStream()
                        .anyMatch(action -> action.asText().equals("Deny")))
                .forEach(binding -> of(manifests, "ValidatingAdmissionPolicy")
                        .filter(policy -> policy.at("/metadata/name").equals(binding.at("/spec/policyName")))
                        .map(policy -> new AdmissionPolicy(policy, binding))
                        .forEach(this::add));
    }

    private static Stream<JsonNode> of(List<JsonNode> manifests, String kind) {
        return manifests.stream().filter(one -> one.path("kind").asText().equals(kind));
    }

    private void add(AdmissionPolicy policy) {
        if (policy.isUnclear()) {
            notes.add(unclear(policy, "it has parameters or selectors"));
        } else {
            policies.add(policy);
        }
    }

    private static String unclear(AdmissionPolicy policy, String why) {
        return "Admission: the ValidatingAdmissionPolicy %s was not evaluated: %s.".formatted(policy.name(), why);
    }

    /** Remarks on policies that could not be evaluated, a sentence each. */
    Set<String> notes() {
        return notes;
    }

    /** Evaluates a write, whose objects are read only if a policy is for it. */
    Optional<Refusal> refusal(
            ApiAction action, Map<String, Object> user, Supplier<JsonNode> before, Supplier<JsonNode> after) {
        String operation = OPERATIONS.getOrDefault(action.verb(), "");
        List<AdmissionPolicy> due =
                policies.stream().filter(one -> one.isFor(action, operation)).toList();
        if (due.isEmpty() || (action.name().isEmpty() && !operation.equals("CREATE"))) {
            return Optional.empty();
        }
        boolean deletes = operation.equals("DELETE");
        JsonNode now = operation.equals("CREATE") ? MissingNode.getInstance() : before.get();
        JsonNode then = deletes ? MissingNode.getInstance() : after.get();
        if (then.isMissingNode() && !deletes) {
            return Optional.empty(); // the API server refuses it
        }
        String done = now.isMissingNode() && !deletes ? "CREATE" : operation;
        return due.stream()
                .flatMap(policy -> denied(policy, done, user, then, now).stream()
                        .map(denied -> Refusal.byPolicy(action, policy, denied, deletes ? now : then)))
                .findFirst();
    }

    private Optional<AdmissionPolicy.Denied> denied(
            AdmissionPolicy policy, String operation, Map<String, Object> user, JsonNode after, JsonNode before) {
        try {
            return policy.denied(operation, user, after, before);
        } catch (IllegalStateException e) {
            notes.add(unclear(policy, String.valueOf(e.getMessage()).replace('\n', ' ')));
            return Optional.empty();
        }
    }
}
