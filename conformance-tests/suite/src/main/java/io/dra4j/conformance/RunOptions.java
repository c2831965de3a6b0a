// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags of {@code run}: those of the driver, of the selection, and of the reports. */
final class RunOptions {

    @Mixin
    private final DriverOptions driver = new DriverOptions();

    @ArgGroup(validate = false, order = 5, heading = "%nThe requirements:%n")
    private final TriedGroup tried = new TriedGroup();

    @ArgGroup(validate = false, order = 6, heading = "%nThe report:%n")
    private final ReportGroup report = new ReportGroup();

    /** The selection of requirements. */
    private static final class TriedGroup {
        @Option(
                names = "--profile",
                split = ",",
                paramLabel = "NAME",
                description = "[profiles] Only these profiles; `dra-conformance list` prints" + " all.")
        @Nullable
        List<String> profiles;

        @Option(
                names = "--only",
                split = ",",
                paramLabel = "ID",
                description = "[only] Only these requirements, and what they need.")
        @Nullable
        List<String> only;

        @Option(
                names = "--skip",
                split = ",",
                paramLabel = "ID",
                description = "[skip] Not these requirements; their profiles are partial" + " then.")
        @Nullable
        List<String> skip;

        @Option(
                names = "--strict",
                description = "[strict] Some SHOULDs are MUSTs, as `dra-conformance explain`" + " shows.")
        @Nullable
        Boolean strict;

        @Option(names = "--soak", description = "[soak] Repeat more often where that shows more; takes minutes longer.")
        @Nullable
        Boolean soak;
    }

    /** The reports and their places. */
    private static final class ReportGroup {
        @Option(
                names = "--report",
                paramLabel = "DIR",
                description = "[report] Where the reports go. Default: dra-conformance-report")
        @Nullable
        String report;

        @Option(
                names = "--known-failures",
                paramLabel = "FILE",
                description = "[knownFailures] A list of known failures, each with an issue and an end.")
        @Nullable
        String knownFailures;

        @Option(
                names = "--deviations",
                hidden = true,
                description = "[knownFailures] The old name of --known-failures.")
        @Nullable
        String deviations;

        @Option(
                names = "--implementation",
                paramLabel = "NAME=VALUE",
                description =
                        "[implementation] Who made the driver: organization, project, url, version, contact, language.")
        @Nullable
        Map<String, String> implementation;
    }
}
