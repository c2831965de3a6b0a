// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The resources that the driver's process holds at one moment.
 *
 * @param pid the process; empty if it has no separate one, and nothing can be counted
 */
public record ProcessCount(OptionalLong pid, long files, long threads) {

    public static ProcessCount of(TestContext context) {
        OptionalLong pid = context.driver().current().pid();
        return new ProcessCount(pid, count(pid, "fd"), count(pid, "task"));
    }

    private static long count(OptionalLong pid, String what) {
        if (pid.isEmpty()) {
            return 0;
        }
        try (Stream<Path> all = Files.list(Path.of("/proc/" + pid.getAsLong(), what))) {
            return all.count();
        } catch (IOException e) {
            return 0; // another operating system, or another user's process
        }
    }

    /** Requires that it now holds at most a few more. */
    public void checkGrowth(TestContext context, int streams, int spare) {
        if (files == 0) {
            context.remark("nothing is known about the driver's process: leaks were not looked for");
            return;
        }
        long filesNow = count(pid, "fd");
        long threadsNow = count(pid, "task");
        grew(context, "open files", filesNow - files, spare);
        grew(context, "threads", threadsNow - threads, spare);
        Violation.unless(filesNow < files + spare && threadsNow < threads + spare)
                .because(
                        "%d health streams were opened and cancelled, and the process has %d open files instead of %d, and %d threads instead of %d",
                        streams, filesNow, files, threadsNow, threads);
    }

    private static void grew(TestContext context, String what, long growth, int spare) {
        context.measurements().count("growth in " + what, Math.max(0, growth), spare - 1);
    }
}
