// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Any object survives the way into bytes and back. */
@Tag("slow")
class GeneratedObjectsTest {
    private static final int OBJECTS = Boolean.getBoolean("dra4j.full") ? 10_000 : 400;
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();
    private static final Schemas SCHEMAS = new Schemas();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "v1 Namespace,Node,Pod,Event,DeleteOptions,CreateOptions,UpdateOptions,Status",
                "meta.k8s.io/v1 PartialObjectMetadata",
                "coordination.k8s.io/v1 Lease",
                "events.k8s.io/v1 Event",
                "resource.k8s.io/v1 DeviceClass,DeviceTaintRule,ResourceClaim,ResourceClaimTemplate,ResourceSlice",
                "resource.k8s.io/v1beta1 DeviceClass,ResourceClaim,ResourceClaimTemplate,ResourceSlice",
                "resource.k8s.io/v1beta2 DeviceClass,DeviceTaintRule,ResourceClaim,ResourceClaimTemplate,ResourceSlice",
                "resource.k8s.io/v1alpha3 DeviceTaintRule"
            })
    void jsonToProtobufToJsonIsTheIdentity(String versionAndKinds) {
        String version = versionAndKinds.split(" ")[0];
        for (String kind : versionAndKinds.split(" ")[1].split(",")) {
            String versionAndKind = version + " " + kind;
            ObjectGenerator generator = new ObjectGenerator(SCHEMAS, versionAndKind.hashCode());
            for (int i = 0; i < OBJECTS; i++) {
                ObjectNode object = generator.object(version, kind);

                ObjectNode read = CODEC.decode(CODEC.encode(object));

                assertThat(read).as("%s %s", versionAndKind, i).isEqualTo(object);
            }
        }
    }

    /** The generator reaches what it is to test: fields of all depths. */
    @Test
    void theGeneratorSetsEveryFieldOfASlice() {
        ObjectGenerator generator = new ObjectGenerator(SCHEMAS, 1);
        Set<String> seen = new HashSet<>();

        for (int i = 0; i < 2_000; i++) {
            ObjectNode slice = generator.object("resource.k8s.io/v1", "ResourceSlice");
            slice.path("spec").fieldNames().forEachRemaining(seen::add);
            slice.findValues("devices")
                    .forEach(d -> d.forEach(x -> x.fieldNames().forEachRemaining(seen::add)));
        }

        for (String message : List.of("ResourceSliceSpec", "Device")) {
            var type = SCHEMAS.message("k8s.io.api.resource.v1", message).orElseThrow();
            assertThat(seen).containsAll(SCHEMAS.type(type).names());
        }
    }

    /** Two messages have "items" alone: one is a list in JSON, the other an object. */
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
