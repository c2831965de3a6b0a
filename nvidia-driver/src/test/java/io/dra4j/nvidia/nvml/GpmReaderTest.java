// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalDouble;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Samples of GPU instances, whose numbers are used again. */
class GpmReaderTest {

    private static final int PROFILE = 19;
    private static final String MIG = "MIG-1";

    @TempDir
    private Path folder;

    private NvmlLibrary library;
    private GpmReader reader;
    private long gpu;
    private int instance;
    private Instant now = Instant.EPOCH;

    @BeforeEach
    void sampleOnce() {
        StandInNode node = StandInNode.install(folder, "h100-80");
        node.state().setMig(1, true);
        instance = node.administrator().createInstance(1, PROFILE, 3, 0);
        String uuid = node.state().instanceAt(1, 3).uuids().get(0);
        node.state().setOfInstance(uuid, "utilization", 80);
        library = NvmlLibrary.open(node.library());
        library.require("nvmlInit_v2");
        gpu = library.handle("nvmlDeviceGetHandleByUUID", node.state().uuid(1));
        reader = new GpmReader(library, () -> now);
        assertThat(reader.utilization(gpu, instance, MIG)).isEmpty();
    }

    @AfterEach
    void close() {
        reader.end();
        library.call("nvmlShutdown");
        library.close();
    }

    @Test
    void areComparedForTwoMinutes() {
        now = now.plus(Duration.ofMinutes(2));
        assertThat(reader.utilization(gpu, instance, MIG)).hasValue(0.8);

        now = now.plus(Duration.ofMinutes(2)).plusMillis(1);
        OptionalDouble late = reader.utilization(gpu, instance, MIG);

        assertThat(late).isEmpty();
        assertThat(reader.utilization(gpu, instance, MIG)).hasValue(0.8);
    }

    @Test
    void areNotComparedWithThoseOfAnotherMigDevice() {
        assertThat(reader.utilization(gpu, instance, "MIG-2")).isEmpty();
        assertThat(reader.utilization(gpu, instance, "MIG-2")).hasValue(0.8);
    }

    @Test
    void areForgottenWithTheirInstance() {
        reader.forget(gpu, instance);

        assertThat(reader.utilization(gpu, instance, MIG)).isEmpty();
        assertThat(reader.utilization(gpu, instance, MIG)).hasValue(0.8);
    }
}
