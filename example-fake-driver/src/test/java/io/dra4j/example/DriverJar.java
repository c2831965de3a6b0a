// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The runnable jar, started with an archive of its classes. */
final class DriverJar {

    static final Path PATH = Path.of("target/dra4j-example-fake-driver.jar").toAbsolutePath();

    private DriverJar() {}

    /** Returns the command without the driver's options. */
    static synchronized List<String> command() {
        try {
            return TestNode.archived("gpu.example.com", program(FakeDriverMain.class));
        } catch (IOException | InterruptedException e) {
            throw new AssertionError("The driver's archive can't be made", e);
        }
    }

    static JavaProgram program(Class<?> main) {
        return new JavaProgram(
                Path.of("target/archive"), JavaProgram.SHORT_LIVED, List.of(PATH.toString()), main.getName());
    }
}
