// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsException;
import io.dra4j.conformance.settings.SettingsReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The flags of commands that run a driver: each has its place in the settings, and wins there. */
final class RunOptions {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The settings as YAML; `init` writes one with comments.")
    @Nullable Path config;

    @Option(
            names = "--driver-name",
            paramLabel = "NAME",
            description = "The driver's name, as in its slices. [driver.name]")
    @Nullable String driverName;

    @Option(
            names = "--kind",
            paramLabel = "process|external",
            description = "Who runs the driver. [driver.kind]")
    @Nullable String kind;

    @Option(
            names = "--env",
            paramLabel = "NAME=VALUE",
            description = "Environment of the driver's process. [driver.process.environment]")
    @Nullable Map<String, String> environment;

    @Option(
            names = "--start-timeout",
            paramLabel = "SECONDS",
            description = "How long until the driver is registered. [driver.startTimeoutSeconds]")
    @Nullable Integer startTimeout;

    @Option(
            names = "--seamless-upgrade",
            description =
                    "Two instances may run side by side, told apart by POD_UID."
                            + " [driver.seamlessUpgrade]")
    @Nullable Boolean seamlessUpgrade;

    @Option(
            names = "--state-files",
            paramLabel = "GLOB",
            description = "Where the driver remembers claims. [driver.stateFiles]")
    @Nullable String stateFiles;

    @Option(
            names = "--declare",
            split = ",",
            paramLabel = "CAPABILITY",
            description = "What the driver can do, such as adm or taint. [driver.declares]")
    @Nullable List<String> declares;

    @Option(
            names = "--hook",
            paramLabel = "NAME=COMMAND",
            description =
                    "A command, run by sh, that changes what the driver sees: plug, unplug, fault,"
                            + " recover, reboot. [driver.hooks]")
    @Nullable Map<String, String> hooks;

    @Option(
            names = "--cdi-version",
            paramLabel = "VERSION",
            description = "The newest CDI version that the runtimes read. [driver.cdiVersion]")
    @Nullable String cdiVersion;

    @Option(
            names = "--metrics",
            paramLabel = "URL",
            description = "Where the driver's metrics are. [driver.metrics]")
    @Nullable String metrics;

    @Option(
            names = "--valid-config",
            paramLabel = "JSON",
            description =
                    "An opaque configuration that the driver accepts, and what shows its effect:"
                            + " {\"parameters\": {...}, \"effect\": \"REGEX\"}."
                            + " [driver.configs.valid]")
    @Nullable List<String> validConfigs;

    @Option(
            names = "--invalid-config",
            paramLabel = "JSON",
            description = "Parameters that the driver must refuse. [driver.configs.invalid]")
    @Nullable List<String> invalidConfigs;

    @Option(
            names = "--config-precedence",
            paramLabel = "last|merge|reject-multiple",
            description = "Which of several it uses. [driver.configs.precedence]")
    @Nullable String precedence;

    @Option(
            names = "--implementation",
            paramLabel = "NAME=VALUE",
            description =
                    "For the report: organization, project, url, version, contact, language."
                            + " [implementation]")
    @Nullable Map<String, String> implementation;

    @Option(names = "--node", paramLabel = "NAME", description = "[driver.external.node]")
    @Nullable String node;

    @Option(names = "--registry", paramLabel = "DIR", description = "[driver.external.registry]")
    @Nullable String registry;

    @Option(names = "--plugins", paramLabel = "DIR", description = "[driver.external.plugins]")
    @Nullable String plugins;

    @Option(names = "--cdi", paramLabel = "DIR", description = "[driver.external.cdi]")
    @Nullable String cdi;

    @Option(
            names = "--proxy-port",
            paramLabel = "PORT",
            description =
                    "Where the driver finds the stand-in for the API server."
                            + " [driver.external.proxyPort]")
    @Nullable Integer proxyPort;

    @Option(names = "--log", paramLabel = "FILE", description = "[driver.external.log]")
    @Nullable String log;

    @Option(
            names = "--k8s",
            paramLabel = "VERSION",
            description =
                    "The release that the embedded API server behaves as. [apiServer.kubernetes]")
    @Nullable String kubernetes;

    @Option(
            names = "--kubeconfig",
            paramLabel = "FILE",
            description = "A real API server, instead of the embedded. [apiServer.kubeconfig]")
    @Nullable String kubeconfig;

    @Option(names = "--context", paramLabel = "NAME", description = "[apiServer.context]")
    @Nullable String context;

