// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.Content;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import java.nio.file.Path;
import java.util.List;

/** Files that calls leave in the CDI directory, and where the settings expect none without claims. */
public record Leftovers(TestContext context, Content before) {

    private static final int MOST_NAMED = 8;

    /**
     * Remembers the directory as it is now; if there is a device, after it was prepared and
     * unprepared, so that specs written once for all claims exist already.
     */
    public static Leftovers since(TestContext context) {
        context.attemptClaim();
        return new Leftovers(context, context.cdi().allContents());
    }

    /** Fails if the directory has changed. */
    public void none(String after) {
        List<String> differences = context.cdi().allChanges(before);
        Violation.unless(differences.isEmpty())
                .about("DRA-CDI-06", "DRA-CDI-12")
                .because("%s, the CDI directory has changed: %s", after, SeenPools.few(differences));
        noFiles(context, after);
    }

    /** Fails if there are files that must be gone once no claim is prepared. */
    public static void noFiles(TestContext context, String after) {
        for (String glob : context.settings().driver().emptyWhenUnprepared()) {
            List<Path> left = Globs.matching(context, glob);
            Violation.unless(left.isEmpty())
                    .because(
                            "%s, no claim is prepared, but %d files still match %s of driver.emptyWhenUnprepared: %s",
                            after, left.size(), glob, left.subList(0, Math.min(MOST_NAMED, left.size())));
        }
    }
}
