// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** A command that has ended. */
record Ended(int status, String out, String err) {

    /** Runs a command that is an object with picocli's annotations. */
    static Ended of(Object command, String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = new CommandLine(command)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setExecutionExceptionHandler((problem, line, parsed) -> {
                    line.getErr().println(problem.getMessage()); // as the driver's program does
                    return 1;
                })
                .execute(args);
        return new Ended(status, out.toString(), err.toString());
    }

    String printed() {
        assertThat(status).as(err).isZero();
        return out;
    }

    String failed(int expected) {
        assertThat(status).isEqualTo(expected);
        assertThat(out).isEmpty();
        return err;
    }
}
