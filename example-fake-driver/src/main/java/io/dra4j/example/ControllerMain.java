// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.ReadinessCheck;
import io.dra4j.runtime.BindingController;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverProgram;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the example's controller as a program: one for a cluster, which reports allocated devices as
 * ready.
 */
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
        DriverMain.runController(args, PROGRAM, new ControllerOptions(), ControllerMain::controller);
    }

    private static BindingController controller(ControllerOptions options) {
        if (!options.bindsDevices()) {
            LOG.warn("There is nothing to do without --enable-plugin=BindingConditions");
        }
        ReadinessCheck check = options.bindsDevices() ? BoundDevices::ready : device -> List.of();
        return BindingController.of(options.driverName(), check).kubeconfig(options.kubeconfig());
    }
}
