// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The map of modules, packages and C files: each line depends only on lines below it. */
class MapTest {

    private static final Pattern INCLUDE = Pattern.compile("(?m)^#include \"(?:.*/)?(\\w+)\\.h\"");

    private static final List<Path> C_FOLDERS = List.of(Path.of("nvidia-driver/src/main/c"));

    @Test
    void thePageHasTheMap() throws IOException {
        StringBuilder map = new StringBuilder("## The map\n\n"
                + "Each line depends only on lines below it: there are no cycles, in Java or in C. `MapTest`"
                + " generates this from the classes; `-Dreference.update=true` updates it.\n");
        append(map, "Modules", modules());
        for (String folder : withClasses().toList()) {
            append(
                    map,
                    "`" + folder + "`: packages of `" + Module.ALL.get(folder).top() + "`",
                    packages(folder));
        }
        for (Path folder : C_FOLDERS) {
            append(map, "`" + folder + "`", filesOfC(Module.ROOT.resolve(folder)));
        }

        Pages.assertRendered(Pages.ROOT.resolve("explanation/code.md"), "## The map\n", map.toString());
    }

    @Test
    void aCircleHasNoMap() {
        assertThatThrownBy(() -> levels(Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of("b"))))
                .hasMessageContaining("[a, b, c]");
    }

    private static Stream<String> withClasses() {
        return Module.ALL.keySet().stream()
                .filter(folder -> !Module.ALL.get(folder).top().isEmpty())
                .sorted();
    }

    private static void append(StringBuilder map, String title, Map<String, Set<String>> uses) {
        List<Set<String>> levels = levels(uses);
        if (levels.size() > 1) {
            map.append("\n### ").append(title).append("\n\n| | |\n|--:|---|\n");
            for (int level = levels.size(); level > 0; level--) {
                String names = levels.get(level - 1).stream()
                        .map(name -> "`" + name + "`")
                        .collect(Collectors.joining(", "));
                map.append("| ").append(level).append(" | ").append(names).append(" |\n");
            }
        }
    }

    /** Returns the names by level, from those that use no other. */
    private static List<Set<String>> levels(Map<String, Set<String>> uses) {
        Map<String, Set<String>> left = new TreeMap<>(uses);
        List<Set<String>> levels = new ArrayList<>();
        while (!left.isEmpty()) {
            Set<String> level = left.keySet().stream()
                    .filter(name ->
                            left.get(name).stream().noneMatch(used -> !used.equals(name) && left.containsKey(used)))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertThat(level).as("in, or above, a cycle: %s", left.keySet()).isNotEmpty();
            left.keySet().removeAll(level);
            levels.add(level);
        }
        return levels;
    }

    private static Map<String, Set<String>> modules() {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (String folder : withClasses().toList()) {
            List<String> used = used(folder).toList();
            uses.put(
                    folder, withClasses().filter(other -> hasOneOf(used, other)).collect(Collectors.toSet()));
        }
        return uses;
    }

    private static boolean hasOneOf(List<String> packages, String folder) {
        String top = Module.ALL.get(folder).top() + ".";
        return packages.stream().anyMatch(name -> (name + ".").startsWith(top));
    }

    private static Stream<String> used(String folder) {
        return Module.classesOf(folder).stream()
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .map(Dependency::getTargetClass)
                .map(JavaClass::getPackageName);
    }

    private static Map<String, Set<String>> packages(String folder) {
        String top = Module.ALL.get(folder).top();
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass type : Module.classesOf(folder)) {
            Set<String> used = uses.computeIfAbsent(below(top, type), name -> new TreeSet<>());
            type.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .filter(target -> (target.getPackageName() + ".").startsWith(top + "."))
                    .forEach(target -> used.add(below(top, target)));
        }
        return uses;
    }

    private static String below(String top, JavaClass type) {
        String name = type.getPackageName().substring(top.length());
        return name.isEmpty() ? "." : name.substring(1);
    }

    /** A file and its header are one; it uses those whose headers it includes. */
    private static Map<String, Set<String>> filesOfC(Path folder) throws IOException {
        Map<String, Set<String>> uses = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(file -> file.toString().matches(".*\\.[ch]")).toList()) {
                String name = file.getFileName().toString().replaceAll("\\.[ch]$", "");
                Set<String> used = uses.computeIfAbsent(name, any -> new TreeSet<>());
                INCLUDE.matcher(Files.readString(file))
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .forEach(used::add);
            }
        }
        return uses;
    }
}
