// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NodeViewsTest {
    private static final Node A = new Node("a", Map.of("zone", "1"));
    private static final Node B = new Node("b", Map.of("zone", "2"));

    private static Slice slice(String name, String node, int count, String rest) {
        return Slice.of(Given.json("""
                        {metadata: {name: '%s'},
                         spec: {driver: 'd.example.com', %s,
                                pool: {name: '%s', generation: 1, resourceSliceCount: %d}, %s}}
                        """.formatted(name, node, name.split("-")[0], count, rest)));
    }

    private static Claim claim(String name, String mode, String pool) {
        String results = pool.isEmpty()
                ? ""
                : "{request: 'r', driver: 'd.example.com', pool: '%s', device: 'x'}".formatted(pool);
        return Claim.of(Given.json("""
                        {metadata: {name: '%s', namespace: 'n'},
                         spec: {devices: {requests: [
                             {name: 'r', exactly: {deviceClassName: 'c', allocationMode: '%s'}}]}},
                         status: {allocation: {devices: {results: [%s]}}}}
                        """.formatted(name, mode, results)));
    }

    private static ClusterState cluster(List<Slice> slices, Claim... claims) {
        return new ClusterState(List.of(new DeviceClass("c", List.of())), slices, List.of(claims), List.of());
    }

    @Test
    void aViewHasThePoolsOfItsNodeAndThoseOfManyWithTheirHolders() {
        Slice ofA = slice("pa", "nodeName: 'a'", 1, "devices: [{name: 'x'}]");
        Slice ofB = slice("pb", "nodeName: 'b'", 1, "devices: [{name: 'x'}]");
        Slice ofAll = slice("pc", "allNodes: true", 1, "devices: [{name: 'x'}]");
        NodeViews views = new NodeViews(
                cluster(List.of(ofA, ofB, ofAll), claim("ha", "ExactCount", "pa"), claim("hb", "ExactCount", "pb")));

        assertThat(views.of(A).slices()).containsExactly(ofA, ofAll);
        assertThat(views.of(A).claims()).extracting(Claim::name).containsExactly("ha");
        assertThat(views.of(B).slices()).containsExactly(ofB, ofAll);
        assertThat(views.of(new Node("c", Map.of())).slices()).containsExactly(ofAll);
    }

    /** In 1.35 and 1.36 a request for all devices fails everywhere for such a pool. */
    @ParameterizedTest
    @EnumSource(KubernetesVersion.class)
    void anIncompletePoolWithCountersOfAnotherNodeDecidesAsInTheCluster(KubernetesVersion version) {
        Slice ofA = slice("pa", "nodeName: 'a'", 1, "devices: [{name: 'x'}]");
        Slice counters =
                slice("pb-counters", "nodeName: 'b'", 2, "sharedCounters: [{name: 's', counters: {m: {value: '1'}}}]");
        ClusterState cluster = cluster(List.of(ofA, counters));
        List<Claim> all = List.of(claim("wanted", "All", ""));
        Allocator allocator = Allocator.asReleased(new FeatureGates(version, Map.of()));

        Outcome ofView = allocator.allocate(new NodeViews(cluster).of(A), A, all);

        assertThat(ofView).isEqualTo(allocator.allocate(cluster, A, all));
        assertThat(ofView instanceof Outcome.Failed).isEqualTo(version == KubernetesVersion.V1_36);
    }
}
