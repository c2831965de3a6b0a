// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.driver.Ended;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Runs that fail for a reason that is not the driver's. */
class FailedRunIT {

    private static final List<String> SUITE = List.of(
            Ended.jdk("java"), "-cp", System.getProperty("java.class.path"), ConformanceMain.class.getName(), "run");

    @TempDir
    private Path folder;

    /** A command with a bug, and one on a machine that lacks something, for example a file system for native libraries. */
    static Stream<Callable<Integer>> failing() {
        return Stream.of(
                () -> {
                    throw new IllegalStateException("a failure");
                },
                () -> {
                    throw new UnsatisfiedLinkError("a failure");
                });
    }

    @ParameterizedTest
    @MethodSource("failing")
    void aBugOrAnErrorOfTheJvmIsNoVerdictAboutADriver(Callable<Integer> failing) {
        StringWriter err = new StringWriter();
        CommandLine commands = ConformanceMain.commandLine();
        commands.addSubcommand("failing", CommandSpec.wrapWithoutInspection(failing));
        commands.setErr(new PrintWriter(err, true));

        assertThat(commands.execute("failing")).isEqualTo(3);
        assertThat(err.toString()).contains("please report", "a failure", "\tat ");
    }

    @Test
    void theSummaryIsPrintedEvenIfTheReportCanNotBeWritten() throws Exception {
        Path file = Files.createDirectories(folder.resolve("report/junit.xml")).getParent(); // of an earlier run

        Ended run = Ended.of(
                Map.of(),
                SUITE,
                "--report=" + file,
                "--only=DRA-INFO-01",
                "--start-timeout=1",
                "--driver-name=gpu.example.com",
                "--",
                "sh",
                "-c",
                "rmdir %s; touch %1$s {KUBELET_REGISTRAR_DIRECTORY_PATH}/no-socket; exec sleep 60".formatted(file));

        assertThat(run.status()).as(run.output()).isEqualTo(3);
        assertThat(run.output()).contains("PROFILE ", "Can't write the reports to " + file);
    }

    @Test
    void aPathThatTheMachineCanNotWriteIsReportedBeforeTheRun() throws Exception {
        Ended run = Ended.of(
                Map.of("LC_ALL", "C"),
                List.of("sh", "-c", "exec \"$@\" --report=\"$(printf 'pr\\303\\274fung')\" --driver-name=a -- x", "sh"),
                SUITE.toArray(String[]::new));

        assertThat(run.status()).as(run.output()).isEqualTo(3);
        assertThat(run.output()).contains("unmappable characters: pr").doesNotContain("API server", "\tat ");
    }
}
