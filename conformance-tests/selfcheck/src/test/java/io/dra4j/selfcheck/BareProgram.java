// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The command that starts the driver as a process; it is started hundreds of times. */
public final class BareProgram {

    static final String DRIVER = "gpu.example.com";

    private static List<String> archived; // guarded by the class

    private BareProgram() {}

    /** The command of the driver with options for this driver. */
    public static synchronized List<String> command(String... options) throws IOException, InterruptedException {
        if (archived == null) {
            JavaProgram program = new JavaProgram(
                    Path.of("target/bare-driver"),
                    Stream.concat(JavaProgram.SHORT_LIVED.stream(), Stream.of("-Xmx128m"))
                            .toList(),
                    JavaProgram.ownClassPath().stream()
                            .filter(BareProgram::isNeeded)
                            .toList(),
                    BareDriverMain.class.getName());
            archived = TestNode.archived(DRIVER, program);
        }
        return Stream.concat(archived.stream(), Stream.of(options)).toList();
    }

    /**
     * The mutants' own classes, the test kit and what the stubs stand on: nothing of the suite, and of test libraries that of {@link Answers}.
     */
    private static boolean isNeeded(String entry) {
        Path path = Path.of(entry);
        return Files.isDirectory(path.resolve("io/dra4j/selfcheck"))
                || Files.isDirectory(path.resolve("io/dra4j/testkit"))
                || entry.matches(
                        ".*/(grpc-|netty-|protobuf-|client-java-proto-|jackson-|snakeyaml-|byte-buddy-|guava|failureaccess|perfmark|annotations|dra4j-testkit-).*\\.jar");
    }
}
