// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.OptionSpec;

/** A table of options in Markdown, from the texts that {@code --help} prints. */
final class OptionTable {

    private static final Pattern VARIABLE = Pattern.compile(" ?\\[([A-Z][A-Z_]+(?:, or [A-Z_]+)*)]");
    private static final Pattern SETTING = Pattern.compile("^\\[([a-z][A-Za-z.]*)] ");
    private static final Pattern DEFAULT = Pattern.compile("\\s*Default: (.*)", Pattern.DOTALL);

    private OptionTable() {}

    /**
     * Renders options in the order of the help.
     *
     * @param alias what stands below an option: an environment variable, a setting of a file
     */
    static String of(String alias, List<OptionSpec> options) {
        StringBuilder table = new StringBuilder();
        table.append("| option").append(alias).append(" | meaning |\n");
        table.append("|---|---|\n");
        options.stream()
                .filter(option -> !option.hidden())
                .sorted(Comparator.comparingInt(OptionSpec::order))
                .forEach(option -> table.append(row(option)));
        return table.toString();
    }

    private static String row(OptionSpec option) {
        String text = String.join("\n", option.description()).replace("%n", "\n");
        Matcher alias = VARIABLE.matcher(text).find() ? VARIABLE.matcher(text) : SETTING.matcher(text);
        String names = alias.find() ? alias.group(1).replace(", or ", "`<br>`") : "";
        String described = alias.reset().replaceFirst("");
        Matcher standard = DEFAULT.matcher(described);
        String value = standard.find() ? value(option, standard.group(1)) : unsaid(option);
        String meaning = cell(standard.reset().replaceFirst(""));
        return "| `%s`%s | %s%s |\n"
                .formatted(
                        name(option),
                        names.isEmpty() ? "" : "<br>`" + names + "`",
                        meaning,
                        value.isEmpty() ? "" : "<br>Default: " + value);
    }

    private static String name(OptionSpec option) {
        String names = String.join(", ", option.names());
        boolean takesNothing = option.arity().max() == 0 || option.arity().min() == 0;
        return escaped(takesNothing ? names : names + " " + option.paramLabel());
    }

    private static String value(OptionSpec option, String text) {
        if (text.equals("null")) {
            return "the program's own"; // --driver-name: each program has another
        }
        boolean isLiteral = text.equals(option.defaultValue()) || text.matches("\\S*[0-9/{-]\\S*");
        return isLiteral ? code(text) : cell(text);
    }

    private static String unsaid(OptionSpec option) {
        boolean isSwitch = "true|false".equals(option.paramLabel());
        return isSwitch && option.defaultValue() != null ? code(option.defaultValue()) : "";
    }

    private static String code(String text) {
        return "`" + escaped(text) + "`";
    }

    private static String escaped(String text) {
        return text.replace("|", "\\|");
    }

    private static String cell(String text) {
        return escaped(text.strip().replace("\n", " "))
                .replace("<", "&lt;")
                .replace("*", "\\*")
                .replace("{{", "{ {");
    }
}
