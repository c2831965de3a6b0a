// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The minimum times of any driver on this machine, measured between its calls.
 *
 * <p>Files are synced in a separate directory next to the driver's state; the claim is read
 * through the same proxy as the driver's, over one kept connection.
 */
final class Floors implements AutoCloseable {

    static final String EMPTY_CALL = "empty call";
    static final String FILE = "fsync of a file";
    static final String DIRECTORY = "fsync of a directory";
    static final String GET = "GET of a claim";

    private static final byte[] RECORD = new byte[256];

    private final TestContext context;
    private final Path folder;
    private final FileChannel file;
    private final FileChannel directory;
    private final List<Duration> calls = new ArrayList<>();
    private final List<Duration> fileSyncs = new ArrayList<>();
    private final List<Duration> directorySyncs = new ArrayList<>();
    private final List<Duration> reads = new ArrayList<>();

    private Floors(TestContext context) throws IOException {
        this.context = context;
        folder = Files.createTempDirectory(context.place().plugins(), "bench-");
        file = FileChannel.open(folder.resolve("record"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        directory = FileChannel.open(folder, StandardOpenOption.READ);
    }

    static Floors of(TestContext context) {
        try {
            return new Floors(context);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't write next to the driver's state", e);
        }
    }

    /** Measures each once, with a claim that the API server has. */
    void round(KubeletClaim claim) {
        calls.add(Timing.of(this::call));
        fileSyncs.add(Timing.of(this::syncFile));
        touch();
        directorySyncs.add(Timing.of(() -> directory.force(true)));
        URI object = context.proxy().url().resolve(context.claims().path(claim));
        reads.add(Timing.of(() -> read(object)));
    }

    List<Timings> measures() {
        return List.of(
                measure(EMPTY_CALL, calls),
                measure(FILE, fileSyncs),
                measure(DIRECTORY, directorySyncs),
                measure(GET, reads));
    }

    private static Timings measure(String what, List<Duration> times) {
        return new Timings(what, 0, 0, times, Duration.ZERO);
    }

    private void call() {
        CallResult result = context.kubelet()
                .prepare(context.place().driver(), List.of(), context.calls().service());
        Violation.ifPresent(result.complaint(), "a call without claims failed: %s");
    }

    private void syncFile() throws IOException {
        file.write(ByteBuffer.wrap(RECORD));
        file.force(true);
    }

    /** An unchanged directory needs no sync. */
    private void touch() {
        try {
            Path spec = folder.resolve("spec");
            Files.deleteIfExists(spec);
            Files.createFile(spec);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't write in " + folder, e);
        }
    }

    private static void read(URI object) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) object.toURL().openConnection();
        connection.setRequestProperty("Accept", "application/json");
        try (InputStream body = connection.getInputStream()) {
            body.readAllBytes(); // so that the connection is kept
        }
    }

    @Override
    public void close() {
        try {
            file.close();
            directory.close();
            Files.deleteIfExists(folder.resolve("record"));
            Files.deleteIfExists(folder.resolve("spec"));
            Files.deleteIfExists(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't remove " + folder, e);
        }
    }
}
