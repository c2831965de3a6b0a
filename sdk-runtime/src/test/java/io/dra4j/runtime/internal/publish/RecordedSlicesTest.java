// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.SliceRules;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import io.dra4j.runtime.internal.validate.Problem;
import io.dra4j.testkit.apiserver.replay.Recordings;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The slices that kube-apiserver 1.36.2 was sent, as pools of a provider: what it refused, the publisher does not send,
 * and reports at the same fields; what it took is held back only for the reasons that are named here.
 *
 * <p>A provider can't build all of them. Names, generations and counts of slices are the publisher's, and so is the
 * number of counter sets in a slice, or that they are beside devices: what was refused for these alone has to pass.
 * Counter sets that no recorded slice has are those of another slice of the pool, and are added. Not compared are
 * slices of too many devices, which the publisher cuts, objects that can't be decoded, values of no type or of two,
 * names and enums that the SPI has no value for, and lists and texts that are there but empty.
 */
@Tag("slow")
class RecordedSlicesTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final Set<Feature> DROPPED = EnumSet.copyOf(Stream.of(Feature.values())
            .filter(it -> !it.gate().isIn(36) || !it.gate().gate().defaultIn(KubernetesVersion.V1_36))
            .toList());

    /** The errors of 1.37 and 1.38 that 1.36 does not have, by the name of the recorded slice. */
    private static final Map<String, String> OF_LATER_RELEASES = Map.of(
            "o431",
            "devices[dev-5].attributes: Invalid value: \"x/y/z\": must not contain more than one slash",
            "o4879",
            "devices[dev-1].attributes: Invalid value: \"x/y/z\": must not contain more than one slash",
            "o1919",
            "devices[dev-1].capacity[memory].requestPolicy.validRange.step: Invalid value: \"0.0001\": value cannot be represented as a milli value",
            "o2920",
            "devices[dev-5].capacity[memory].requestPolicy.validRange.default: Invalid value: \"0\": default is less than min: 1Gi");

    private static final String IN_64_BITS = "must be at most 9223372036854775807, in any unit";

    private enum Outcome {
        REFUSED,
        TAKEN,
        /** By a rule for drivers alone. */
        TAKEN_BUT_HELD_BACK,
        /** The publisher leaves out what the server would leave out, and then refuse. */
        NOT_SENT_SO,
        NOT_IN_THE_SPI,
        /** The server did not look at the devices, because they are too many for a slice. */
        TOO_MANY_FOR_A_SLICE,
        BY_A_LATER_RELEASE
    }

    private final Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    private final Map<String, String> ofALaterRelease = new TreeMap<>();
    private final Set<String> rulesOfDrivers = new TreeSet<>();
    private final List<String> wrong = new ArrayList<>();

    @Test
    void thePublisherDecidesAsTheServer() {
        for (JsonNode line : slices()) {
            Outcome outcome = check(line);
            outcomes.merge(outcome, 1, Integer::sum);
        }

        System.out.println("recorded slices: " + outcomes);
        assertThat(wrong).as("%s", outcomes).isEmpty();
        assertThat(ofALaterRelease).isEqualTo(OF_LATER_RELEASES);
        assertThat(rulesOfDrivers).containsExactly(IN_64_BITS);
        assertThat(outcomes.get(Outcome.REFUSED)).isGreaterThan(250);
        assertThat(outcomes.get(Outcome.TAKEN)).isGreaterThan(500);
    }

    private Outcome check(JsonNode line) {
        JsonNode spec = line.at("/object/spec");
        SliceCodec codec =
                new SliceCodec("gpu.example.com", spec.path("nodeName").asText("node-a"));
        Optional<Pool> built = pool(spec, codec);
        if (built.isEmpty()) {
            return Outcome.NOT_IN_THE_SPI;
        }
        Pool pool = withCounterSets(built.get());
        if (!Publishable.of(pool, DROPPED).pool().equals(pool)) {
            return Outcome.NOT_SENT_SO;
        }
        if (line.at("/expected/causes").toString().contains("\"spec.devices\"")) {
            return Outcome.TOO_MANY_FOR_A_SLICE;
        }
        List<Problem> problems = problems(pool, codec);
        boolean isRefused = problems.stream().anyMatch(RecordedSlicesTest::isOfTheServer);
        Set<String> expected = expected(line);
        if (expected.isEmpty() && isRefused || !fields(pool, problems).containsAll(expected)) {
            if (isAsOfALaterRelease(spec, fields(pool, problems))) {
                String name = line.at("/object/metadata/name").asText();
                problems.forEach(it -> ofALaterRelease.put(name, it.field() + ": " + it.rule()));
                return Outcome.BY_A_LATER_RELEASE;
            }
            wrong.add("%s: %s%n   %s".formatted(expected, problems, line));
        }
        if (!expected.isEmpty()) {
            return Outcome.REFUSED;
        }
        problems.forEach(problem -> rulesOfDrivers.add(problem.rule()));
        return problems.isEmpty() ? Outcome.TAKEN : Outcome.TAKEN_BUT_HELD_BACK;
    }

    /** Adds the counter sets that the devices of a slice without any take from. */
    private static Pool withCounterSets(Pool pool) {
        if (!pool.counterSets().isEmpty()) {
            return pool;
        }
        Map<String, Map<String, Quantity>> sets = new TreeMap<>();
        for (Device device : pool.devices()) {
            for (CounterConsumption taken : device.consumesCounters()) {
                Map<String, Quantity> set = sets.computeIfAbsent(taken.counterSet(), name -> new TreeMap<>());
                taken.counters().forEach((name, amount) -> set.merge(name, amount, RecordedSlicesTest::max));
            }
        }
        return pool.toBuilder()
                .counterSets(sets.entrySet().stream()
                        .map(set -> CounterSet.of(set.getKey(), set.getValue()))
                        .toList())
                .build();
    }

    private static Quantity max(Quantity one, Quantity other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static boolean isAsOfALaterRelease(JsonNode spec, Set<String> fields) {
        FieldErrors errors = new FieldErrors();
        FeatureGates gates = new FeatureGates(KubernetesVersion.newest(), Map.of());
        new SliceRules(gates).check(spec, errors);
        return !errors.isEmpty()
                && errors.all().stream().map(it -> unordered(it.field())).allMatch(fields::contains);
    }

    private static List<JsonNode> slices() {
        return Recordings.of("creates").stream()
                .filter(line -> line.path("kind").asText().equals("ResourceSlice"))
                .filter(line -> line.at("/expected/code").asInt() != 400)
                .toList();
    }

    /** Returns the pool whose slice is what was recorded; empty if there is none. */
    private static Optional<Pool> pool(JsonNode spec, SliceCodec codec) {
        try {
            Pool pool = ClaimDecoding.pool(spec).orElseThrow();
            boolean isTyped =
                    pool.devices().stream().allMatch(it -> it.rawFields().isEmpty());
            Content content = new Content(pool.name(), 1, 1, pool.placement(), pool.devices(), pool.counterSets());
            JsonNode written = JSON.readTree(codec.json(content)).path("spec");
            return isTyped && ofTheProvider(written).equals(ofTheProvider(spec)) ? Optional.of(pool) : Optional.empty();
        } catch (Exception e) {
            return Optional.empty();
        }
    }

    private static JsonNode ofTheProvider(JsonNode spec) {
        return ((ObjectNode) ClaimDecoding.sorted(spec)).without(List.of("driver", "pool"));
    }

    private static List<Problem> problems(Pool pool, SliceCodec codec) {
        FakeSliceStore store = new FakeSliceStore();
        store.codec = codec;
        store.keeps = RecordedSlicesTest::kept;
        return new ServerFeatures(store, InstantSource.system())
                .verdict(pool, List.of())
                .problems();
    }

    private static Content kept(Content sent) {
        return sent.withDevices(
                sent.devices().stream().map(RecordedSlicesTest::kept).toList());
    }

    private static Device kept(Device device) {
        Device kept = device;
        for (Feature feature : DROPPED) {
            kept = feature.without(kept);
        }
        return kept;
    }

    /** The rules of drivers show the value, those of the server have it in their words. */
    private static boolean isOfTheServer(Problem problem) {
        return problem.value() == null;
    }

    /** Returns the fields that the server named, but for those that no provider sets. */
    private static Set<String> expected(JsonNode line) {
        Set<String> fields = new TreeSet<>();
        for (JsonNode cause : line.at("/expected/causes")) {
            String field = cause.path(0).asText();
            boolean isOfThePublisher = field.startsWith("metadata.")
                    || field.startsWith("spec.driver")
                    || field.startsWith("spec.pool.")
                    || Set.of("spec", "spec.sharedCounters").contains(field);
            if (!isOfThePublisher) {
                fields.add(unordered(field));
            }
        }
        return fields;
    }

    /** Without the places in lists that decoding sorts. */
    private static String unordered(String field) {
        return field.replaceAll("(" + String.join("|", ClaimDecoding.UNORDERED) + ")\\[\\d+]", "$1[]");
    }

    /** Two devices of one name are one to the publisher, but two fields to the server. */
    private static Set<String> fields(Pool pool, List<Problem> problems) {
        Set<String> fields = new TreeSet<>();
        for (Problem problem : problems) {
            if (problem.device() == null) {
                fields.add(unordered("spec." + problem.field()));
            }
            for (int i = 0; i < pool.devices().size(); i++) {
                if (pool.devices().get(i).name().equals(problem.device())) {
                    String shown = "devices[" + problem.device() + "]";
                    fields.add(unordered(problem.field().replace(shown, "spec.devices[" + i + "]")));
                }
            }
        }
        return fields;
    }
}
