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
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The flags of commands that run a driver: what it is, and with what. Each has its place in the
 * settings, and wins there.
 */
final class DriverOptions {

    /** The line by which commands with these flags explain the brackets. */
    static final String PLACES =
            "Each flag stands for the setting in [brackets] of the file of --config, and wins over it.";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern PLACE = Pattern.compile("^\\[([A-Za-z.]+)]");

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The settings as YAML; `dra-conformance init` writes one with comments.")
    @Nullable
    Path config;

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
                    "[driver.process.command] How to run the driver: a program and its arguments, after --. {NODE_NAME}, {KUBECONFIG}, {CDI_ROOT} and such stand for their values; they are in its environment, too.")
    @Nullable
    List<String> command;

    /** The driver's identity. */
    private static final class DriverGroup {
        @Option(
                names = "--driver-name",
                paramLabel = "NAME",
                description = "[driver.name] Its name: spec.driver of its ResourceSlices.")
        @Nullable
        String name;

        @Option(
                names = "--kind",
                paramLabel = "process|external",
                description =
                        "[driver.kind] Who runs it: the suite (process, the default), which starts, stops and kills it, or others (external).")
        @Nullable
        String kind;

        @Option(
                names = "--env",
                paramLabel = "NAME=VALUE",
                description =
                        "[driver.process.environment] Environment of its process; {NODE_NAME} and such stand for their values.")
        @Nullable
        Map<String, String> environment;

        @Option(
                names = "--standard-paths",
                description =
                        "[driver.process.standardPaths] Its paths can't be set: each process finds directories of the run at /var/lib/kubelet/plugins and plugins_registry, /var/run/cdi and /etc/cdi; needs root.")
        @Nullable
        Boolean standardPaths;

        @Option(
                names = "--in-cluster",
                description =
                        "[driver.process.inCluster] It finds the API server as a container of a cluster does: by a service account, TLS and KUBERNETES_SERVICE_HOST; needs root.")
        @Nullable
        Boolean inCluster;

        @Option(
                names = "--make-directory",
                paramLabel = "DIR",
                description =
                        "[driver.process.makeDirectories] A directory that is there before each start, as its DaemonSet makes it, such as {KUBELET_PLUGINS_DIRECTORY_PATH}/{DRIVER_NAME}.")
        @Nullable
        List<String> makeDirectories;

        @Option(
                names = "--nri",
                description =
                        "[driver.nri] It registers with the container runtime by NRI: a runtime without containers listens at {NRI_SOCKET}, as root at /var/run/nri/nri.sock, too.")
        @Nullable
        Boolean nri;

        @Option(
                names = "--serial",
                description =
                        "[driver.process.serial] Only one instance of it can run at a time, because of a fixed port for example; without this the suite finds out by trying.")
        @Nullable
        Boolean serial;

        @Option(
                names = "--start-timeout",
                paramLabel = "SECONDS",
                description =
                        "[driver.startTimeoutSeconds] How long a start may take until the kubelet has registered it. Default: 30")
        @Nullable
        Integer startTimeout;

        @Option(
                names = "--seamless-upgrade",
                description = "[driver.seamlessUpgrade] Two instances may run side by side, distinguished by POD_UID.")
        @Nullable
        Boolean seamlessUpgrade;

        @Option(
                names = "--state-files",
                paramLabel = "GLOB",
                description = "[driver.stateFiles] The files with its prepared claims, to test it with damaged ones.")
        @Nullable
        String stateFiles;

        @Option(
                names = "--empty-when-unprepared",
                paramLabel = "GLOB",
                description = "[driver.emptyWhenUnprepared] Files that go with the last claim.")
        @Nullable
        List<String> emptyWhenUnprepared;

        @Option(
                names = "--declare",
                split = ",",
                paramLabel = "CAPABILITY",
                description =
                        "[driver.declares] What it can do: adm (admin access), which cannot be detected; multi (devices for several claims), ctr (shared counters), bind (binding conditions), taint, dst (device status), meta (metadata files), hc (health), both (v1 and v1beta1), which are checked then even if they do not show. no-devices: it has none on this node; no-cdi: it prepares them without CDI.")
        @Nullable
        List<String> declares;

        @Option(
                names = "--hook",
                paramLabel = "NAME=COMMAND",
                description =
                        "[driver.hooks] A command, run by sh, that changes what it sees: unplug, plug, plug-many, fault, recover, reboot, renumber, old; for an external driver also start, stop and kill.")
        @Nullable
        Map<String, String> hooks;

        @Option(
                names = "--claims",
                paramLabel = "FILE",
                description = "[driver.claims] Manifests of the claims that its users write.")
        @Nullable
        List<String> claims;

        @Option(
                names = "--cdi-version",
                paramLabel = "VERSION",
                description =
                        "[driver.cdiVersion] The newest CDI version that its nodes' runtimes read. Default: 1.1.0")
        @Nullable
        String cdiVersion;

        @Option(
                names = "--cdi-directory",
                paramLabel = "DIR",
                description =
                        "[driver.cdiDirectories] A directory from which its nodes' runtimes read CDI specs; several are in ascending priority. Default: {CDI_ROOT}")
        @Nullable
        List<String> cdiDirectories;

        @Option(
                names = "--metrics",
                paramLabel = "URL",
                description =
                        "[driver.metrics] The URL of its metrics, with {FREE_PORT} for a free port; at a fixed one, one instance runs at a time.")
        @Nullable
        String metrics;

        @Option(
                names = "--valid-config",
                paramLabel = "JSON",
                description =
                        "[driver.configs.valid] An opaque configuration that it accepts, and what shows its effect: {\"parameters\": {...}, \"effect\": \"REGEX\"}.")
        @Nullable
        List<String> validConfigs;

        @Option(
                names = "--invalid-config",
                paramLabel = "JSON",
                description = "[driver.configs.invalid] Parameters of a configuration that it must refuse.")
        @Nullable
        List<String> invalidConfigs;

        @Option(
                names = "--config-precedence",
                paramLabel = "last|merge|reject-multiple",
                description =
                        "[driver.configs.precedence] What it does with several configurations for a request: the last counts, they are merged, or they are refused.")
        @Nullable
        String precedence;
    }

    /** The place of a driver that is run externally. */
    private static final class ExternalGroup {
        @Option(
                names = "--node",
                paramLabel = "NAME",
                description = "[driver.external.node] The node that it runs for.")
        @Nullable
        String node;

        @Option(
                names = "--registry",
                paramLabel = "DIR",
                description = "[driver.external.registry] The kubelet's directory of registration sockets.")
        @Nullable
        String registry;

        @Option(
                names = "--plugins",
                paramLabel = "DIR",
                description = "[driver.external.plugins] The kubelet's plugins directory.")
        @Nullable
        String plugins;

        @Option(
                names = "--cdi",
                paramLabel = "DIR",
                description = "[driver.external.cdi] The directory of its CDI specs.")
        @Nullable
        String cdi;

        @Option(
                names = "--proxy-port",
                paramLabel = "PORT",
                description =
                        "[driver.external.proxyPort] The port of 127.0.0.1 at which it finds the suite's proxy of the API server, if it uses that.")
        @Nullable
        Integer proxyPort;

        @Option(
                names = "--log",
                paramLabel = "FILE",
                description = "[driver.external.log] The file that it logs to, as evidence.")
        @Nullable
        String log;
    }

    /** The API server that the driver and the suite use. */
    private static final class ApiServerGroup {
        @Option(
                names = "--k8s",
                paramLabel = "VERSION",
                description =
                        "[apiServer.kubernetes] The Kubernetes release that the embedded one behaves as. Default: 1.36")
        @Nullable
        String kubernetes;

        @Option(
                names = "--kubeconfig",
                paramLabel = "FILE",
                description =
                        "[apiServer.kubeconfig] A real one, of Kubernetes 1.34 or newer, instead of the embedded.")
        @Nullable
        String kubeconfig;

        @Option(
                names = "--context",
                paramLabel = "NAME",
                description = "[apiServer.context] The kubeconfig's context. Default: its current one")
        @Nullable
        String context;

        @Option(
                names = "--service-account",
                paramLabel = "NAMESPACE/NAME",
                description =
                        "[apiServer.serviceAccount] Evaluate RBAC: the driver may do what --manifests grants this ServiceAccount.")
        @Nullable
        String serviceAccount;

        @Option(
                names = "--manifests",
                paramLabel = "FILE",
                description =
                        "[apiServer.manifests] A file or a folder with the ServiceAccount, its roles, admission policies, and their bindings, may be repeated.")
        @Nullable
        List<String> manifests;
    }

    /** The timeout factor and the seed. */
    private static final class ChanceGroup {
        @Option(
                names = "--timeout-factor",
                paramLabel = "FACTOR",
                description =
                        "[timeoutFactor] Multiply the timeouts that no contract sets by it; for slow machines. Default: 1")
        @Nullable
        Double timeoutFactor;

        @Option(names = "--patience", hidden = true, description = "[timeoutFactor] The old name of --timeout-factor.")
        @Nullable
        Double patience;

        @Option(
                names = "--seed",
                paramLabel = "NUMBER",
                description = "[seed] The seed of all random choices, such as the order of requirements.")
        @Nullable
        Long seed;
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
                    throw new SettingsException("%s and another name of it are both given".formatted(name));
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
            throw new SettingsException(option + " is no JSON: " + e.getOriginalMessage());
        }
    }
}
