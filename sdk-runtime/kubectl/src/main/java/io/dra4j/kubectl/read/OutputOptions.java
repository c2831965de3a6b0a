// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import io.dra4j.doctor.Report;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The option of all commands for the form of what they print. */
@SuppressWarnings("NullAway.Init") // picocli sets the field
public final class OutputOptions {

    private enum Format {
        text,
        json
    }

    @Option(
            names = {"-o", "--output"},
            paramLabel = "text|json",
            defaultValue = "text",
            description = "Text for people, or JSON for tools. Default: ${DEFAULT-VALUE}")
    private Format format;

    public boolean isJson() {
        return format == Format.json;
    }

    /** Prints a report, and returns its exit status. */
    public int print(Report report, CommandSpec command) {
        PrintWriter out = command.commandLine().getOut();
        out.print(isJson() ? report.json() : report.text());
        out.flush();
        return report.exitStatus();
    }
}
