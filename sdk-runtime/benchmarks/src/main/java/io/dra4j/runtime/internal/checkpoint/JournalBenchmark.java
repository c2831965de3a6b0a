// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.benchmarks.Gpus;
import io.dra4j.benchmarks.TemporaryFolder;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.ResultDevice;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
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
import org.openjdk.jmh.annotations.TearDown;

/** Checkpoints claims on a disk that takes no time, to measure only the driver's work. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class JournalBenchmark {

    private static final String BOOT = "boot-1";

    @Param({"1", "1000"})
    int held;

    private TemporaryFolder folder;
    private LockFile locks;
    private Journal journal;
    private ClaimRecord preparing;
    private ClaimRecord prepared;

    @Setup
    public void hold() throws IOException {
        folder = TemporaryFolder.make();
        locks = LockFile.open(folder.path().resolve("claims.lock"));
        journal = open();
        for (int i = 0; i < held; i++) {
            journal.put(prepared(preparing(i)));
        }
        preparing = preparing(held);
        prepared = prepared(preparing);
    }

    @TearDown
    public void remove() throws IOException {
        journal.close();
        locks.close();
        folder.close();
    }

    private Journal open() {
        return Journal.open(new JournalStore.Place(
                folder.path().resolve("claims.journal"), BOOT, locks, Meters.none(), (channel, metadata) -> {}));
    }

    private static ClaimRecord preparing(int index) {
        HeldDevice device = HeldDevice.builder("gpu", new PoolName(Gpus.NODE), new DeviceName("gpu-" + index))
                .build();
        String uid = "00000000-0000-0000-0000-%012x".formatted(index);
        return new ClaimRecord(
                new ClaimRef("default", "claim-" + index, uid),
                Phase.PREPARING,
                BOOT,
                List.of(device),
                null,
                null,
                null,
                null,
                null);
    }

    private static ClaimRecord prepared(ClaimRecord claim) {
        ContainerEdits edits = ContainerEdits.builder()
                .env("GPU", claim.devices().get(0).toString())
                .build();
        ResultDevice device = new ResultDevice(claim.devices().get(0), edits, List.of());
        return claim.prepared(
                null, new Results(List.of(device), ContainerEdits.builder().build()));
    }

    /** The three records in the life of a claim. */
    @Benchmark
    public void ofOneClaim() {
        journal.put(preparing);
        journal.put(prepared);
        journal.forget(prepared.ref().uid());
    }

    /** All claims, as at the start of a driver. */
    @Benchmark
    public int read() {
        try (Journal read = open()) {
            return read.claims().size();
        }
    }
}
