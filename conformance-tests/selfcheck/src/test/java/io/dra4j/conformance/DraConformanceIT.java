// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.example.FakeGpuProvider;
import io.dra4j.testkit.driver.Ended;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** The reports of a run in JUnit, and the names of its tests. */
class DraConformanceIT {

    private final Set<Path> roots = ConcurrentHashMap.newKeySet();

    private List<DynamicTest> tests() {
        return tests(
                "DRA-INFO-01, DRA-PREP-01, DRA-PREP-09, DRA-PREP-32, DRA-SLICE-01, DRA-SLICE-19, DRA-CDI-02", roots);
    }

    private static List<DynamicTest> tests(String ids, Set<Path> roots) {
        return DraConformance.of("gpu.example.com", place -> {
                    roots.add(place.root());
                    return new FakeGpuProvider(place.driver(), place.node(), 4);
                })
                .settings("only: [" + ids + "]")
                .tests()
                .flatMap(DraConformanceIT::leaves)
                .toList();
    }

    private static Stream<DynamicTest> leaves(DynamicNode node) {
        return node instanceof DynamicContainer container
                ? container.getChildren().flatMap(DraConformanceIT::leaves)
                : Stream.of((DynamicTest) node);
    }

    @Test
    void nothingOfItStaysInTheTemporaryDirectory() throws Throwable {
        int passed = 0;
        for (DynamicTest test : tests()) {
            try {
                test.getExecutable().execute();
                passed++;
            } catch (TestAbortedException e) {
                assertThat(e).hasMessageContaining("Assumption failed");
            }
        }

        assertThat(passed).isGreaterThanOrEqualTo(7);
        assertThat(roots).isNotEmpty().allSatisfy(root -> assertThat(root).doesNotExist());
    }

    /** Hostile input, in a JVM with the logging that tests of a vendor have by default. */
    public static void main(String[] args) throws Throwable {
        for (DynamicTest test : tests("DRA-SEC-03", new HashSet<>())) {
            if (test.getDisplayName().startsWith("DRA-SEC-03")) {
                test.getExecutable().execute();
            }
        }
        System.exit(0);
    }

    @Test
    void aRunPrintsNothingOfTheLibraries() throws Exception {
        List<String> command = List.of(Ended.jdk("java"), "-cp", System.getProperty("java.class.path"));

        assertThat(Ended.of(Map.of(), command, getClass().getName()).printed())
                .doesNotContain(
                        "SEVERE", "INFO", "io.grpc.okhttp", "SerializingExecutor", "io.netty", "org.eclipse.jetty");
    }

    /** Surefire names dynamic tests by their numbers unless they have a source of their own. */
    @Test
    void eachTestHasASourceOfItsOwn() {
        assertThat(tests())
                .allSatisfy(test -> assertThat(test.getTestSourceUri())
                        .get()
                        .hasToString("classpath:/io/dra4j/conformance/requirements/requirements.yaml"))
                .extracting(DynamicTest::getDisplayName)
                .anyMatch(name -> name.startsWith("DRA-PREP-01: "));
        assertThat(roots).isEmpty();
    }
}
