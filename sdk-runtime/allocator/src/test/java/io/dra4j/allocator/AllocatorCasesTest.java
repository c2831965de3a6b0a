// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.model.InvalidObjectException;
import io.dra4j.allocator.model.NodeSelector;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The answers are those of the scheduler's own allocator; and to objects that no API server accepted, clear ones. */
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

    @Nested
    @Tag("slow")
    class Mutated {

        private static final int PER_CASE = 3;
        private static final Duration ATTEMPT = Duration.ofMillis(5);
        private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
        private static final List<JsonNode> VALUES = List.of(
                JSON.nullNode(),
                JSON.booleanNode(true),
                JSON.numberNode(-1),
                JSON.numberNode(Long.MAX_VALUE),
                JSON.numberNode(1.5),
                JSON.textNode(""),
                JSON.textNode("All"),
                JSON.textNode("1e9999"),
                JSON.textNode("10Gi"),
                JSON.textNode("-3Gi"),
                JSON.textNode("device.driver"),
                JSON.arrayNode(),
                JSON.objectNode());

        private final Map<Boolean, Allocator> allocators = new HashMap<>();
        private final Random random = new Random(Long.getLong("dra4j.seed", 42));

        @Test
        void mutantsAreRefusedClearlyOrAnswered() {
            int allocated = 0;
            int refused = 0;
            for (AllocatorCase one : AllocatorCase.all()) {
                for (int i = 0; i < PER_CASE; i++) {
                    AllocatorCase mutant = mutant(one);
                    try {
                        allocated += allocate(mutant) instanceof Outcome.Allocated ? 1 : 0;
                    } catch (InvalidObjectException e) {
                        refused++;
                        assertThat(e).hasMessageMatching("(?s)Resource(Slice|Claim) .*, .*: \".*\": .*");
                    }
                }
            }
            assertThat(allocated).isGreaterThan(400);
            assertThat(refused).isGreaterThan(20);
        }

        private Outcome allocate(AllocatorCase one) {
            return allocators
                    .computeIfAbsent(
                            one.listAttributes(),
                            lists -> Allocator.of(one.gates(), Set.of(), new StepClock())
                                    .withTimeLimit(ATTEMPT))
                    .allocate(one.cluster(), one.node(), one.claims());
        }

        private AllocatorCase mutant(AllocatorCase one) {
            ObjectNode json = one.json().deepCopy();
            json.remove("expected");
            int count = 1 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                mutate(containers(json));
            }
            return new AllocatorCase(json);
        }

        private static List<JsonNode> containers(JsonNode json) {
            List<JsonNode> all = new ArrayList<>();
            for (String part : List.of("node", "classes", "slices", "allocatedClaims", "claims")) {
                addContainers(json.path(part), all);
            }
            return all;
        }

        private static void addContainers(JsonNode json, List<JsonNode> all) {
            if (!json.isEmpty()) {
                all.add(json);
                json.forEach(one -> addContainers(one, all));
            }
        }

        /** Removes, repeats or replaces a part. */
        private void mutate(List<JsonNode> containers) {
            JsonNode container = containers.get(random.nextInt(containers.size()));
            JsonNode other = containers.get(random.nextInt(containers.size())).deepCopy();
            JsonNode value = random.nextInt(4) == 0 ? other : VALUES.get(random.nextInt(VALUES.size()));
            int at = random.nextInt(container.size());
            boolean remove = random.nextInt(4) == 0;
            if (container instanceof ArrayNode array) {
                if (remove) {
                    array.remove(at);
                } else if (random.nextBoolean()) {
                    array.add(array.get(at).deepCopy());
                } else {
                    array.set(at, value);
                }
            } else if (container instanceof ObjectNode object) {
                String name = new ArrayList<>(object.properties()).get(at).getKey();
                if (remove) {
                    object.remove(name);
                } else {
                    object.set(name, value);
                }
            }
        }
    }
}
