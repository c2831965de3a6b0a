// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.starter;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.DriverMain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A program whose only dependency is the starter. */
class StarterTest {

    @Test
    void aProgramLogsWithNoOtherDependency() throws Exception {
        Result result = run("--node-name=node", "--logging-format=json");

        assertThat(result.output()).startsWith("{").contains("There is no hardware");
        assertThat(result.status()).isEqualTo(1);
    }

    @Test
    void aProgramPrintsItsOptions() throws Exception {
        Result result = run("--help");

        assertThat(result.output()).contains("--node-name");
        assertThat(result.status()).isZero();
    }

    @Test
    void aProgramHasTheCommandsOfItsNode() throws Exception {
        Result result = run("audit", "--help");

        assertThat(result.output()).startsWith("Usage: driver.example.com audit");
        assertThat(result.status()).isZero();
    }

    private static Result run(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add(Program.class.getName());
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        return new Result(process.waitFor(), output);
    }

    private record Result(int status, String output) {}

    /** A driver without its hardware, which therefore exits. */
    static final class Program {
        public static void main(String[] args) {
            DriverMain.run(args, "driver.example.com", options -> provider());
        }

        private static DeviceProvider provider() {
            throw new DraException("There is no hardware");
        }
    }
}
