// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.settings.SettingsException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The flags of commands that run a driver. Each stands for a setting, and overrides it.
 */
@Command(resourceBundle = "io.dra4j.conformance.options")
final class TestedDriverOptions {

    /** The line by which commands with these flags explain the brackets. */
    static final String PLACES = "Each flag overrides the setting in [brackets] of the file of --config.";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern PLACE = Pattern.compile("^\\[([A-Za-z.]+)]");

    @Option(names = "--config", paramLabel = "FILE")
    private @Nullable Path config;

    @ArgGroup(validate = false, order = 1, heading = "%nThe driver:%n")
    private final DriverGroup driver = new DriverGroup();

    @ArgGroup(validate = false, order = 2, heading = "%nA driver that is run externally:%n")
    private final ExternalGroup external = new ExternalGroup();

    @ArgGroup(validate = false, order = 3, heading = "%nThe API server:%n")
    private final ApiServerGroup apiServer = new ApiServerGroup();

    @ArgGroup(validate = false, order = 4, heading = "%nTimeouts and randomness:%n")
    private final ChanceGroup chance = new ChanceGroup();

    @Parameters(
            arity = "0..*",
            paramLabel = "COMMAND",
            description =
                    "[driver.process.command] How to run the driver: a program and its arguments, after --. {NODE_NAME}, {KUBECONFIG}, {CDI_ROOT} and the like stand for their values; they are also in its environment. Signals reach only the process that this starts: a script has to exec the driver.")
    private @Nullable List<String> command;

    /** The driver's identity. */
    private static final class DriverGroup {
        @Option(names = "--driver-name", paramLabel = "NAME")
        private @Nullable String name;

        @Option(names = "--kind", paramLabel = "process|external")
        private @Nullable String kind;

        @Option(names = "--env", paramLabel = "NAME=VALUE")
        private @Nullable Map<String, String> environment;

        @Option(names = "--standard-paths")
        private @Nullable Boolean standardPaths;

        @Option(names = "--in-cluster")
        private @Nullable Boolean inCluster;

        @Option(names = "--make-directory", paramLabel = "DIR")
        private @Nullable List<String> makeDirectories;

        @Option(names = "--nri")
        private @Nullable Boolean nri;

        @Option(names = "--serial")
        private @Nullable Boolean serial;

        @Option(names = "--start-timeout", paramLabel = "SECONDS")
        private @Nullable Integer startTimeout;

        @Option(names = "--seamless-upgrade")
        private @Nullable Boolean seamlessUpgrade;

        @Option(names = "--state-files", paramLabel = "GLOB")
        private @Nullable String stateFiles;

        @Option(names = "--empty-when-unprepared", paramLabel = "GLOB")
        private @Nullable List<String> emptyWhenUnprepared;

        @Option(names = "--declare", split = ",", paramLabel = "CAPABILITY")
        private @Nullable List<String> declares;

        @Option(names = "--hook", paramLabel = "NAME=COMMAND")
        private @Nullable Map<String, String> hooks;

        @Option(names = "--claims", paramLabel = "FILE")
        private @Nullable List<String> claims;

        @Option(names = "--cdi-version", paramLabel = "VERSION")
        private @Nullable String cdiVersion;

        @Option(names = "--cdi-directory", paramLabel = "DIR")
        private @Nullable List<String> cdiDirectories;

        @Option(names = "--metrics", paramLabel = "URL")
        private @Nullable String metrics;

        @Option(names = "--valid-config", paramLabel = "JSON")
        private @Nullable List<String> validConfigs;

        @Option(names = "--invalid-config", paramLabel = "JSON")
        private @Nullable List<String> invalidConfigs;

        @Option(names = "--config-precedence", paramLabel = "last|merge|reject-multiple")
        private @Nullable String precedence;
    }

    /** The place of a driver that is run externally. */
    private static final class ExternalGroup {
        @Option(names = "--node", paramLabel = "NAME")
        private @Nullable String node;

        @Option(names = "--registry", paramLabel = "DIR")
        private @Nullable String registry;

        @Option(names = "--plugins", paramLabel = "DIR")
        private @Nullable String plugins;

        @Option(names = "--cdi", paramLabel = "DIR")
        private @Nullable String cdi;

        @Option(names = "--proxy-port", paramLabel = "PORT")
        private @Nullable Integer proxyPort;

        @Option(names = "--log", paramLabel = "FILE")
        private @Nullable String log;
    }

    /** The API server that the driver and the suite use. */
    private static final class ApiServerGroup {
        @Option(names = "--kubernetes", paramLabel = "VERSION")
        private @Nullable String kubernetes;

        @Option(names = "--k8s", hidden = true, description = "[apiServer.kubernetes] The old name of --kubernetes.")
        private @Nullable String k8s;

        @Option(names = "--feature-gates", split = ",", paramLabel = "GATE=true|false")
        private @Nullable Map<String, Boolean> featureGates;

        @Option(names = "--kubeconfig", paramLabel = "FILE")
        private @Nullable String kubeconfig;

        @Option(names = "--context", paramLabel = "NAME")
        private @Nullable String context;

        @Option(names = "--service-account", paramLabel = "NAMESPACE/NAME")
        private @Nullable String serviceAccount;

        @Option(names = "--manifests", paramLabel = "FILE")
        private @Nullable List<String> manifests;
    }

    /** The timeout factor and the seed. */
    private static final class ChanceGroup {
        @Option(names = "--timeout-factor", paramLabel = "FACTOR")
        private @Nullable Double timeoutFactor;

        @Option(names = "--patience", hidden = true, description = "[timeoutFactor] The old name of --timeout-factor.")
        private @Nullable Double patience;

        @Option(names = "--seed", paramLabel = "NUMBER")
        private @Nullable Long seed;
    }

    /** The settings of a parsed command line: the file of --config, and the flags over it. */
    static Settings settings(CommandSpec spec) {
        Map<String, JsonNode> flags = new LinkedHashMap<>();
        for (ArgSpec arg : spec.args()) {
            Matcher place = PLACE.matcher(String.join("", arg.description()));
            if (place.find() && arg.getValue() != null) {
                String name = arg instanceof OptionSpec option ? option.longestName() : "";
                String pointer = "/" + place.group(1).replace('.', '/');
                if (flags.containsKey(pointer)) {
                    throw new SettingsException("%s and its old name are both given".formatted(name));
                }
                put(flags, name, pointer, arg.getValue());
            }
        }
        Path file = spec.findOption("--config").getValue();
        return file == null ? SettingsReader.parse("", "the command line", flags) : SettingsReader.read(file, flags);
    }

    /** The longest name of an option, or the label of a positional parameter. */
    static String name(ArgSpec arg) {
        return arg instanceof OptionSpec option ? option.longestName() : arg.paramLabel();
    }

    private static void put(Map<String, JsonNode> flags, String option, String pointer, Object value) {
        switch (option) {
            case "--hook" ->
                ((Map<?, ?>) value).forEach((hook, line) -> flags.put(pointer + "/" + hook, JSON.valueToTree(line)));
            case "--valid-config", "--invalid-config" ->
                flags.put(
                        pointer,
                        JSON.valueToTree(((List<?>) value)
                                .stream().map(text -> json(option, text)).toList()));
            default -> flags.put(pointer, JSON.valueToTree(value));
        }
    }

    private static JsonNode json(String option, Object text) {
        try {
            return JSON.readTree(text.toString());
        } catch (JsonProcessingException e) {
            throw new SettingsException(option + " is not JSON: " + e.getOriginalMessage());
        }
    }
}
