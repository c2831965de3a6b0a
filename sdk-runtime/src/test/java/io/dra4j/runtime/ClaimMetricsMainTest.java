// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SetsUpLogging
class ClaimMetricsMainTest {

    /** An option at the begin of its line in a help text. */
    private static final Pattern OPTION = Pattern.compile("(?m)(?<=^(  |  -[a-z], | {6}))--[a-z-]+");

    private static final DriverProgram PROGRAM =
            new DriverProgram("acme-driver", "Drives Acme cards.", "acme.example.com", DriverMain.class);

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int execute(String... args) {
        Ending ending = new Ending();
        ending.request(); // as if the signal were there already: nothing waits
        return new DriverMain(
                        new PrintStream(out, true, UTF_8),
                        new PrintStream(err, true, UTF_8),
                        Map.of("METRICS_PATH", "/own"),
                        ending)
                .execute(args, PROGRAM, new DriverOptions.Standard(), options -> {
                    throw new AssertionError("The driver itself is not run");
                });
    }

    @Test
    void needsNoNodeAndHasOptionsOfItsOwn() {
        assertThat(execute("claim-metrics", "--help")).isZero();

        assertThat(out.toString(UTF_8)).startsWith("Usage: acme-driver claim-metrics");
        assertThat(OPTION.matcher(out.toString(UTF_8)).results().map(MatchResult::group))
                .containsExactlyInAnyOrder(
                        "--driver-name",
                        "--kubeconfig",
                        "--http-endpoint",
                        "--metrics-path",
                        "--v",
                        "--logging-format",
                        "--help",
                        "--version");
    }

    @Test
    void refusesOptionsOfTheDriver() {
        assertThat(execute("claim-metrics", "--node-name=n")).isEqualTo(2);

        assertThat(err.toString(UTF_8)).startsWith("acme-driver: Unknown option: '--node-name=n'");
    }

    @Test
    void saysWhatIsWrongWithItsOptions(@TempDir Path directory) throws IOException {
        Path kubeconfig = Files.writeString(directory.resolve("kubeconfig"), "{}");

        assertThat(execute("claim-metrics", "--kubeconfig=" + kubeconfig, "--http-endpoint=nowhere"))
                .isOne();
        assertThat(execute("claim-metrics", "--kubeconfig=" + directory.resolve("none")))
                .isOne();

        assertThat(err.toString(UTF_8))
                .contains("acme-driver: Not an HTTP endpoint: \"nowhere\"", "there is no such file");
    }
}
