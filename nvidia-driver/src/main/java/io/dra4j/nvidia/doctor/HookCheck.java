// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.doctor;

import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.prepare.Roots;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the program which prepares containers is there.
 *
 * @param program as the driver names it in CDI specs
 * @param roots of the driver
 * @param copied the folder to which the driver copies the program; null if an option names it
 */
record HookCheck(HookProgram program, Roots roots, @Nullable Path copied) implements Check {

    @Override
    public String id() {
        return "hook";
    }

    @Override
    public Result look() {
        if (copied != null && !Files.isDirectory(copied)) {
            return Result.healthy("the driver copies it to %s when it starts".formatted(copied));
        }
        try {
            program.requireThere(roots);
            return Result.healthy(program.path().toString());
        } catch (PrepareException e) {
            return new Result("", List.of(finding(String.valueOf(e.getMessage()))));
        }
    }

    private Finding finding(String what) {
        return new Finding(
                id(),
                Severity.ERROR,
                program.path().toString(),
                what,
                "claims can't be prepared, and containers of earlier ones can't start again",
                List.of(
                        "ls -l %s    # on the node".formatted(program.path()),
                        copied == null
                                ? "# start the driver without --nvidia-cdi-hook-path (charts: nvidiaCDIHookPath)"
                                : "kubectl --namespace NAMESPACE delete pod POD    # of the driver on this node"));
    }
}
