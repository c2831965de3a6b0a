// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SliceCodecTest {

    private static final SliceCodec CODEC = new SliceCodec("gpu.example.com", "node-a");
    private static final NodeSelector ZONE = NodeSelector.labelIn("zone", "a", "b");

    private static final Device FULL = Device.builder("gpu-0")
            .attribute("s", "text")
            .attribute("i", 7)
            .attribute("b", false)
            .version("v", "1.2.3")
            .attribute("ss", new AttributeValue.OfStrings(List.of("x", "y")))
            .attribute("is", new AttributeValue.OfInts(List.of(1L, 2L)))
            .attribute("bs", new AttributeValue.OfBools(List.of(true)))
            .attribute("vs", new AttributeValue.OfVersions(List.of("1.0.0")))
            .capacity("memory", "80Gi")
            .capacity(
                    "share",
                    new Capacity(
                            Quantity.of(100),
                            RequestPolicy.range(
                                    Quantity.of(10),
                                    new RequestPolicy.ValidRange(Quantity.of(5), null, Quantity.of(5)))))
            .allowMultipleAllocations(true)
            .consumes(CounterConsumption.of("set", Map.of("slices", Quantity.of(2))))
            .taint(new Taint("example.com/bad", "v", Taint.Effect.NO_EXECUTE, Instant.parse("2026-11-21T01:02:03Z")))
            .placement(new Placement.NamedNode("node-b"))
            .binding(new BindingConditions(List.of("Ready"), List.of("Failed")))
            .bindsToNode(true)
            .rawField("future", "{\"b\": 1, \"a\": [true, null]}")
            .build();

    private static Content content(Placement placement, List<Device> devices) {
        return new Content(new PoolName("p"), 3, 2, placement, devices, List.of());
    }

    private static Stored readBack(Content content) {
        return CODEC.decode(CODEC.encodeNew(0, content, "node-uid"), "node-uid").orElseThrow();
    }

    @Test
    void everyFieldOfADeviceHasItsNameInTheApi() throws Exception {
        assertThat(Json.sorted(DeviceCodec.encode(FULL)))
                .isEqualTo(Json.sorted(Json.parse(Files.readString(
                        Path.of("src/test/resources/io/dra4j/runtime/internal/cluster/device.json")))));
    }

    @Test
    void whatWasWrittenReadsAsItsCanonicalForm() {
        Content content = content(new Placement.PerDevice(), List.of(FULL));

        Content canonical = SliceCodec.canonical(content);
        assertThat(readBack(content).content()).isEqualTo(canonical);
        assertThat(SliceCodec.canonical(canonical)).isSameAs(canonical);
    }

    @Test
    void rawFieldsAndQuantitiesAreEqualHoweverWritten() {
        Device one = Device.builder("d")
                .rawField("x", "{\"a\":1,\"b\":2}")
                .capacity("m", "1Gi")
                .build();
        Device other = Device.builder("d")
                .rawField("x", "{ \"b\": 2, \"a\": 1 }")
                .capacity("m", "1024Mi")
                .build();

        assertThat(SliceCodec.canonical(content(new Placement.ThisNode(), List.of(one))))
                .isEqualTo(SliceCodec.canonical(content(new Placement.ThisNode(), List.of(other))));
    }

    @Test
    void eachPlacementOfAPoolReadsBack() {
        for (Placement placement : List.of(
                new Placement.ThisNode(),
                new Placement.AllNodes(),
                new Placement.PerDevice(),
                new Placement.MatchingNodes(ZONE))) {
            Content content = content(placement, List.of());
            assertThat(readBack(content).content()).isEqualTo(content);
        }
    }

    @Test
    void counterSetsReadBackWithoutAListOfDevices() {
        Content content = new Content(
                new PoolName("p"),
                1,
                1,
                new Placement.ThisNode(),
                List.of(),
                List.of(CounterSet.of("set", Map.of("slices", Quantity.of(7)))));

        assertThat(readBack(content).content()).isEqualTo(content);
        assertThat(readBack(content).isDecoded()).isTrue();
        assertThat(CODEC.encodeNew(0, content, "u").path("spec").has("devices")).isFalse();
    }

    @Test
    void aSliceThatIsUnreadableCountsAsAnEmptyOne() {
        String slice = """
                {"metadata":{"name":"n","uid":"u","resourceVersion":"1"},
                 "spec":{"pool":{"name":"p","generation":4,"resourceSliceCount":1},"nodeName":"node-a",
                 "devices":[{"name":"gpu-0","taints":[{"key":"k","effect":"Unheard"}]}]}}""";

        Stored stored = CODEC.decode(Json.parse(slice), "node-uid").orElseThrow();

        assertThat(stored.isDecoded()).isFalse();
        assertThat(stored.content())
                .isEqualTo(new Content(new PoolName("p"), 4, 1, new Placement.ThisNode(), List.of(), List.of()));
    }

    @Test
    void aSliceOfAPoolWithAForeignNameIsSkipped() {
        String slice = "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"pool\":{\"name\":\"%s\"}}}";

        assertThat(CODEC.decode(Json.parse(slice.formatted("a".repeat(64))), "u"))
                .isEmpty();
    }

    @Test
    void aClaimMayHaveAnyJson() throws Exception {
        String any = "[".repeat(4_000) + "9".repeat(4_000) + "]".repeat(4_000);
        String claim = """
                {"metadata":{"uid":"u"},"status":{"devices":[{"data":ANY}],"allocation":{"devices":
                {"config":[{"opaque":{"driver":"d","parameters":{"a":1.10,"a":ANY}}}]}}}}""".replace("ANY", any).replace("\n", "");
        byte[] list = "{\"items\":[%s]}".formatted(claim).getBytes(UTF_8);

        Json.items(
                new ByteArrayInputStream(list),
                item -> assertThat(item.deepCopy().toString()).isEqualTo(claim));

        assertThat(ClaimCodec.decode(claim).allocation()).asString().contains("{\"a\":1.10,\"a\":" + any);
    }

    @Test
    void anAttributeAndACounterWithoutAValueAreLeftOut() {
        assertThat(DeviceCodec.decode(Json.parse("{\"name\":\"d\",\"attributes\":{\"a\":{}}}"))
                        .attributes())
                .isEmpty();
        assertThat(DeviceCodec.decode(
                                Json.parse("{'name':'d','consumesCounters':[{'counterSet':'s','counters':{'c':{}}}]}"
                                        .replace('\'', '"')))
                        .consumesCounters())
                .containsExactly(CounterConsumption.of("s", Map.of()));
    }
}
