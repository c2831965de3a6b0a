// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The tutorial shows what the archetype generates; GeneratedProjectIT of the archetype shows that it
 * compiles and passes its tests.
 */
class TutorialPageTest {

    private static final Path ARCHETYPE = Path.of("../example-fake-driver/archetype/src");
    private static final Path RESOURCES = ARCHETYPE.resolve("main/resources/archetype-resources");
    private static final Path BUILT = ARCHETYPE.resolve("test/java/io/dra4j/archetype/GeneratedProjectIT.java");
    private static final String PAGE = Pages.text(Pages.ROOT.resolve("tutorial/first-driver.md"));

    private static final Pattern CODE = Pattern.compile("^```java\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern PROPERTY = Pattern.compile("-D(groupId|artifactId|driverName|className)=\\S+");
    private static final Pattern FILE = Pattern.compile("`([\\w.]+)`(?=[^|]*\\|)");

    private static String generated() throws Exception {
        try (Stream<Path> files = Files.walk(RESOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .map(Pages::text)
                    .map(text -> text.replace("${className}", "Fpga"))
                    .map(text -> text.replace("${driverName}", "fpga.acme.com"))
                    .collect(Collectors.joining("\n"));
        }
    }

    @Test
    void showsTheCodeThatIsGenerated() throws Exception {
        List<String> shown =
                CODE.matcher(PAGE).results().map(code -> code.group(1)).toList();

        assertThat(shown).hasSize(2);
        String generated = generated();
        assertThat(shown).allSatisfy(code -> assertThat(generated).contains(indented(code)));
    }

    private static String indented(String code) {
        return code.indent(4).replaceAll("(?m)^ +$", "");
    }

    @Test
    void generatesItWithThePropertiesThatTheBuildTakes() {
        List<String> properties = PROPERTY.matcher(PAGE)
                .results()
                .map(MatchResult::group)
                .distinct()
                .toList();

        assertThat(properties).hasSize(4);
        String built = Pages.text(BUILT).replace("com.acme-labs", "com.acme");
        assertThat(properties).allSatisfy(property -> assertThat(built).contains('"' + property + '"'));
    }

    @Test
    void namesFilesThatAreThere() throws Exception {
        String table = PAGE.substring(PAGE.indexOf("| file |"), PAGE.indexOf("`FpgaProvider` offers"));
        List<String> named = table.lines()
                .skip(2)
                .map(row -> row.split("\\|").length > 1 ? row.split("\\|")[1] + "|" : "")
                .flatMap(cell -> FILE.matcher(cell).results().map(file -> file.group(1)))
                .map(name -> name.replace("Fpga", "__className__"))
                .toList();

        List<String> all;
        try (Stream<Path> files = Files.walk(RESOURCES)) {
            all = files.map(file -> file.getFileName().toString()).toList();
        }
        assertThat(named).hasSizeGreaterThan(5);
        assertThat(all).containsAll(named);
    }
}
