// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * Holds the documentation of the module at 100 %.
 *
 * <p>Javadoc's own check for missing comments can't be used: it wants each component of a record
 * described twice, at the record and at its compact constructor.
 */
class JavadocTest {

    private static final Path SOURCES = Path.of("src/main/java");

    @Test
    void everythingPublicIsDescribed() throws IOException {
        JavadocCheck check = new JavadocCheck();

        checkAll(check);

        assertThat(check.faults()).isEmpty();
        assertThat(check.checked()).as("elements that were checked").isGreaterThan(180);
    }

    private static void checkAll(JavadocCheck check) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (Stream<Path> files = Files.walk(SOURCES);
                StandardJavaFileManager manager =
                        compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<Path> sources =
                    files.filter(file -> file.toString().endsWith(".java"))
                            .filter(file -> !file.endsWith("module-info.java"))
                            .toList();
            JavacTask task =
                    (JavacTask)
                            compiler.getTask(
                                    null,
                                    manager,
                                    null,
                                    List.of(),
                                    null,
                                    manager.getJavaFileObjectsFromPaths(sources));
            List<CompilationUnitTree> units = new ArrayList<>();
            task.parse().forEach(units::add);
            units.forEach(unit -> check.scan(unit, DocTrees.instance(task)));
        }
    }
}
