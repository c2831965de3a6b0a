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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The flags of commands that run a driver: what it is, and with what. Each has its place in the
 * settings, and wins there.
 */
final class DriverOptions {

    /** How commands that take these flags say where the brackets lead. */
    static final String PLACES =
            "Each flag stands for the setting in [brackets] of the file of --config, and wins over it.";

    private static final ObjectMapper JSON = new ObjectMapper();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The settings as YAML; `dra-conformance init` writes one with comments.")
    @Nullable Path config;

    @ArgGroup(validate = false, order = 1, heading = "%nThe driver:%n")
    private final DriverGroup driver = new DriverGroup();

    @ArgGroup(validate = false, order = 2, heading = "%nA driver that somebody else runs:%n")
    private final ExternalGroup external = new ExternalGroup();

    @ArgGroup(validate = false, order = 3, heading = "%nThe API server:%n")
    private final ApiServerOptions apiServer = new ApiServerOptions();

    @ArgGroup(validate = false, order = 4, heading = "%nTime and chance:%n")
    private final ChanceGroup chance = new ChanceGroup();

    @Parameters(
            arity = "0..*",
            paramLabel = "COMMAND",
            description =
                    "[driver.process.command] How to run the driver: a program and its arguments,"
                            + " after --. {NODE_NAME}, {KUBECONFIG}, {CDI_ROOT} and such stand for"
                            + " their values; they are in its environment, too.")
    @Nullable List<String> command;

    /** What the driver is. */
    private static final class DriverGroup {
        @Option(
                names = "--driver-name",
                paramLabel = "NAME",
                description = "[driver.name] Its name: spec.driver of its ResourceSlices.")
        @Nullable String name;

        @Option(
                names = "--kind",
                paramLabel = "process|external",
                description =
                        "[driver.kind] Who runs it: the suite (process, the default),"
                                + " which starts, stops and kills it, or somebody else"
                                + " (external).")
        @Nullable String kind;

        @Option(
                names = "--env",
                paramLabel = "NAME=VALUE",
                description =
                        "[driver.process.environment] Environment of its process;"
                                + " {NODE_NAME} and such stand for their values.")
        @Nullable Map<String, String> environment;

        @Option(
                names = "--standard-paths",
                description =
                        "[driver.process.standardPaths] Its paths can't be set: each process finds"
                                + " directories of the run at /var/lib/kubelet/plugins and"
                                + " plugins_registry, /var/run/cdi and /etc/cdi; needs root.")
        @Nullable Boolean standardPaths;

        @Option(
                names = "--in-cluster",
                description =
                        "[driver.process.inCluster] It finds the API server as a container of a"
                                + " cluster does: by a service account, TLS and"
                                + " KUBERNETES_SERVICE_HOST; needs root.")
        @Nullable Boolean inCluster;

        @Option(
                names = "--make-directory",
                paramLabel = "DIR",
                description =
                        "[driver.process.makeDirectories] A directory that is there before each"
                                + " start, as its DaemonSet makes it, such as"
                                + " {KUBELET_PLUGINS_DIRECTORY_PATH}/{DRIVER_NAME}.")
        @Nullable List<String> makeDirectories;

        @Option(
                names = "--start-timeout",
                paramLabel = "SECONDS",
                description =
                        "[driver.startTimeoutSeconds] How long a start may take until"
                                + " the kubelet has registered it. Default: 30")
        @Nullable Integer startTimeout;

        @Option(
                names = "--seamless-upgrade",
                description =
                        "[driver.seamlessUpgrade] Two instances may run side by side,"
                                + " told apart by POD_UID.")
        @Nullable Boolean seamlessUpgrade;

        @Option(
                names = "--state-files",
                paramLabel = "GLOB",
                description =
                        "[driver.stateFiles] The files in which it remembers claims, to"
                                + " try what it makes of damaged ones.")
        @Nullable String stateFiles;

        @Option(
                names = "--empty-when-unprepared",
                paramLabel = "GLOB",
                description = "[driver.emptyWhenUnprepared] Files that go with the last claim.")
        @Nullable List<String> emptyWhenUnprepared;

        @Option(
                names = "--declare",
                split = ",",
                paramLabel = "CAPABILITY",
                description =
                        "[driver.declares] What it can do beyond what is seen, such as"
                                + " adm (admin access) or dst (device status); `explain` names"
                                + " what a requirement applies to.")
        @Nullable List<String> declares;

        @Option(
                names = "--hook",
                paramLabel = "NAME=COMMAND",
                description =
                        "[driver.hooks] A command, run by sh, that changes what it"
                                + " sees: plug, unplug, fault, recover, reboot, old; for an external"
                                + " driver also start, stop and kill.")
        @Nullable Map<String, String> hooks;

        @Option(
                names = "--claims",
                paramLabel = "FILE",
                description = "[driver.claims] Manifests of the claims that its users write.")
        @Nullable List<String> claims;

        @Option(
                names = "--cdi-version",
                paramLabel = "VERSION",
                description =
                        "[driver.cdiVersion] The newest CDI version that its nodes'"
                                + " runtimes read. Default: 1.1.0")
        @Nullable String cdiVersion;

        @Option(
                names = "--cdi-directory",
                paramLabel = "DIR",
                description =
                        "[driver.cdiDirectories] A directory from which its nodes' runtimes read CDI"
                                + " specs; several: the one that counts most last. Default:"
                                + " {CDI_ROOT}")
        @Nullable List<String> cdiDirectories;

