// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.publish.plan.CounterLayout;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.PlannedSlice;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import io.dra4j.runtime.internal.publish.plan.RandomPools;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The publisher and the embedded server, which asks the rule book, give one verdict on random slices, and name the same
 * fields.
 *
 * <p>A slice has one device or one counter set, as the publisher checks them: the numbers of both
 * in a slice are the publisher's own doing.
 */
@Tag("slow")
@Tag("counts")
class OneVerdictIT {

    private static final int SLICES = Boolean.getBoolean("dra4j.nightly") ? 20_000 : 400;
    private static final long SEED = 20261124;

    /** Around the numbers of devices that a slice takes, often enough that some pools fit each release. */
    private static final List<Integer> SIZES = List.of(63, 64, 65, 127, 128, 129, 63, 64, 65, 127, 128, 129);

    private static final ObjectMapper JSON = JsonTrees.MAPPER;
    private static final SliceCodec CODEC = new SliceCodec("gpu.example.com", "node-a");
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final int BAD_REQUEST = 400;
    private static final int CREATED = 201;

    private final Random random = new Random(SEED);
    private final RandomPools usual = new RandomPools(random, 30);
    private final RandomPools hostile = new RandomPools(random, 200);
    private final PoolRules rules = new PoolRules(CODEC.driver(), CODEC::refusals);
    private final Set<String> fields = new TreeSet<>();
    private int taken;
    private int refused;

    @ParameterizedTest
    @EnumSource
    void allNameTheSameFields(KubernetesVersion release) throws Exception {
        FeatureGates gates = new FeatureGates(release, allGates(release));
        try (EmbeddedApiServer server = server(release)) {
            for (int i = 0; i < SLICES; i++) {
                assertShown(hostile.next("pool", random.nextInt(5)));
                Pool pool = Publishable.of(next(), missing(release)).pool();
                Content content = content(pool, release);
                Optional<String> slice = slice(content);
                if (slice.isPresent()) {
                    HttpResponse<String> answer = compare(pool, slice.get(), gates, server);
                    if (answer.statusCode() == CREATED && rules.problems(pool).isEmpty()) {
                        assertNothingToWrite(answer, content);
                    }
                } else {
                    assertThat(rules.problems(pool)).as("%s", pool).isNotEmpty();
                }
            }
        }

        System.out.printf(
                "one verdict: %s, %d taken, %d refused, for %d fields%n", release, taken, refused, fields.size());
        assertThat(taken).isGreaterThan(SLICES / 10);
        assertThat(refused).isGreaterThan(SLICES / 10);
        assertThat(fields).hasSizeGreaterThan(25);
    }

    /** All that a provider can build gets a result, with few and short problems; what is accepted can be written. */
    private void assertShown(Pool pool) {
        List<Problem> problems = rules.problems(pool);
        assertThat(problems).hasSizeLessThanOrEqualTo(100).allSatisfy(problem -> {
            assertThat(problem.pool()).isEqualTo(pool.name());
            assertThat(problem.field()).isNotEmpty();
            assertThat(problem.toString()).hasLineCount(1).hasSizeLessThan(2000);
        });
        if (problems.isEmpty()) {
            Content content = new Content(pool.name(), 1, 1, pool.placement(), pool.devices(), pool.counterSets());
            Content written = SliceCodec.canonical(content);
            assertThat(SliceCodec.canonical(written)).isEqualTo(written);
        }
    }

    private static EmbeddedApiServer server(KubernetesVersion release) {
        EmbeddedApiServer.Builder builder = EmbeddedApiServer.builder().version(release);
        allGates(release).forEach(builder::featureGate);
        return builder.start();
    }

    private static Map<FeatureGate, Boolean> allGates(KubernetesVersion release) {
        Map<FeatureGate, Boolean> gates = new EnumMap<>(FeatureGate.class);
        Arrays.stream(FeatureGate.values())
                .filter(gate -> gate.existsIn(release))
                .forEach(gate -> gates.put(gate, true));
        return gates;
    }

    private static Set<Feature> missing(KubernetesVersion release) {
        Set<Feature> missing = EnumSet.allOf(Feature.class);
        missing.removeIf(feature -> feature.gate().isIn(release.minor()));
        return missing;
    }

    /** A pool on its way to a slice, with a device or with a counter set. */
    private Pool next() {
        Pool pool = (random.nextBoolean() ? hostile : usual).next("pool", 1 + random.nextInt(3));
        boolean ofCounters = random.nextInt(8) == 0;
        List<Device> devices = ofCounters ? List.of() : first(pool.devices());
        List<CounterSet> sets = ofCounters ? first(pool.counterSets()) : List.of();
        return pool.toBuilder().devices(devices).counterSets(sets).build();
    }

    private static <T> List<T> first(List<T> list) {
        return list.stream().limit(1).toList();
    }

