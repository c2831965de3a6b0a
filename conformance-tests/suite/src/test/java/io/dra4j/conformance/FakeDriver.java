// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.example.FakeDriverMain;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The command that starts the example's fake driver as a process, with an archive of its classes. */
public final class FakeDriver {

    private FakeDriver() {}

    /** Returns the command without the driver's options. */
    public static synchronized List<String> command() {
        JavaProgram program = new JavaProgram(
                Path.of("target/fake-driver"),
                JavaProgram.SHORT_LIVED,
                JavaProgram.ownClassPath(),
                FakeDriverMain.class.getName());
        try {
            return TestNode.archived("gpu.example.com", program);
        } catch (IOException | InterruptedException e) {
            throw new AssertionError("The fake driver's archive can't be made", e);
        }
    }
}
