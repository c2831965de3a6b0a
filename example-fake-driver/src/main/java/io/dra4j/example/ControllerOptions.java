// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.runtime.ProgramOptions;
import java.util.List;
import picocli.CommandLine.Option;

/** The options of the controller; those of the community's {@code dra-example-controller}. */
final class ControllerOptions extends ProgramOptions {

    @Option(
            names = "--enable-plugin",
            paramLabel = "BindingConditions",
            split = ",",
            description = {
                "What to do: BindingConditions, to report allocated devices as ready to the"
                        + " scheduler, which waits for that. [ENABLE_PLUGIN]",
                "Default: nothing"
            })
    private List<Plugin> plugins = List.of();

    /** The abilities of the controller, by the names of the community's. */
    private enum Plugin {
        BindingConditions
    }

    /** Returns whether devices are reported as ready. */
    boolean bindsDevices() {
        return plugins.contains(Plugin.BindingConditions);
    }
}
