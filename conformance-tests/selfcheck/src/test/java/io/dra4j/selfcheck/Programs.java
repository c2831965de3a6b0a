// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The commands that start drivers as processes, from archives of their classes: they are started hundreds of times. */
public final class Programs {

    static final String DRIVER = "gpu.example.com";

    private static final Map<String, List<String>> ARCHIVED = new HashMap<>(); // guarded by the class

    private Programs() {}

    /** The bare driver with options for it. */
    public static List<String> bare(String... options) {
        List<String> small = Stream.concat(JavaProgram.SHORT_LIVED.stream(), Stream.of("-Xmx128m"))
                .toList();
        return command("bare-driver", small, Programs::isOfBareDriver, BareDriverMain.class.getName(), options);
    }

    /**
     * The mutants' own classes, the test kit and what the stubs stand on: nothing of the suite, and of test libraries that of {@link Answers}.
     */
    private static boolean isOfBareDriver(String entry) {
        Path path = Path.of(entry);
        return Files.isDirectory(path.resolve("io/dra4j/selfcheck"))
                || Files.isDirectory(path.resolve("io/dra4j/testkit"))
                || entry.matches(
                        ".*/(grpc-|netty-|protobuf-|client-java-proto-|jackson-|snakeyaml-|byte-buddy-|guava|failureaccess|perfmark|annotations|dra4j-testkit-).*\\.jar");
    }

    /** The example's fake driver with options. */
    public static List<String> fake(String... options) {
        Predicate<String> notOfTests = entry -> !entry.contains("/conformance-tests/");
        return command("fake-driver", JavaProgram.SHORT_LIVED, notOfTests, "io.dra4j.example.FakeDriverMain", options);
    }

    private static synchronized List<String> command(
            String name, List<String> jvm, Predicate<String> needed, String main, String... options) {
        List<String> archived = ARCHIVED.computeIfAbsent(name, missing -> {
            List<String> classPath =
                    JavaProgram.ownClassPath().stream().filter(needed).toList();
            try {
                return TestNode.archived(DRIVER, new JavaProgram(Path.of("target", name), jvm, classPath, main));
            } catch (IOException | InterruptedException e) {
                throw new AssertionError("The archive of the %s can't be made".formatted(name), e);
            }
        });
        return Stream.concat(archived.stream(), Stream.of(options)).toList();
    }
}
