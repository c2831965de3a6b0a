// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Slice;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A cluster of 5,000 slices and 20,000 claims fits into memory with room to read it. */
@Isolated
class FootprintTest {
    /** One part of ten, so that the test is short. */
    private static final int SLICES = 500;

    private static final int CLAIMS = 2_000;
    private static final int DEVICES = 8;

    /** A quarter of 512 MB, for one part of ten. */
    private static final long LIMIT = 512L * 1024 * 1024 / 4 / 10;

    private static JsonNode slice(int number) {
        return Given.json("""
                {metadata: {name: 'slice-%d'}, spec: {driver: 'gpu.example.com', nodeName: 'node-%d',
                 pool: {name: 'node-%d', generation: 1, resourceSliceCount: 1}, devices: [%s]}}
                """.formatted(number, number, number, joined(DEVICES, i -> device(number, i))));
    }

    private static String device(int slice, int number) {
        return """
        {name: 'gpu-%d', attributes: {uuid: {string: 'GPU-%d-%d'}, index: {int: %d}, %s,
         driverVersion: {version: '570.86.15'}, 'resource.kubernetes.io/pcieRoot': {string: 'pci0000:0%d'}},
         capacity: {memory: {value: '80Gi'}, cores: {value: '132'}}, taints: [{key: 'example.com/x', effect: 'None'}]}
        """.formatted(
                        number,
                        slice,
                        number,
                        number,
                        joined(8, i -> "attribute%d: {string: 'value %d'}".formatted(i, i)),
                        number);
    }

    private static JsonNode claim(int number) {
        return Given.json("""
                {metadata: {name: 'claim-%d', namespace: 'ns-%d'}, spec: {devices: {requests: [
                 {name: 'gpu', exactly: {deviceClassName: 'gpu.example.com', selectors: [{cel: {expression: 'device.driver == "x"'}}]}}]}},
                 status: {allocation: {devices: {results: [
                 {request: 'gpu', driver: 'gpu.example.com', pool: 'node-%d', device: 'gpu-%d'}]}}}}
                """.formatted(number, number % 50, number / DEVICES, number % DEVICES));
    }

    private static String joined(int count, IntFunction<String> part) {
        return IntStream.range(0, count).mapToObj(part).collect(Collectors.joining(", "));
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void aLargeClusterIsSmall() {
        Slice.of(slice(0));
        Claim.of(claim(0));
        long before = used();

        List<Slice> slices = new ArrayList<>();
        for (int i = 0; i < SLICES; i++) {
            slices.add(Slice.of(slice(i)));
        }
        List<Claim> claims = new ArrayList<>();
        for (int i = 0; i < CLAIMS; i++) {
            claims.add(Claim.of(claim(i)));
        }
        ClusterState cluster = new ClusterState(List.of(), slices, claims, List.of());

        assertThat(used() - before).as("bytes used").isLessThan(LIMIT);
        assertThat(cluster.slices()).hasSize(SLICES);
        assertThat(cluster.claims()).hasSize(CLAIMS);
    }
}
