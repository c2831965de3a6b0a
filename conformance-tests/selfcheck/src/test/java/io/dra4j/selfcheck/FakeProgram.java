// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The command that starts the example's fake driver as a process. */
public final class FakeProgram {

    static final String DRIVER = BareProgram.DRIVER;

    private static List<String> archived; // guarded by the class

    private FakeProgram() {}

    /** The command of the driver with some options. */
    public static synchronized List<String> command(String... options) {
        if (archived == null) {
            JavaProgram program = new JavaProgram(
                    Path.of("target/fake-driver"),
                    JavaProgram.SHORT_LIVED,
                    JavaProgram.ownClassPath().stream()
                            .filter(entry -> !entry.contains("/conformance-tests/"))
                            .toList(),
                    "io.dra4j.example.FakeDriverMain");
            try {
                archived = TestNode.archived(DRIVER, program);
            } catch (IOException | InterruptedException e) {
                throw new AssertionError("The fake driver's archive can't be made", e);
            }
        }
        return Stream.concat(archived.stream(), Stream.of(options)).toList();
    }
}
