// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import java.util.Objects;

/**
 * The name, summary and version of a driver program.
 *
 * @param name the program's name, as its users call it
 * @param summary one sentence for {@code --help}
 * @param defaultDriverName the driver's name where none is given, for instance {@code gpu.example.com}
 * @param main the program's main class: its jar's manifest has the version
 */
public record DriverProgram(String name, String summary, String defaultDriverName, Class<?> main) {

    /** Returns a program that is named after its driver. */
    static DriverProgram of(String driverName, Class<?> main) {
        return new DriverProgram(driverName, "The DRA driver " + driverName + ".", driverName, main);
    }

    /** Returns the version of the jar that the program came in. */
    String version() {
        return Objects.requireNonNullElse(main.getPackage().getImplementationVersion(), "(unpackaged)");
    }
}