        @Option(
                names = "--metrics",
                paramLabel = "URL",
                description =
                        "[driver.metrics] Where its metrics are, with {FREE_PORT} for one that nothing"
                                + " listens at.")
        @Nullable String metrics;

        @Option(
                names = "--valid-config",
                paramLabel = "JSON",
                description =
                        "[driver.configs.valid] An opaque configuration that it"
                                + " accepts, and what shows its effect: {\"parameters\": {...},"
                                + " \"effect\": \"REGEX\"}.")
        @Nullable List<String> validConfigs;

        @Option(
                names = "--invalid-config",
                paramLabel = "JSON",
                description =
                        "[driver.configs.invalid] Parameters of a configuration that it"
                                + " must refuse.")
        @Nullable List<String> invalidConfigs;

        @Option(
                names = "--config-precedence",
                paramLabel = "last|merge|reject-multiple",
                description =
                        "[driver.configs.precedence] What it does with several"
                                + " configurations for a request: the last counts, they are"
                                + " merged, or they are refused.")
        @Nullable String precedence;

        void into(Map<String, JsonNode> flags) {
            put(flags, "/driver/name", name);
            put(flags, "/driver/kind", kind);
            put(flags, "/driver/process/environment", environment);
            put(flags, "/driver/process/standardPaths", standardPaths);
            put(flags, "/driver/process/inCluster", inCluster);
            put(flags, "/driver/process/makeDirectories", makeDirectories);
            put(flags, "/driver/startTimeoutSeconds", startTimeout);
            put(flags, "/driver/seamlessUpgrade", seamlessUpgrade);
            put(flags, "/driver/stateFiles", stateFiles);
            put(flags, "/driver/emptyWhenUnprepared", emptyWhenUnprepared);
            put(flags, "/driver/declares", declares);
            put(flags, "/driver/claims", claims);
            put(flags, "/driver/cdiVersion", cdiVersion);
            put(flags, "/driver/cdiDirectories", cdiDirectories);
            put(flags, "/driver/metrics", metrics);
            put(flags, "/driver/configs/precedence", precedence);
            Map<String, String> commands = hooks == null ? Map.of() : hooks;
            commands.forEach(
                    (hook, line) -> put(flags, "/driver/hooks/" + hook, List.of("sh", "-c", line)));
            put(flags, "/driver/configs/valid", json("--valid-config", validConfigs));
            put(flags, "/driver/configs/invalid", json("--invalid-config", invalidConfigs));
        }
    }

    /** Where somebody else runs it. */
    private static final class ExternalGroup {
        @Option(
                names = "--node",
                paramLabel = "NAME",
                description = "[driver.external.node] The node that it runs for.")
        @Nullable String node;

        @Option(
                names = "--registry",
                paramLabel = "DIR",
                description =
                        "[driver.external.registry] The kubelet's directory of"
                                + " registration sockets.")
        @Nullable String registry;

        @Option(
                names = "--plugins",
                paramLabel = "DIR",
                description = "[driver.external.plugins] The kubelet's plugins directory.")
        @Nullable String plugins;

        @Option(
                names = "--cdi",
                paramLabel = "DIR",
                description = "[driver.external.cdi] The directory of its CDI specs.")
        @Nullable String cdi;

        @Option(
                names = "--proxy-port",
                paramLabel = "PORT",
                description =
                        "[driver.external.proxyPort] The port of 127.0.0.1 at which it finds the"
                                + " suite's stand-in for the API server, if it uses that.")
        @Nullable Integer proxyPort;

        @Option(
                names = "--log",
                paramLabel = "FILE",
                description = "[driver.external.log] What it writes to, as evidence.")
        @Nullable String log;

        void into(Map<String, JsonNode> flags) {
            put(flags, "/driver/external/node", node);
            put(flags, "/driver/external/registry", registry);
            put(flags, "/driver/external/plugins", plugins);
            put(flags, "/driver/external/cdi", cdi);
            put(flags, "/driver/external/proxyPort", proxyPort);
            put(flags, "/driver/external/log", log);
        }
    }

    /** How long to wait, and what is random. */
    private static final class ChanceGroup {
        @Option(
                names = "--patience",
                paramLabel = "FACTOR",
                description =
                        "[patience] Wait so many times longer where no contract sets"
                                + " the time; for slow machines. Default: 1")
        @Nullable Double patience;

        @Option(
                names = "--seed",
                paramLabel = "NUMBER",
                description = "[seed] What is random comes from it.")
        @Nullable Long seed;

        void into(Map<String, JsonNode> flags) {
            put(flags, "/patience", patience);
            put(flags, "/seed", seed);
        }
    }

    /** The settings: the file, and over it these flags, and more of them. */
    Settings settings(Map<String, JsonNode> more) {
        Map<String, JsonNode> flags = new LinkedHashMap<>();
        put(flags, "/driver/process/command", command);
        driver.into(flags);
        external.into(flags);
        apiServer.into(flags);
        chance.into(flags);
        flags.putAll(more);
        Path file = config;
        return file == null
                ? SettingsReader.parse("", "the command line", flags)
                : SettingsReader.read(file, flags);
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

    static void put(Map<String, JsonNode> flags, String pointer, @Nullable Object value) {
        if (value != null) {
            flags.put(pointer, JSON.valueToTree(value));
        }
    }
}
