// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import io.dra4j.doctor.Report;
import java.io.PrintStream;

/** The form of a report on standard output. */
enum ReportFormat {
    text,
    json;

    /** Prints a report, and returns the exit status. */
    int print(Report report, PrintStream out) {
        out.print(this == json ? report.json() : report.text());
        out.flush();
        return report.exitStatus();
    }
}
