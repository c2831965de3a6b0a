// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.driver.Command;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Place;
import java.util.List;
import java.util.Map;

/**
 * The commands of the settings that change what the driver sees: unplug a device, break it, repair it.
 *
 * <p>One that fails is an error of the setup, not a fault of the driver.
 */
public record Hooks(Map<String, List<String>> commands, Place place, Transcript transcript) {

    public boolean has(String name) {
        return commands.containsKey(name);
    }

    /** Runs a hook to its end; Untested if there is none, IllegalStateException if it fails or does not end. */
    public void run(String name) {
        Untested.unless(has(name), "the settings have no hook %s", name);
        List<String> command = commands.get(name);
        try {
            String output = Command.run(name, command, place, Map.of());
            transcript.note("hook " + name + ": " + (output.isEmpty() ? "done" : output));
        } catch (DriverUnusable e) {
            transcript.note("hook " + name + ": " + e.getMessage());
            throw new IllegalStateException("the hook " + name + ", " + command + ": " + e.getMessage(), e);
        }
    }
}
