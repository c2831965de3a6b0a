// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The page of settings has what the programs' command lines say; {@code -Dreference.update} updates
 * it. It is here because this module is built last and sees all programs.
 */
class SettingsPageTest {

    private static final Path PAGE = Pages.ROOT.resolve("reference/settings.md");
    private static final String FIRST = "## Every driver\n";
    private static final String VARIABLE = ", variable";
    private static final String SETTING = ", setting in the file";
    private static final Set<String> OF_EVERY_COMMAND = Set.of("--help", "--version");

    @Test
    void isWhatTheCommandLinesSay() throws Exception {
        Pages.assertRendered(PAGE, FIRST, drivers() + conformance());
    }

    private static String drivers() {
        return FIRST
                + "\n"
                + OptionTable.of(VARIABLE, Programs.EVERY_DRIVER.options())
                + "\n### webhook\n\n"
                + "`webhook`, given before the options of a driver's program, runs [its webhook](../how-to/configure-devices.md#refuse-wrong-configurations-early). It also takes the driver's options; `--help` shows which of them it needs.\n\n"
                + OptionTable.of(VARIABLE, Programs.WEBHOOK.options())
                + "\n### claim-metrics\n\n"
                + "`claim-metrics`, given instead of the options of a driver's program, serves [how long claims of the cluster wait](../how-to/monitor.md#how-long-claims-wait). Of the driver's options it accepts `--driver-name`, `--kubeconfig` and those of the log. In addition:\n\n"
                + OptionTable.of(VARIABLE, own(Programs.CLAIM_METRICS, Programs.CONTROLLER))
                + "\n### controller\n\n"
                + "`controller`, given before the options of a driver's program, [publishes pools of several nodes](../how-to/write-your-provider.md#devices-of-several-nodes), if the program has any. It also takes the driver's options.\n\n"
                + OptionTable.of(VARIABLE, Programs.POOL_CONTROLLER.options())
                + "\n### maintenance\n\n"
                + "`maintenance on`, `off` or `status`, given instead of options, [takes the devices of a node out of use](../how-to/operate-a-node.md#maintenance). Of the driver's options it reads only those with a variable in this table.\n\n"
                + OptionTable.of(VARIABLE, Programs.MAINTENANCE.options())
                + "\n### doctor\n\n"
                + "`doctor`, given before the options of a driver's program, [finds what is wrong with the node](../how-to/find-what-is-wrong.md#a-node-by-its-driver). It also takes the driver's options.\n\n"
                + OptionTable.of(VARIABLE, Programs.DOCTOR.options())
                + "\n## The fake driver\n\n"
                + "`dra4j-example-fake-driver`, in addition to those of every driver:\n\n"
                + OptionTable.of(VARIABLE, own(Programs.FAKE_DRIVER, Programs.EVERY_DRIVER))
                + "\n### dra4j-example-controller\n\n"
                + OptionTable.of(VARIABLE, Programs.CONTROLLER.options())
                + "\n## The NVIDIA driver\n\n"
                + "`dra4j-nvidia-driver`, in addition to those of every driver:\n\n"
                + OptionTable.of(VARIABLE, own(Programs.NVIDIA_DRIVER, Programs.EVERY_DRIVER))
                + "\n### dra4j-nvidia-driver probe\n\n"
                + OptionTable.of(VARIABLE, Programs.PROBE.options())
                + "\n### dra4j-nvidia-driver template\n\n"
                + OptionTable.of(VARIABLE, Programs.TEMPLATE.options());
    }

    private static List<OptionSpec> own(CommandSpec program, CommandSpec shared) {
        Set<String> known = Programs.names(shared);
        return program.options().stream()
                .filter(option -> !known.contains(option.longestName()))
                .toList();
    }

    private static String conformance() {
        StringBuilder text = new StringBuilder("\n## dra-conformance\n");
        CommandSpec run = Programs.commands().get("run");
        for (Map.Entry<String, CommandSpec> command : Programs.commands().entrySet()) {
            text.append("\n### dra-conformance ").append(command.getKey()).append("\n\n");
            text.append(command(command.getValue(), run));
        }
        return text.toString();
    }

    /** The options of {@code run} are not repeated where another command has them in its groups. */
    private static String command(CommandSpec command, CommandSpec run) {
        List<OptionSpec> alone = command.options().stream()
                .filter(option -> option.group() == null)
                .filter(option -> !OF_EVERY_COMMAND.contains(option.longestName()))
                .toList();
        boolean hasSettings = !command.argGroups().isEmpty();
        String alias = hasSettings ? SETTING : VARIABLE;
        String table = alone.isEmpty() ? "It has no options.\n" : OptionTable.of(alias, alone);
        if (!hasSettings) {
            return table.replace(VARIABLE, "");
        }
        String groups = command == run
                ? command.argGroups().stream().map(SettingsPageTest::group).collect(Collectors.joining())
                : "\nIn addition, those of `run` about %s.\n".formatted(headings(command));
        return table + groups;
    }

    private static String group(ArgGroupSpec group) {
        return "\n"
                + heading(group)
                + ":\n\n"
                + OptionTable.of(SETTING, group.options().stream().toList());
    }

    private static String headings(CommandSpec command) {
        return command.argGroups().stream()
                .map(SettingsPageTest::heading)
                .map(text -> text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1))
                .collect(Collectors.joining(", "));
    }

    private static String heading(ArgGroupSpec group) {
        return group.heading().replace("%n", "").replace(":", "").strip();
    }

    /** A table of options in Markdown, from the texts that {@code --help} prints. */
    private static final class OptionTable {

        private static final Pattern VARIABLE = Pattern.compile(" ?\\[\\$?([A-Z][A-Z_]+(?:, or [A-Z_]+)*)]");
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
}
