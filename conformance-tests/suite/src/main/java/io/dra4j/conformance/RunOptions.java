// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags of {@code run}: those of the driver, of the selection, and of the reports. */
@Command(resourceBundle = "io.dra4j.conformance.options")
final class RunOptions {

    @Mixin
    private final TestedDriverOptions driver = new TestedDriverOptions();

    @ArgGroup(validate = false, order = 5, heading = "%nThe requirements:%n")
    private final TriedGroup tried = new TriedGroup();

    @ArgGroup(validate = false, order = 6, heading = "%nThe report:%n")
    private final ReportGroup report = new ReportGroup();

    /** The selection of requirements. */
    private static final class TriedGroup {
        @Option(names = "--profile", split = ",", paramLabel = "NAME")
        private @Nullable List<String> profiles;

        @Option(names = "--only", split = ",", paramLabel = "ID")
        private @Nullable List<String> only;

        @Option(names = "--skip", split = ",", paramLabel = "ID")
        private @Nullable List<String> skip;

        @Option(names = "--strict")
        private @Nullable Boolean strict;

        @Option(names = "--soak")
        private @Nullable Boolean soak;
    }

    /** The reports and their places. */
    private static final class ReportGroup {
        @Option(names = "--report", paramLabel = "DIR")
        private @Nullable String report;

        @Option(names = "--known-failures", paramLabel = "FILE")
        private @Nullable String knownFailures;

        @Option(
                names = "--deviations",
                hidden = true,
                description = "[knownFailures] The old name of --known-failures.")
        private @Nullable String deviations;

        @Option(names = "--implementation", paramLabel = "NAME=VALUE")
        private @Nullable Map<String, String> implementation;
    }
}
