// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Quantity;
import io.dra4j.benchmarks.Gpus;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Reads a claim with up to 32 requests, each with an opaque configuration. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class ConfigBenchmark {

    private static final String DRIVER = "gpu.example.com";
    private static final ClaimRef CLAIM = new ClaimRef("default", "claim", "00000000-0000-0000-0000-000000000001");

    private static final String PARAMETERS = """
            {"apiVersion":"gpu.example.com/v1","kind":"GpuConfig","sharing":\
            {"strategy":"MPS","maxClients":4,"memoryLimit":"10Gi"}}""";

    /** A typical configuration of a vendor. */
    public record GpuConfig(Sharing sharing) {}

    /** A nested object of it. */
    public record Sharing(String strategy, int maxClients, Quantity memoryLimit) {}

    @Param({"1", "8", "32"})
    int configs;

    @Param({"128", "4096"})
    int devices;

    private Allocations allocations;
    private ClaimObject claim;
    private Inventory inventory;

    @Setup
    public void allocate() {
        ConfigType<GpuConfig> type = ConfigType.builder("gpu.example.com/v1", "GpuConfig", GpuConfig.class)
                .build();
        allocations = new Allocations(DRIVER, List.of(type));
        inventory = Inventory.of(Gpus.whole(devices));
        claim = new ClaimObject(
                CLAIM.uid(),
                new Allocation(
                        IntStream.range(0, configs).mapToObj(this::result).toList(),
                        IntStream.range(0, configs).mapToObj(this::config).toList()),
                Map.of(),
                "{}");
    }

    /** The devices of a claim are those at the end of the pool. */
    private Result result(int index) {
        return new Result(
                DRIVER, "request-" + index, Gpus.NODE, "gpu-" + (devices - 1 - index), null, Map.of(), false, Set.of());
    }

    private Config config(int index) {
        return new Config(false, List.of("request-" + index), DRIVER, PARAMETERS);
    }

    @Benchmark
    public AllocatedClaim read() {
        return allocations.read(CLAIM, claim, inventory);
    }
}