    @Option(
            names = "--profile",
            split = ",",
            paramLabel = "NAME",
            description = "Only these profiles. [profiles]")
    @Nullable List<String> profiles;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "ID",
            description = "Only these requirements, and what they need. [only]")
    @Nullable List<String> only;

    @Option(
            names = "--skip",
            split = ",",
            paramLabel = "ID",
            description = "Not these requirements; their profiles are partial then. [skip]")
    @Nullable List<String> skip;

    @Option(
            names = "--patience",
            paramLabel = "FACTOR",
            description = "Wait longer where no contract sets the time. [patience]")
    @Nullable Double patience;

    @Option(names = "--strict", description = "Some SHOULDs are MUSTs, as `explain` says. [strict]")
    @Nullable Boolean strict;

    @Option(
            names = "--soak",
            description = "Repeat more often where that shows more; takes minutes longer. [soak]")
    @Nullable Boolean soak;

    @Option(
            names = "--seed",
            paramLabel = "NUMBER",
            description = "What is random comes from it. [seed]")
    @Nullable Long seed;

    @Option(names = "--report", paramLabel = "DIR", description = "Where reports go. [report]")
    @Nullable String report;

    @Option(
            names = "--deviations",
            paramLabel = "FILE",
            description = "Known deviations, each with an issue and an end. [deviations]")
    @Nullable String deviations;

    @Parameters(
            arity = "0..*",
            paramLabel = "COMMAND",
            description =
                    "How to run the driver: a program and its arguments, after --; {NODE_NAME} and"
                            + " the like stand for their values. [driver.process.command]")
    @Nullable List<String> command;

    /** The settings: the file, and the flags over it. */
    Settings settings() {
        Path file = config;
        return file == null
                ? SettingsReader.parse("", "the command line", flags())
                : SettingsReader.read(file, flags());
    }

    private Map<String, JsonNode> flags() {
        Map<String, JsonNode> flags = new LinkedHashMap<>();
        put(flags, "/driver/name", driverName);
        put(flags, "/driver/kind", kind);
        put(flags, "/driver/process/command", command);
        put(flags, "/driver/process/environment", environment);
        put(flags, "/driver/startTimeoutSeconds", startTimeout);
        put(flags, "/driver/seamlessUpgrade", seamlessUpgrade);
        put(flags, "/driver/stateFiles", stateFiles);
        put(flags, "/driver/declares", declares);
        Map<String, String> commands = hooks == null ? Map.of() : hooks;
        commands.forEach(
                (name, line) -> put(flags, "/driver/hooks/" + name, List.of("sh", "-c", line)));
        put(flags, "/driver/configs/valid", json("--valid-config", validConfigs));
        put(flags, "/driver/configs/invalid", json("--invalid-config", invalidConfigs));
        put(flags, "/driver/configs/precedence", precedence);
        put(flags, "/implementation", implementation);
        put(flags, "/driver/cdiVersion", cdiVersion);
        put(flags, "/driver/metrics", metrics);
        put(flags, "/driver/external/node", node);
        put(flags, "/driver/external/registry", registry);
        put(flags, "/driver/external/plugins", plugins);
        put(flags, "/driver/external/cdi", cdi);
        put(flags, "/driver/external/proxyPort", proxyPort);
        put(flags, "/driver/external/log", log);
        put(flags, "/apiServer/kubernetes", kubernetes);
        put(flags, "/apiServer/kubeconfig", kubeconfig);
        put(flags, "/apiServer/context", context);
        put(flags, "/profiles", profiles);
        put(flags, "/only", only);
        put(flags, "/skip", skip);
        put(flags, "/patience", patience);
        put(flags, "/strict", strict);
        put(flags, "/soak", soak);
        put(flags, "/seed", seed);
        put(flags, "/report", report);
        put(flags, "/deviations", deviations);
        return flags;
    }

    private static @Nullable List<JsonNode> json(String flag, @Nullable List<String> texts) {
        if (texts == null) {
            return null;
        }
        List<JsonNode> parsed = new ArrayList<>();
        for (String text : texts) {
            try {
                parsed.add(JSON.readTree(text));
            } catch (JsonProcessingException e) {
                throw new SettingsException(flag + " is no JSON: " + e.getOriginalMessage());
            }
        }
        return parsed;
    }

    private static void put(Map<String, JsonNode> flags, String pointer, @Nullable Object value) {
        if (value != null) {
            flags.put(pointer, JSON.valueToTree(value));
        }
    }
}
