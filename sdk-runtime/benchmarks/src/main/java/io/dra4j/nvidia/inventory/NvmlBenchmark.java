// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.benchmarks.TemporaryFolder;
import io.dra4j.nvidia.inventory.NodeDevices.Settings;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Reads the boards of the stand-in through NVML, and builds devices from them. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class NvmlBenchmark {

    /** Without MIG, with MIG devices, and with all possible MIG devices. */
    @Param({"l40s", "a100-40-divided", "h100-80"})
    String boards;

    private TemporaryFolder folder;
    private StandInNode node;
    private Nvml nvml;
    private Reading reading;

    @Setup
    public void open() throws IOException {
        folder = TemporaryFolder.make();
        node = StandInNode.install(folder.path(), boards);
        nvml = Nvml.open(node.library());
        reading = nvml.read();
    }

    @TearDown
    public void close() throws IOException {
        nvml.close();
        folder.close();
    }

    @Benchmark
    public Reading read() {
        return nvml.read();
    }

    @Benchmark
    public NodeDevices devices() {
        return NodeDevices.of(reading, new Settings("node-1", node.sysfs(), false));
    }

    @Benchmark
    public NodeDevices possibleDevices() {
        return NodeDevices.of(reading, new Settings("node-1", node.sysfs(), true));
    }
}