    private static Content content(Pool pool, KubernetesVersion release) {
        List<CounterSet> besides = pool.devices().stream()
                .flatMap(device -> CounterLayout.of(release).besides(device).stream())
                .toList();
        List<CounterSet> sets = besides.isEmpty() ? pool.counterSets() : besides;
        return new Content(pool.name(), 1, 1, pool.placement(), pool.devices(), sets);
    }

    /** The slice as it is sent; empty if it can't be written. */
    private static Optional<String> slice(Content content) throws Exception {
        try {
            ObjectNode slice = (ObjectNode) JSON.readTree(CODEC.json(content));
            slice.putObject("metadata").put("name", "slice");
            String text = JSON.writeValueAsString(slice);
            return StandardCharsets.UTF_8.newEncoder().canEncode(text) ? Optional.of(text) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void poolsAroundTheLimitsAreKeptAsTheyWereSent(KubernetesVersion release) throws Exception {
        RandomPools valid = new RandomPools(random);
        CounterLayout layout = CounterLayout.of(release);
        int kept = 0;
        try (EmbeddedApiServer server = server(release)) {
            for (int size : SIZES) {
                Pool next = valid.next("pool", size);
                Pool pool = Publishable.of(next, missing(release)).pool();
                List<PlannedSlice> plan =
                        layout.problems(pool).isEmpty() ? layout.plan(pool, List.of(), true) : List.of();
                for (PlannedSlice planned : plan) {
                    Content content = planned.content().at(1, plan.size());
                    HttpResponse<String> answer = post(server, slice(content).orElseThrow());
                    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(CREATED);
                    assertNothingToWrite(answer, content);
                }
                kept += plan.isEmpty() ? 0 : 1;
            }
        }
        assertThat(kept).isGreaterThanOrEqualTo(SIZES.size() / 2);
    }

    /** A restart finds in the cluster what it would write; it takes over the times that the server has given to taints. */
    private static void assertNothingToWrite(HttpResponse<String> answer, Content content) throws Exception {
        boolean hasTimes = content.devices().stream()
                .flatMap(device -> device.taints().stream())
                .allMatch(taint -> taint.timeAdded() != null);
        Content sent = SliceCodec.canonical(content);
        assertThat(read(answer.body(), hasTimes))
                .as(answer.body())
                .isEqualTo(hasTimes ? sent : read(CODEC.json(sent), false));
    }

    private static Content read(String slice, boolean hasTimes) {
        String text = hasTimes ? slice : slice.replaceAll(",\"timeAdded\":\"[^\"]*\"", "");
        return CODEC.decode(text).orElseThrow().content();
    }

    /** Returns the server's answer. */
    private HttpResponse<String> compare(Pool pool, String slice, FeatureGates gates, EmbeddedApiServer server)
            throws Exception {
        HttpResponse<String> answer = post(server, slice);
        if (answer.statusCode() == BAD_REQUEST) {
            assertThat(rules.problems(pool)).as(slice).isNotEmpty();
            return answer;
        }
        Set<String> ofServer = new TreeSet<>();
        JSON.readTree(answer.body())
                .at("/details/causes")
                .forEach(cause -> ofServer.add(cause.path("field").asText()));
        assertThat(answer.statusCode() == CREATED).as(answer.body()).isEqualTo(ofServer.isEmpty());
        count(ofServer);

        List<Problem> problems = rules.refusals(pool, gates, CounterLayout.of(gates.version())::besides)
                .problems();
        Set<String> expected = shown(pool, ofServer);
        Set<String> found = shown(pool, problems);
        if (problems.size() < Findings.MOST) {
            assertThat(found).as("publisher: %s", slice).isEqualTo(expected);
        } else {
            assertThat(expected).as("publisher: %s", slice).containsAll(found);
        }
        return answer;
    }

    private void count(Set<String> ofServer) {
        taken += ofServer.isEmpty() ? 1 : 0;
        refused += ofServer.isEmpty() ? 0 : 1;
        ofServer.forEach(field -> fields.add(field.replaceAll("(?s)\\[.*?]", "[]")));
    }

    private static HttpResponse<String> post(EmbeddedApiServer server, String slice) throws Exception {
        String path = "/apis/resource.k8s.io/v1/resourceslices?dryRun=All";
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(slice))
                .build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    }

    /** The fields as the publisher shows them: the device by its name, no set besides it. */
    private static Set<String> shown(Pool pool, Set<String> ofServer) {
        String device = pool.devices().stream()
                .map(it -> "devices[" + it.name() + "]")
                .findFirst()
                .orElse("");
        return ofServer.stream()
                .filter(field -> device.isEmpty() || !field.startsWith("spec.sharedCounters["))
                .map(field -> field.replaceFirst("^spec\\.devices\\[0]", device))
                .map(field -> field.replaceFirst("^spec\\.", ""))
                .map(Shown::message)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> shown(Pool pool, List<Problem> problems) {
        return problems.stream()
                .map(Problem::field)
                .filter(field -> pool.devices().isEmpty() || !field.startsWith("sharedCounters["))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
