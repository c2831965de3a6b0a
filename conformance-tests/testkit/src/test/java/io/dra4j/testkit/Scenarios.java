// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.AnnotationBasedArgumentsProvider;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * A test of each scenario in text files, which are with the resources of the test's package. Empty lines separate the
 * scenarios, each begins with its title after {@code #}, and the first part describes the file. A scenario with a line
 * {@code for a b : 1 2 | 3 4} is several, with each row's values in place of <code>{a}</code> and <code>{b}</code>.
 */
@ParameterizedTest
@ArgumentsSource(Scenarios.Reader.class)
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Scenarios {

    /** The names of the files. */
    String[] value();

    /** Reads the files. */
    final class Reader extends AnnotationBasedArgumentsProvider<Scenarios> {
        private static final Pattern FOR = Pattern.compile("(?m)^for ([\\w ]+) : (.*)\n");

        @Override
        protected Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context, Scenarios scenarios) {
            String folder = context.getRequiredTestClass().getPackageName().replace('.', '/');
            return Stream.of(scenarios.value())
                    .map(file -> Path.of("src/test/resources", folder, file))
                    .flatMap(Reader::scenarios)
                    .flatMap(Reader::rows)
                    .map(scenario -> Arguments.argumentSet(scenario.split("\n")[0], scenario));
        }

        private static Stream<String> scenarios(Path file) {
            List<String> parts = List.of(read(file).split("\n\n"));
            List<String> scenarios = parts.subList(1, parts.size());
            if (!isComment(parts.get(0)) || scenarios.isEmpty()) {
                throw new IllegalArgumentException(file + " has no scenarios after a description");
            }
            scenarios.stream()
                    .filter(scenario -> !scenario.startsWith("# ") || isComment(scenario))
                    .findFirst()
                    .ifPresent(scenario -> {
                        throw new IllegalArgumentException(file + " has no title or no steps here: " + scenario);
                    });
            return scenarios.stream();
        }

        private static boolean isComment(String part) {
            return part.lines().allMatch(line -> line.startsWith("#"));
        }

        private static String read(Path file) {
            try {
                return Files.readString(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static Stream<String> rows(String scenario) {
            Matcher found = FOR.matcher(scenario);
            return found.find()
                    ? Stream.of(found.group(2).split(" \\| ", -1)).map(row -> filled(found, row))
                    : Stream.of(scenario);
        }

        private static String filled(Matcher found, String row) {
            String[] names = found.group(1).split(" ");
            String[] values = row.split(" ", names.length);
            String scenario = found.replaceFirst("");
            for (int i = 0; i < names.length; i++) {
                scenario = scenario.replace("{" + names[i] + "}", values[i]);
            }
            return scenario;
        }
    }
}
