// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Files of scenarios, which empty lines separate; the first part describes the file. */
public final class Scenarios {

    static final Path RESOURCES = Path.of("src/test/resources/io/dra4j/nvidia");
    private static final Pattern FOR = Pattern.compile("(?m)^for ([\\w ]+) : (.*)\n");

    private Scenarios() {}

    /**
     * Reads the scenarios of a file. One with a line {@code for a b : 1 2 | 3 4} is several, with each row's values in
     * place of <code>{a}</code> and <code>{b}</code>.
     */
    public static Stream<String> of(String file) throws IOException {
        return Stream.of(Files.readString(RESOURCES.resolve(file)).split("\n\n"))
                .skip(1)
                .flatMap(Scenarios::rows);
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
