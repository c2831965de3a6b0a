// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One complete DRA driver without the SDK; {@code --fault M-57} makes it one that has a fault, and
 * {@code --variant H-3} a conforming variant.
 */
public final class BareDriverMain {

    private BareDriverMain() {}

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        run(arguments, System.getenv(), stop -> Runtime.getRuntime().addShutdownHook(new Thread(stop)));
        Pauses.forEver();
    }

    /** Starts the driver for the life of the thread, and passes on how to stop it. */
    static void run(String[] arguments, Map<String, String> environment, Consumer<Runnable> onTerminate) {
        BareDriver driver;
        try {
            driver = create(Settings.parse(arguments, environment));
        } catch (IllegalArgumentException e) {
            Life.current().log(e.getMessage());
            Life.current().end(2);
            return;
        }
        onTerminate.accept(() -> stop(driver));
        try {
            driver.start();
        } catch (IOException | RuntimeException e) {
            Life.current().log("The driver can't start: " + e);
            Life.current().end(1);
        }
    }

    static BareDriver create(Settings given) {
        return AlteredDrivers.parts(given).make(BareDriver.class);
    }

    private static void stop(BareDriver driver) {
        driver.stop();
        Life.current().end(0);
    }
}
