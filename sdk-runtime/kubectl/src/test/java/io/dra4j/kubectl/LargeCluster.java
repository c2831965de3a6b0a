// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A cluster whose devices are all in use, and a pod {@code train} that wants one. */
public final class LargeCluster {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String DEVICE = """
            {"name": "gpu-%d",
             "attributes": {"uuid": {"string": "GPU-%s-%d"}, "model": {"string": "a100"},
                            "version": {"version": "1.2.3"}, "numa": {"int": 1}},
             "capacity": {"memory": {"value": "40Gi"}}}
            """;
    private static final String SLICE = """
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
             "metadata": {"name": "%s-gpu"},
             "spec": {"driver": "gpu.example.com", "nodeName": "%s",
                      "pool": {"name": "%s", "generation": 1, "resourceSliceCount": 1},
                      "devices": [%s]}}
            """;
    private static final String RESULT = """
            {"request": "gpu", "driver": "gpu.example.com", "pool": "%s", "device": "gpu-%d"}""";
    private static final String CLAIM = """
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
             "metadata": {"namespace": "ml", "name": "%s-%d"},
             "spec": {"devices": {"requests": [
                 {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": %d}}]}},
             "status": {
                 "allocation": {"devices": {"results": [%s]}},
                 "reservedFor": [{"resource": "pods", "name": "%s-%d", "uid": "1"}]}}
            """;

    private LargeCluster() {}

    /** Puts nodes with a slice each, and the claims that have all its devices. */
    public static void put(ClusterObjects objects, int nodes, int claimsOfNode, int devicesOfClaim) {
        ManifestObjects.putText("""
                {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu},
                 spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}
                ---
                {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: train},
                 spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
                ---
                {apiVersion: v1, kind: Pod, metadata: {name: train},
                 spec: {resourceClaims: [{name: gpu, resourceClaimName: train}],
                        containers: [{name: main, image: registry.example/train}]}}
                """, objects);
        for (int n = 0; n < nodes; n++) {
            String node = "node-" + n;
            put(objects, "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"%s\"}}", node);
            String devices = joined(0, claimsOfNode * devicesOfClaim, i -> DEVICE.formatted(i, node, i));
            put(objects, SLICE, node, node, node, devices);
            for (int c = 0; c < claimsOfNode; c++) {
                int first = c * devicesOfClaim;
                String results = joined(first, first + devicesOfClaim, i -> RESULT.formatted(node, i));
                put(objects, CLAIM, node, c, devicesOfClaim, results, node, c);
            }
        }
    }

    private static String joined(int from, int to, IntFunction<String> each) {
        return IntStream.range(from, to).mapToObj(each).collect(Collectors.joining(","));
    }

    private static void put(ClusterObjects objects, String json, Object... values) {
        try {
            objects.put(JSON.readTree(json.formatted(values)));
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }
}
