// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.runtime.BindingController;
import io.dra4j.runtime.DriverProgram;
import io.dra4j.runtime.ProgramOptions;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/** Runs the example's controller as a program, one per cluster, which reports allocated devices as ready. */
public final class ControllerMain {

    private static final Logger LOG = LoggerFactory.getLogger(ControllerMain.class);

    private static final DriverProgram PROGRAM = new DriverProgram(
            "dra4j-example-controller",
            "Reports the devices of the example's driver as ready to the scheduler, for all" + " nodes of the cluster.",
            DeviceProfile.gpu.driverName(),
            ControllerMain.class);

    private ControllerMain() {}

    /**
     * Runs until SIGTERM or SIGINT.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        BindingController.run(args, PROGRAM, new Options(), ControllerMain::controller);
    }

    private static BindingController controller(Options options) {
        if (!options.bindsDevices()) {
            LOG.warn("Nothing to do without --enable-plugin=BindingConditions");
        }
        ReadinessCheck check = options.bindsDevices() ? BoundDevices::ready : device -> List.of();
        return BindingController.of(options.driverName(), check).kubeconfig(options.kubeconfig());
    }

    /** The options of the controller, which are those of the community's {@code dra-example-controller}. */
    static final class Options extends ProgramOptions {

        @Option(
                names = "--enable-plugin",
                paramLabel = "BindingConditions",
                split = ",",
                description = {
                    "What to do: BindingConditions, to report allocated devices as ready to the"
                            + " scheduler, which waits for it. [ENABLE_PLUGIN]",
                    "Default: nothing"
                })
        private List<Plugin> plugins = List.of();

        /** The plugins of the controller, with the names of the community's. */
        private enum Plugin {
            BindingConditions
        }

        /** Returns whether devices are reported as ready. */
        boolean bindsDevices() {
            return plugins.contains(Plugin.BindingConditions);
        }
    }
}
