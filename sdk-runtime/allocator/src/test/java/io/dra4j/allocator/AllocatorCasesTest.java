// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.model.NodeSelector;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The answers are those of the scheduler's own allocator. */
class AllocatorCasesTest {
    /** A busy machine takes longer than a scheduler would. */
    private static final InstantSource STOPPED = InstantSource.fixed(Instant.EPOCH);

    private static Map<String, ObjectNode> expected() {
        Map<String, ObjectNode> expected = new HashMap<>();
        for (AllocatorCase one : AllocatorCase.all()) {
            ObjectNode answer = one.expected().deepCopy();
            answer.remove("fitsWithout");
            expected.put(one.name(), answer);
        }
        return expected;
    }

    private static List<String> differences(boolean asReleased) {
        Map<String, ObjectNode> expected = expected();
        Map<Boolean, Allocator> allocators = new HashMap<>();
        List<String> differences = new ArrayList<>();
        for (AllocatorCase one : AllocatorCase.all()) {
            Allocator allocator = allocators.computeIfAbsent(one.listAttributes(), key -> allocator(one, asReleased));
            Outcome outcome = allocator.allocate(one.cluster(), one.node(), one.claims());
            ObjectNode answer = AnswerJson.of(outcome);
            if (!answer.equals(expected.get(one.name())) && (asReleased || !one.isDecidedByBugs())) {
                differences.add("%s: %s, expected %s".formatted(one.name(), answer, expected.get(one.name())));
            }
        }
        return differences;
    }

    private static Allocator allocator(AllocatorCase one, boolean asReleased) {
        Set<SchedulerBug> bugs = asReleased ? SchedulerBug.of(one.gates().version()) : Set.of();
        return Allocator.of(one.gates(), bugs, STOPPED);
    }

    @Test
    void theFileIsComplete() {
        assertThat(AllocatorCase.all()).hasSize(1200);
    }

    @Test
    void agreesWithTheRelease() {
        assertThat(differences(true)).isEmpty();
    }

    @Test
    void agreesWithoutTheBugsWhereTheyDecideNothing() {
        assertThat(differences(false)).isEmpty();
    }

    /** Formats outcomes like the answers of the cases. */
    private static final class AnswerJson {
        private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

        private AnswerJson() {}

        static ObjectNode of(Outcome outcome) {
            ObjectNode answer = JSON.objectNode();
            answer.put("fits", outcome instanceof Outcome.Allocated);
            if (outcome instanceof Outcome.Allocated allocated) {
                ArrayNode all = answer.putArray("allocations");
                allocated.allocations().forEach(one -> all.add(of(one)));
            } else if (outcome instanceof Outcome.Failed failed) {
                answer.put("error", failed.message());
            } else if (outcome instanceof Outcome.DoesNotFit refused
                    && !refused.message().startsWith("cannot allocate")) {
                answer.put("error", refused.message());
            }
            return answer;
        }

        private static ObjectNode of(Allocation allocation) {
            ObjectNode json = JSON.objectNode();
            ArrayNode results = json.putArray("results");
            allocation.results().forEach(one -> results.add(of(one)));
            if (allocation.nodes() != null) {
                ArrayNode terms = json.putObject("nodeSelector").putArray("nodeSelectorTerms");
                allocation.nodes().terms().forEach(term -> terms.add(of(term)));
            }
            return json;
        }

        private static ObjectNode of(NodeSelector.Term term) {
            ObjectNode json = JSON.objectNode();
            add(json, "matchExpressions", term.labels());
            add(json, "matchFields", term.fields());
            return json;
        }

        private static void add(ObjectNode json, String field, List<NodeSelector.Requirement> requirements) {
            if (!requirements.isEmpty()) {
                ArrayNode all = json.putArray(field);
                for (NodeSelector.Requirement one : requirements) {
                    ObjectNode requirement = all.addObject();
                    requirement.put("key", one.key()).put("operator", one.operator());
                    one.values().forEach(requirement.putArray("values")::add);
                }
            }
        }

        private static JsonNode of(AllocatedDevice device) {
            ObjectNode json = JSON.objectNode();
            json.put("request", device.request());
            json.put("driver", device.device().driver());
            json.put("pool", device.device().pool());
            json.put("device", device.device().device());
            if (device.adminAccess()) {
                json.put("adminAccess", true);
            }
            if (device.shared()) {
                json.put("shared", true);
            }
            if (!device.consumedCapacity().isEmpty()) {
                ObjectNode capacity = json.putObject("consumedCapacity");
                device.consumedCapacity().forEach((name, amount) -> capacity.put(name, amount.toString()));
            }
            if (!device.bindingConditions().isEmpty()) {
                device.bindingConditions().forEach(json.putArray("bindingConditions")::add);
            }
            return json;
        }
    }
}
