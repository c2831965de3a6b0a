// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.AnswersOfNvml.Use;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page on the cost of each answer of NVML: each function that the driver calls is injected with
 * each code, and the page has what was observed.
 */
@Tag("nightly")
class NvmlAnswersPageTest {

    private static final Path PAGE = Path.of("../docs-site/reference/nvml-answers.md");

    private static final Pattern FUNCTION = Pattern.compile("\"(nvml[A-Z]\\w+)\"");

    /** A field of a struct, and a function that returns a text. */
    private static final Set<String> WITHOUT_CODE = Set.of("nvmlReturn", "nvmlErrorString");

    @TempDir
    private static Path folder;

    /** Returns the page with its own text before the tables. */
    private static String page() throws IOException {
        StringBuilder page = new StringBuilder(Files.readString(PAGE).split("(?m)^## In ", 2)[0]);
        AnswersOfNvml answers = new AnswersOfNvml(folder);
        Set<String> ofReading = new HashSet<>();
        for (Use use : Use.values()) {
            page.append(table(answers, use, ofReading));
            answers.endSessions();
        }
        return page.toString().stripTrailing() + "\n";
    }

    private static String table(AnswersOfNvml answers, Use use, Set<String> ofReading) {
        Set<String> codes = AnswersOfNvml.CODES.keySet();
        StringBuilder table = new StringBuilder();
        table.append("## In ").append(use.title).append("\n\n| function | ");
        table.append(String.join(" | ", codes)).append(" |\n|");
        table.append("---|".repeat(codes.size() + 1)).append('\n');
        for (String function : StandInNode.functions()) {
            if (use == Use.UNPRIVILEGED && ofReading.contains(function)) {
                continue;
            }
            List<String> costs = answers.costs(use, function);
            if (!costs.isEmpty()) {
                String cells = String.join(" | ", costs);
                table.append("| `%s` | %s |%n".formatted(function, cells));
                if (use == Use.READING) {
                    ofReading.add(function);
                }
            }
        }
        return table.append('\n').toString();
    }

    private static Set<String> called() throws IOException {
        Set<String> called = new TreeSet<>();
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            for (Path source : sources.filter(Files::isRegularFile).toList()) {
                Matcher names = FUNCTION.matcher(Files.readString(source));
                while (names.find()) {
                    called.add(names.group(1));
                }
            }
        }
        called.removeAll(WITHOUT_CODE);
        return called;
    }

    @Test
    void hasWhatWasObservedForEachFunctionThatTheDriverCalls() throws Exception {
        String page = page();
        assertThat(page.lines().filter(line -> line.contains(AnswersOfNvml.WRONG + ":")))
                .isEmpty();
        if (Boolean.getBoolean("reference.update")) {
            Files.writeString(PAGE, page);
        }

        assertThat(PAGE)
                .as("if it is stale, -Dreference.update=true updates it")
                .hasContent(page);
        assertThat(called()).allSatisfy(function -> assertThat(page).contains("| `" + function));
    }
}
