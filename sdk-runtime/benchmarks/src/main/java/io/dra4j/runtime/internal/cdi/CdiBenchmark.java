// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.Mount;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.benchmarks.Gpus;
import io.dra4j.benchmarks.TemporaryFolder;
import io.dra4j.runtime.internal.cdi.CdiSpecs.DeviceEdits;
import java.io.IOException;
import java.util.List;
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
import org.openjdk.jmh.annotations.TearDown;

/** Writes, compares and reads the CDI spec of a claim, which has at most 32 devices. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class CdiBenchmark {

    private static final String PRESENT = "00000000-0000-0000-0000-000000000001";
    private static final String OTHER = "00000000-0000-0000-0000-000000000002";

    @Param({"1", "8", "32"})
    int devices;

    private TemporaryFolder folder;
    private CdiSpecs specs;
    private ContainerEdits claim;
    private List<DeviceEdits> edits;

    @Setup
    public void write() throws IOException {
        folder = TemporaryFolder.make();
        specs = new CdiSpecs(folder.path(), "gpu.example.com");
        claim = common();
        edits = IntStream.range(0, devices).mapToObj(CdiBenchmark::device).toList();
        specs.write(PRESENT, claim, edits);
    }

    @TearDown
    public void remove() throws IOException {
        folder.close();
    }

    private static DeviceEdits device(int index) {
        DeviceNode node =
                DeviceNode.builder("/dev/nvidia" + index).permissions("rw").build();
        return new DeviceEdits(
                new PoolName(Gpus.NODE),
                new DeviceName("gpu-" + index),
                null,
                ContainerEdits.builder().deviceNode(node).build());
    }

    /** The approximate number of files of a GPU driver. */
    private static ContainerEdits common() {
        ContainerEdits.Builder edits = ContainerEdits.builder().env("VISIBLE_DEVICES", "void");
        for (String node : List.of("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")) {
            edits.deviceNode(DeviceNode.builder("/dev/" + node).build());
        }
        for (int i = 0; i < 40; i++) {
            String library = "/usr/lib/x86_64-linux-gnu/libnvidia-" + i + ".so.550.163.01";
            edits.mount(new Mount(library, library, List.of("ro", "nosuid", "nodev", "bind"), null));
        }
        return edits.hook(new Hook(
                        HookName.CREATE_CONTAINER,
                        "/usr/bin/nvidia-cdi-hook",
                        List.of("nvidia-cdi-hook", "update-ldcache"),
                        List.of(),
                        null))
                .build();
    }

    @Benchmark
    public void writtenAndRemoved() {
        specs.write(OTHER, claim, edits);
        specs.remove(OTHER);
    }

    @Benchmark
    public void writtenAgain() {
        specs.write(PRESENT, claim, edits);
    }

    @Benchmark
    public List<String> read() {
        return specs.deviceNames(PRESENT);
    }
}
