// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.doctor.Report;

/** The form of a report on standard output. */
enum ReportFormat {
    text,
    json;

    String of(Report report) {
        return this == json ? report.json() : report.text();
    }
}
