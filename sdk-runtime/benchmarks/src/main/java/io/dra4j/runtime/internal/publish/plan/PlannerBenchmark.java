// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Pool;
import io.dra4j.benchmarks.Gpus;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Plans the slices of a pool, as at each change of the inventory. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class PlannerBenchmark {

    @Param({"8", "128", "1100", "4096"})
    int devices;

    private Pool whole;
    private Pool tainted;
    private Pool partitioned;
    private List<PlannedSlice> before;

    @Setup
    public void plan() {
        whole = Gpus.whole(devices);
        tainted = Gpus.withTaint(whole);
        partitioned = Gpus.partitioned(devices);
        before = SlicePlanner.plan(whole, List.of(), true);
    }

    @Benchmark
    public List<PlannedSlice> first() {
        return SlicePlanner.plan(whole, List.of(), true);
    }

    @Benchmark
    public List<PlannedSlice> withATaintMore() {
        return SlicePlanner.plan(tainted, before, true);
    }

    @Benchmark
    public List<PlannedSlice> withCounterSets() {
        return SlicePlanner.plan(partitioned, List.of(), true);
    }
}
