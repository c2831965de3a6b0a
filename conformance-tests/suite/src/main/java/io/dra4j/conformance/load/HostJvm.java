// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.inprocess.NodesMain;
import io.dra4j.conformance.load.NodesNumbers.Host;
import io.dra4j.testkit.driver.DriverUnusable;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The process of {@link NodesMain}; for one thread. */
final class HostJvm implements AutoCloseable {

    private final Process process;
    private final BufferedWriter told;
    private final BufferedReader answers;
    private final Path log;

    /**
     * Starts it.
     *
     * @param log where it logs to
     */
    HostJvm(List<String> command, Path log) throws IOException {
        this.log = log;
        process = new ProcessBuilder(command).redirectError(log.toFile()).start();
        told = process.outputWriter();
        answers = process.inputReader();
    }

    /**
     * Starts drivers until there are so many, and waits until all have published.
     *
     * @throws DriverUnusable if one does not come so far
     */
    void start(int drivers) throws IOException {
        String answer = ask("start " + drivers);
        if (!answer.equals(NodesMain.STARTED)) {
            throw new DriverUnusable(answer);
        }
    }

    /** Its memory now, after a collection. */
    Host host() throws IOException {
        long heap = Long.parseLong(ask("heap"));
        Footprint footprint = Footprint.of(process.toHandle())
                .orElseThrow(() -> new DriverUnusable("the memory of a process cannot be read; that needs Linux"));
        return new Host(footprint, heap);
    }

    /** The processor time that it has taken since its start. */
    Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /**
     * Waits while it runs.
     *
     * @throws DriverUnusable if it ends
     */
    void rest(Duration time) throws InterruptedException {
        if (process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
            throw ended(null);
        }
    }

    private String ask(String line) throws IOException {
        String answer;
        try {
            told.write(line);
            told.newLine();
            told.flush();
            answer = answers.readLine();
        } catch (IOException e) {
            throw ended(e);
        }
        if (answer == null) {
            throw ended(null);
        }
        return answer;
    }

    private DriverUnusable ended(@Nullable IOException cause) {
        DriverUnusable ended = new DriverUnusable("The JVM of the drivers ended; its last line: " + lastLine());
        ended.initCause(cause);
        return ended;
    }

    private String lastLine() {
        try {
            List<String> lines = Files.readAllLines(log);
            return lines.isEmpty() ? "none" : lines.get(lines.size() - 1);
        } catch (IOException e) {
            return "unknown (" + e + ")";
        }
    }

    /** Ends it at once, and with it the drivers, so that their directories can be removed. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
