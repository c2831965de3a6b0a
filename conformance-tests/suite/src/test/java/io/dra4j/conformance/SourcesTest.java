// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the sources of all modules have in common, as far as a parser can tell. */
class SourcesTest {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final List<String> MODULES =
            List.of(
                    "sdk-api",
                    "sdk-runtime",
                    "example-fake-driver",
                    "conformance-tests/testkit",
                    "conformance-tests/suite",
                    "conformance-tests/selfcheck",
                    "nvidia-driver");

    /** Where whatever is thrown ends, so that one claim, one round or one request fails alone. */
    private static final Set<String> EDGES =
            Set.of(
                    "ClaimCalls", // a call of the kubelet
                    "Preparation", // what a provider throws for a claim
                    "Unpreparation", // the same
                    "Journal", // the file of an odd journal, which is given back
                    "JournalFile", // its channel is closed, whatever ends the opening
                    "JournalThread", // whoever waits for a write must hear of it
                    "JournalStore", // nobody knows then what is in the file
                    "Admission", // what a check throws is the caller's
                    "BindingLoop", // what a binder throws
                    "RunningClaims", // what is due behind the scenes
                    "InventoryReader", // what a provider throws for its inventory
                    "InventoryWriter", // a bug that one pool brings out
                    "SlicePublisher", // a round of the loop
                    "RunningDriver", // what a provider throws at its start, and the end of each
                    // part
                    "SelfTests", // what a test of the fake hardware throws
                    "NoticeBoard", // what a host's listener throws
                    "DriverMain", // the end of the program
                    "ApiHandler", // a request to the embedded server
                    "EmbeddedApiServer", // Jetty declares no less for start and stop
                    "ApiProxy", // the same
                    "Listener", // the same
                    "Trial", // whatever a rule of the suite throws
                    "Play"); // a step of the play, and the end of each part

    private static final List<Path> FILES = new ArrayList<>();
    private static final SourceFacts FACTS = new SourceFacts();

    @BeforeAll
    static void parse() throws IOException {
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(FILES::add);
            }
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager =
                compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            JavacTask task =
                    (JavacTask)
                            compiler.getTask(
                                    null,
                                    manager,
                                    null,
                                    List.of(),
                                    null,
                                    manager.getJavaFileObjectsFromPaths(FILES));
            for (CompilationUnitTree unit : task.parse()) {
                FACTS.scan(unit, Trees.instance(task).getSourcePositions());
            }
        }
    }

    @Test
    void everyModuleWasRead() {
        assertThat(MODULES)
                .allSatisfy(
                        module ->
                                assertThat(FILES)
                                        .as(module)
                                        .anyMatch(file -> file.startsWith(ROOT.resolve(module))));
        assertThat(FACTS.methods().size()).isGreaterThan(1500);
    }

    @Test
    void filesAreShort() {
        assertThat(FILES)
                .filteredOn(file -> lines(file).size() > (isTest(file) ? 500 : 400))
                .isEmpty();
    }

    @Test
    void methodsAreShort() {
        assertThat(FACTS.methods())
                .filteredOn(method -> method.lines() > (isTest(method.place().file()) ? 50 : 40))
                .isEmpty();
    }

    @Test
    void onlyTheEdgesCatchEverything() {
        Set<String> catching =
                FACTS.broadCatches().stream()
                        .filter(place -> !isTest(place.file()))
                        .map(SourceFacts.Place::simpleName)
                        .collect(Collectors.toSet());

        assertThat(catching).containsExactlyInAnyOrderElementsOf(EDGES);
    }

    @Test
    void testsDoNotSleep() {
        assertThat(FACTS.sleeps()).filteredOn(place -> isTest(place.file())).isEmpty();
    }

    @Test
    void everyPackageSaysWhereItStandsInTheFlow() {
        assertThat(FILES)
                .filteredOn(file -> file.endsWith("package-info.java"))
                .isNotEmpty()
                .allSatisfy(file -> assertThat(Files.readString(file)).contains("<p>Flow: "));
    }

    @Test
    void nothingIsLeftForLater() {
        String marks = ".*\\b(TO" + "DO|FIX" + "ME|X{3})\\b.*";

        assertThat(FILES)
                .filteredOn(file -> lines(file).stream().anyMatch(line -> line.matches(marks)))
                .isEmpty();
    }

    private static boolean isTest(Path file) {
        return file.toString().contains("/src/test/");
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
