// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.NODE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the slices of 300 devices look like, and what was asked to bring them there. */
class SliceFormIT {

    private static final int DEVICES = 300;
    private static final Predicate<RecordedRequest> ABOUT_SLICES = Requests.to("resourceslices");
    private static final Pattern UNQUALIFIED = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,31}");

    private static DevicesUnderTest gpus;
    private static SeenPool pool;

    @BeforeAll
    static void publish() throws Exception {
        gpus = new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES);
        pool = gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.awaitWatching(0);
    }

    @AfterAll
    static void stop() {
        gpus.close();
    }

    @Test
    @Tag("DRA-SLICE-01")
    void everySliceIsOfThisNodeAloneAndOwnedByIt() {
        JsonNode node = gpus.driver.api.store().find("nodes", "", NODE).orElseThrow();

        assertThat(gpus.slices())
                .isNotEmpty()
                .allSatisfy(
                        slice -> {
                            assertThat(slice.at("/spec/driver").asText()).isEqualTo(DRIVER);
                            assertThat(slice.at("/spec/nodeName").asText()).isEqualTo(NODE);
                            assertThat(slice.path("spec").has("allNodes")).isFalse();
                            assertThat(slice.path("spec").has("nodeSelector")).isFalse();
                            assertThat(slice.path("spec").has("perDeviceNodeSelection")).isFalse();
                            JsonNode owner = slice.at("/metadata/ownerReferences/0");
                            assertThat(owner.path("apiVersion").asText()).isEqualTo("v1");
                            assertThat(owner.path("kind").asText()).isEqualTo("Node");
                            assertThat(owner.path("name").asText()).isEqualTo(NODE);
                            assertThat(owner.path("uid")).isEqualTo(node.at("/metadata/uid"));
                            assertThat(owner.path("controller").asBoolean()).isTrue();
                        });
    }

    @Test
    @Tag("DRA-SLICE-02")
    void everyRequestAboutSlicesWasAccepted() {
        assertThat(gpus.driver.proxy.requests(ABOUT_SLICES.and(r -> r.status() >= 400)))
                .as(gpus.driver.proxy.log())
                .isEmpty();
        assertThat(gpus.driver.proxy.requests(Requests.writes("resourceslices")))
                .as(gpus.driver.proxy.log())
                .hasSize(pool.slices().size())
                .allMatch(r -> r.status() == 201);
        System.out.printf("DRA-SLICE-02:%n%s%n", gpus.driver.proxy.log(ABOUT_SLICES));
    }

    @Test
    @Tag("DRA-SLICE-03")
    void allSlicesHaveOneGenerationAndTellTheirNumber() {
        assertThat(pool.outdated()).isZero();
        assertThat(pool.slices())
                .hasSize(gpus.slices().size())
                .allSatisfy(
                        slice -> {
                            JsonNode of = slice.at("/spec/pool");
                            assertThat(of.path("generation").asLong()).isEqualTo(pool.generation());
                            assertThat(of.path("resourceSliceCount").asInt())
                                    .isEqualTo(pool.slices().size());
                        });
    }

    @Test
    @Tag("DRA-SLICE-04")
    void aLargePoolIsSplitAndEveryDeviceIsInOneSlice() {
        assertThat(pool.slices())
                .as("64 for each: these devices can have taints")
                .hasSize(5)
                .allSatisfy(s -> assertThat(s.at("/spec/devices")).hasSizeBetween(1, 64));
        assertThat(pool.faults())
                .containsOnlyKeys(IntStream.range(0, DEVICES).mapToObj(n -> "gpu-" + n).toList());
    }

    @Test
    @Tag("DRA-SLICE-18")
    void listsAndWatchesAreOfThisDriverAndOfThisNodeOrNone() {
        List<RecordedRequest> asked =
                gpus.driver.proxy.requests(ABOUT_SLICES.and(r -> r.list() || r.watch()));

        assertThat(asked)
                .as(gpus.driver.proxy.log())
                .allSatisfy(
                        r ->
                                assertThat(r.query("fieldSelector").split(","))
                                        .hasSize(2)
                                        .contains("spec.driver=" + DRIVER)
                                        .containsAnyOf("spec.nodeName=" + NODE, "spec.nodeName="));
        assertThat(asked)
                .as("one watch is enough while nothing is published for many nodes")
                .filteredOn(RecordedRequest::watch)
                .singleElement()
                .satisfies(
                        r ->
                                assertThat(r.query("fieldSelector"))
                                        .contains("spec.nodeName=" + NODE));
    }

    @Test
    @Tag("DRA-SLICE-19")
    void everyPublishedDeviceCanBePreparedUnderItsName() throws Exception {
        List<String> devices = List.copyOf(pool.faults().keySet());
        for (int from = 0; from < DEVICES; from += 30) {
            var claim =
                    gpus.driver.allocate(
                            "claim-" + from,
                            devices.subList(from, from + 30).toArray(String[]::new));
            assertThat(gpus.prepare(claim)).isEmpty();
            gpus.unprepare(claim);
        }
    }

    @Test
    @Tag("DRA-SLICE-20")
    void attributesAreWellFormed() {
        assertThat(gpus.published().values())
                .hasSize(DEVICES)
                .allSatisfy(
                        device ->
                                device.path("attributes")
                                        .properties()
                                        .forEach(a -> checkAttribute(a.getKey(), a.getValue())));
    }

    private static void checkAttribute(String name, JsonNode value) {
        assertThat(value.size()).as("%s has one value: %s", name, value).isOne();
        switch (name) {
            case "resource.kubernetes.io/pcieRoot" ->
                    assertThat(value.path("string").asText()).matches("pci[0-9a-f]{4}:[0-9a-f]{2}");
            case "resource.kubernetes.io/pciBusID" ->
                    assertThat(value.path("string").asText())
                            .matches("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
            default ->
                    assertThat(name)
                            .as("an own name, or one of an own domain")
                            .matches(
                                    n ->
                                            UNQUALIFIED.matcher(n).matches()
                                                    || n.startsWith(DRIVER + "/"));
        }
    }
}
