// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.driver.Command;
import io.dra4j.testkit.driver.DriverUnusable;
import java.util.List;
import java.util.Map;

/**
 * The commands of the settings that change what the driver sees: unplug a device, break it, mend
 * it.
 *
 * <p>One that fails is the suite's trouble, and no fault of the driver.
 */
public final class Hooks {

    private final TestContext context;

    Hooks(TestContext context) {
        this.context = context;
    }

    /** Whether the settings have a hook of this name. */
    public boolean has(String name) {
        return context.settings().driver().hooks().containsKey(name);
    }

    /**
     * Runs a hook, and waits until it has ended.
     *
     * @throws Untested if there is none of this name
     * @throws IllegalStateException if it cannot be run, fails, or does not end
     */
    public void run(String name) {
        Untested.unless(has(name), "the settings have no hook %s", name);
        List<String> command = context.settings().driver().hooks().get(name);
        try {
            String said = Command.run(name, command, context.place(), Map.of());
            context.transcript().note("hook " + name + ": " + (said.isEmpty() ? "done" : said));
        } catch (DriverUnusable e) {
            context.transcript().note("hook " + name + ": " + e.getMessage());
            throw new IllegalStateException(
                    "the hook " + name + ", " + command + ": " + e.getMessage(), e);
        }
    }
}
