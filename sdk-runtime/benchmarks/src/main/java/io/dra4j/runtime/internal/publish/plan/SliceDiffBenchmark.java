// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.Pool;
import io.dra4j.benchmarks.Gpus;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Compares the slices of a pool in the cluster with its plan. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class SliceDiffBenchmark {

    @Param({"8", "128", "1100", "4096"})
    int devices;

    private List<PlannedSlice> same;
    private List<PlannedSlice> tainted;
    private List<Stored> existing;

    @Setup
    public void publish() {
        Pool pool = Gpus.whole(devices);
        List<PlannedSlice> before = SlicePlanner.plan(pool, List.of(), true);
        existing = before.stream().map(slice -> stored(slice, before.size())).toList();
        same = SlicePlanner.plan(pool, before, true);
        tainted = SlicePlanner.plan(Gpus.withTaint(pool), before, true);
    }

    private static Stored stored(PlannedSlice slice, int count) {
        String name = String.format(Locale.ROOT, "%07x-gpu.example.com-node-1-abcde", slice.index());
        return new Stored(
                name, "uid-" + slice.index(), "1", true, slice.content().at(1, count));
    }

    @Benchmark
    public List<SliceWrite> ofNothing() {
        return SliceDiff.between(existing, same, TaintTimes.none());
    }

    @Benchmark
    public List<SliceWrite> ofOneTaint() {
        return SliceDiff.between(existing, tainted, TaintTimes.none());
    }

    @Benchmark
    public List<SliceWrite> ofAll() {
        return SliceDiff.between(List.of(), same, TaintTimes.none());
    }
}
