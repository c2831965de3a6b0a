// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.driver.RunningClaimMetrics;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Runs the command {@code claim-metrics}; apart, so that a driver's start loads none of it.
 *
 * @param line reads the command line, and explains failures
 * @param ending says when to stop
 */
record ClaimMetricsMain(ProgramMain line, Ending ending) {

    private static final int SUCCESS = 0;
    private static final int FAILURE = 1;

    /** Serves until the program is to end, and returns its exit status. */
    int execute(String[] args, DriverProgram program, Map<String, String> environment) {
        ClaimMetricsOptions options = new ClaimMetricsOptions();
        OptionalInt over = line.parse(
                Arrays.copyOfRange(args, 1, args.length),
                ClaimMetricsOptions.describe(options.commandLine(program, environment)),
                program,
                options);
        return over.isPresent() ? over.getAsInt() : serve(program, options);
    }

    private int serve(DriverProgram program, ClaimMetricsOptions options) {
        try {
            RunningClaimMetrics running = options.start();
            ending.awaitRequest();
            running.close();
            return SUCCESS;
        } catch (DraException e) {
            line.explain(program, options, String.valueOf(e.getMessage()), e);
            return FAILURE;
        }
    }
}
