// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.model.InvalidObjectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Objects that no API server accepted lead to a clear error or an answer. */
@Tag("slow")
class MutatedCasesTest {
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
