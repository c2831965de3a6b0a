// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.IOException;

/**
 * One complete DRA driver without the SDK; {@code --fault M-57} makes it one that has a fault, and
 * {@code --odd H-3} one that is unusual and well.
 */
public final class BareDriverMain {

    private BareDriverMain() {}

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        BareDriver driver;
        try {
            driver = create(Settings.parse(arguments, System.getenv()));
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            Runtime.getRuntime().halt(2);
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(driver)));
        try {
            driver.start();
        } catch (IOException | RuntimeException e) {
            System.err.println("The driver can't start: " + e);
            Runtime.getRuntime().halt(1);
        }
        Pauses.forEver();
    }

    static BareDriver create(Settings given) {
        Parts parts = new Parts();
        Faults.install(given.text("--fault", ""), parts);
        OddDrivers.install(given.text("--odd", ""), parts);
        return parts.driver.apply(parts.settings.apply(given));
    }

    private static void stop(BareDriver driver) {
        driver.stop();
        Runtime.getRuntime().halt(0);
    }
}
