// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.InputStream;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Objects survive the conversion to bytes and back, including empty fields that Go writes. */
class ObjectsOfAllShapesTest {
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

    static List<JsonNode> objects() throws Exception {
        try (InputStream file = ObjectsOfAllShapesTest.class.getResourceAsStream("objects-of-all-shapes.yaml")) {
            return JsonTrees.YAML.readerFor(JsonNode.class).<JsonNode>readValues(file).readAll().stream()
                    .map(object -> Recording.parse(object.toString()))
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("objects")
    void jsonComesBack(JsonNode object) {
        ObjectNode read = CODEC.decode(CODEC.encode((ObjectNode) object));

        assertThat(isIn(object, read)).as("%s", read).isTrue();
        assertThat(CODEC.decode(CODEC.encode(read))).isEqualTo(read);
    }

    private static boolean isIn(JsonNode sent, JsonNode read) {
        if (sent.isObject()) {
            return sent.properties().stream().allMatch(one -> isIn(one.getValue(), read.path(one.getKey())));
        }
        return sent.isArray()
                ? sent.size() == read.size()
                        && IntStream.range(0, sent.size()).allMatch(i -> isIn(sent.get(i), read.path(i)))
                : sent.equals(read);
    }

    /** Two messages have only "items": one is a list in JSON, the other an object. */
    @Test
    void aMessageOfItemsIsAListOnlyWhereGoHasOne() {
        JsonNode volumes = Recording.parse("""
                        [{"name": "v", "projected": {"sources": [
                          {"downwardAPI": {"items": [{"path": "p"}]}}]}}]""");
        ObjectNode pod = CODEC.decode(CODEC.envelope("v1", "Pod", new byte[0]));
        pod.withObject("/spec").set("volumes", volumes);
        JsonNode resources = Recording.parse("""
                        {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1",
                         "resources": [{"name": "pods", "kind": "Pod", "verbs": ["get"]}]}""");

        assertThat(CODEC.decode(CODEC.encode(pod))).isEqualTo(pod);
        assertThat(CODEC.decode(CODEC.encode(resources))).isEqualTo(resources);
    }
}
