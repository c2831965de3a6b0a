// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Files that calls leave in the CDI directory, and where the settings name them. */
public final class Leftovers {

    private static final int MOST_NAMED = 8;

    private final TestContext context;
    private final Map<String, JsonNode> before;

    private Leftovers(TestContext context, Map<String, JsonNode> before) {
        this.context = context;
        this.before = before;
    }

    /**
     * Remembers the directory as it is now; if there is a device, after it was prepared and
     * unprepared, so that specs which are written once for all claims are there already.
     */
    public static Leftovers since(TestContext context) {
        context.attemptClaim();
        return new Leftovers(context, files(context));
    }

    /**
     * Returns the content of each spec, since a driver may rewrite one for all claims; of others,
     * the text.
     */
    private static Map<String, JsonNode> files(TestContext context) {
        Map<String, JsonNode> files = new TreeMap<>();
        context.cdi().files().forEach((file, text) -> files.put(file, TextNode.valueOf(text)));
        files.putAll(context.cdi().contents());
        return files;
    }

    /** Fails if there is now more or less, or something else. */
    public void none(String after) {
        Map<String, JsonNode> now = files(context);
        Violation.unless(now.equals(before))
                .because(
                        "%s, the CDI directory has %s where it had %s; new or changed: %s",
                        after, now.keySet(), before.keySet(), differences(now));
        noFiles(context, after);
    }

    /** Fails if there are files that must be gone once no claim is prepared. */
    public static void noFiles(TestContext context, String after) {
        for (String glob : context.settings().driver().emptyWhenUnprepared()) {
            List<Path> left = Globs.matching(context, glob);
            Violation.unless(left.isEmpty())
                    .because(
                            "%s, no claim is prepared, and %d files stay that match %s of driver.emptyWhenUnprepared: %s",
                            after, left.size(), glob, left.subList(0, Math.min(MOST_NAMED, left.size())));
        }
    }

    private Map<String, JsonNode> differences(Map<String, JsonNode> now) {
        Map<String, JsonNode> changed = new TreeMap<>(now);
        before.forEach((file, content) -> changed.remove(file, content));
        return changed;
    }
}
