// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.testkit.rbac.Refusal;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The rules for each driver's chart; the test of a driver extends this. */
public abstract class ChartContract {

    /** The chart of a driver's module. */
    protected static final HelmChart CHART = new HelmChart(Path.of("deploy/helm"));

    private static final Path VALUES = Path.of("deploy/values");
    private static final Path CHARTS_PAGE = Path.of("../docs-site/reference/charts.md");
    private static final Pattern VARIABLE = Pattern.compile("\\b[A-Z][A-Z0-9_]{2,}\\b");
    private static final Pattern VERSION =
            Pattern.compile("<artifactId>dra4j-parent</artifactId>\\s*<version>(.*?)</version>");

    /** The driver's name in the default values. */
    protected abstract String driver();

    /** The help text of the driver's program, which names the variable of each option. */
    protected abstract String help();

    /** Variables that belong to the container runtime, not to the driver. */
    protected Set<String> foreignVariables() {
        return Set.of();
    }

    private static Stream<Path> valueSets() throws IOException {
        try (Stream<Path> files = Files.list(VALUES)) {
            return files.sorted().toList().stream();
        }
    }

    @Test
    void lintFindsNothing() {
        assertThat(CHART.lint()).isEmpty();
    }

    @TestFactory
    Stream<DynamicTest> everyValueSetMakesObjectsThatDecodeStrictly() throws IOException {
        return Stream.concat(Stream.of(ChartInstallation.DEFAULT), valueSets().map(ChartInstallation.DEFAULT::file))
                .map(installation -> DynamicTest.dynamicTest(
                        installation.files().toString(), () -> assertIsSound(CHART.render(installation))));
    }

    private void assertIsSound(Manifests manifests) {
        assertThat(StrictDecoder.problems(manifests)).isEmpty();
        DriverContainer container = DriverContainer.of(manifests);
        String driver = container.environment().get("DRIVER_NAME");
        Set<String> known = new TreeSet<>(foreignVariables());
        VARIABLE.matcher(help()).results().map(MatchResult::group).forEach(known::add);
        assertThat(known).containsAll(container.environment().keySet());
        assertThat(container.arguments()).hasSize(2).first().isEqualTo("-v");
        assertThat(manifests.of(Kind.DeviceClass))
                .allSatisfy(one -> assertThat(
                                one.at("/spec/selectors/0/cel/expression").asText())
                        .contains('"' + driver + '"'));
        assertThat(container.mounts()).containsAllEntriesOf(pathsOfTheKubelet(container));
        assertThat(Right.all().stream().map(Right::toString))
                .containsAll(Right.granted(manifests.of(Kind.ClusterRole)))
                .containsAll(Right.granted(manifests.of(Kind.Role)));
    }

    /** The kubelet and the container runtime also use them. */
    private static Map<String, String> pathsOfTheKubelet(DriverContainer container) {
        assertThat(container.pod().path("securityContext").toString()).contains("\"type\":\"spc_t\"");
        Map<String, String> paths = container.hostPaths();
        paths.keySet().retainAll(Set.of("plugin", "registry", "cdi"));
        Map<String, String> environment = container.environment();
        assertThat(paths.get("plugin"))
                .isEqualTo(environment.get("KUBELET_PLUGINS_DIRECTORY_PATH") + "/" + environment.get("DRIVER_NAME"));
        assertThat(paths.get("registry")).isEqualTo(environment.get("KUBELET_REGISTRAR_DIRECTORY_PATH"));
        assertThat(paths.get("cdi")).isEqualTo(environment.get("CDI_ROOT"));
        return paths;
    }

    @Test
    void theDefaultImageIsTheOneThatTheBuildMakes() throws IOException {
        JsonNode chart = yaml(CHART.folder());

        assertThat(DriverContainer.of(CHART.render(ChartInstallation.DEFAULT))
                        .container()
                        .path("image")
                        .asText())
                .isEqualTo("localhost/%s:%s"
                        .formatted(
                                chart.path("name").asText(),
                                chart.path("appVersion").asText()));
    }

    @Test
    void thePageNamesEachValueSet() throws IOException {
        assertThat(Files.readString(CHARTS_PAGE))
                .contains(
                        valueSets().map(file -> "`" + file.getFileName() + "`").toList());
    }

    @Test
    void theDefaultsMakeNothingThatTheClusterMayNotHave() {
        assertThat(CHART.render(ChartInstallation.DEFAULT).kinds())
                .doesNotContain(
                        "PodMonitor",
                        "PrometheusRule",
                        "ConfigMap",
                        "SecurityContextConstraints",
                        "NetworkPolicy",
                        "ResourceQuota",
                        "Certificate",
                        "Deployment",
                        "ValidatingWebhookConfiguration")
                .contains("DaemonSet", "DeviceClass", "ValidatingAdmissionPolicyBinding");
    }

    @Test
    void theDevicePolicyIsAFileOfTheDriver() throws IOException {
        Path values = VALUES.resolve("device-policy.yaml");
        Manifests manifests = CHART.render(ChartInstallation.DEFAULT.file(values));
        DriverContainer container = DriverContainer.of(manifests);
        ObjectNode policy = manifests.one(Kind.ConfigMap);
        JsonNode volume = container.pod().path("volumes").findParent("configMap");

        String key = policy.path("data").fieldNames().next();
        assertThat(container.environment())
                .containsEntry("DEVICE_POLICY", container.mounts().get("device-policy") + "/" + key);
        assertThat(volume.at("/configMap/name")).isEqualTo(policy.at("/metadata/name"));
        assertThat(Manifests.MAPPER.readTree(policy.path("data").path(key).asText()))
                .isEqualTo(Manifests.file(values).path("devicePolicy"));
        assertThat(DriverContainer.of(CHART.render(ChartInstallation.DEFAULT)).environment())
                .doesNotContainKey("DEVICE_POLICY");
    }

    @Test
    void bothPodsOfAnUpdateRunSideBySide() {
        JsonNode spec =
                CHART.render(ChartInstallation.DEFAULT).one(Kind.DaemonSet).path("spec");

        assertThat(spec.at("/updateStrategy/rollingUpdate/maxSurge").asInt()).isOne();
        assertThat(spec.at("/updateStrategy/rollingUpdate/maxUnavailable").asInt(-1))
                .isZero();
        assertThat(spec.at("/template/spec/hostNetwork").isMissingNode()).isTrue();
        assertThat(spec.at("/template/spec/containers/0/env").toString())
                .contains("{\"name\":\"POD_UID\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.uid\"}}}");
        assertThat(spec.at("/template/spec/containers/0/livenessProbe/grpc/service")
                        .asText())
                .isEqualTo("liveness");
    }

    /** Readiness is not probed earlier, so it does not fail during a start. */
    @Test
    void theStartIsOverWhenTheDriverIsReady() {
        JsonNode container =
                DriverContainer.of(CHART.render(ChartInstallation.DEFAULT)).container();
        String value = "kubeletPlugin.containers.%s.metricsPort"
                .formatted(container.path("name").asText());
        JsonNode without = DriverContainer.of(CHART.render(ChartInstallation.DEFAULT.set(value, -1)))
                .container();

        assertThat(container.at("/startupProbe/httpGet/path").asText()).isEqualTo("/startupz");
        assertThat(container.at("/startupProbe/httpGet/port")).isEqualTo(container.at("/readinessProbe/httpGet/port"));
        assertThat(container.at("/startupProbe/timeoutSeconds").asInt())
                .as("longer than the driver waits")
                .isGreaterThan(10);
        assertThat(without.has("readinessProbe")).isFalse();
        assertThat(without.at("/startupProbe/grpc")).isEqualTo(without.at("/livenessProbe/grpc"));
        assertThat(without.at("/startupProbe/failureThreshold"))
                .isEqualTo(container.at("/startupProbe/failureThreshold"));
    }

    @Test
    void theSchemaRefusesAnUnknownKeyOfEveryObject() {
        ChartValues values = new ChartValues(CHART.folder());
        assertThat(values.objects()).contains("", "image", "kubeletPlugin.containers");
        for (String object : values.objects()) {
            String typo = object.isEmpty() ? "misspelled" : object + ".misspelled";
            assertThatThrownBy(() -> CHART.render(ChartInstallation.DEFAULT.set(typo, "1")))
                    .as(typo)
                    .hasMessageContaining("additional properties 'misspelled' not allowed");
        }
    }

    @TestFactory
    Stream<DynamicTest> valuesThatWouldNotWorkAreRefused() {
        String container = "kubeletPlugin.containers."
                + DriverContainer.of(CHART.render(ChartInstallation.DEFAULT))
                        .container()
                        .path("name")
                        .asText();
        String update = "kubeletPlugin.updateStrategy.rollingUpdate.";
        Map<Map<String, ?>, String> refused = Map.of(
                Map.of("webhook.refuseExtendedResources.names[0]", "example.com/gpu"), "needs webhook.enabled",
                Map.of("networkPolicy.metricsFrom[0].podSelector.matchLabels.a", "b"), "need networkPolicy.enabled",
                Map.of("networkPolicy.apiServerTo[0].ipBlock.cidr", "192.0.2.1/32"), "need networkPolicy.enabled",
                Map.of("resourceQuota.enabled", true, "kubeletPlugin.priorityClassName", ""), "priorityClassName",
                Map.of("serviceAccount.annotations.a", "b", "serviceAccount.create", false), "serviceAccount.create",
                Map.of(update + "maxUnavailable", 1), "set maxSurge=0",
                Map.of(update + "maxSurge", 0), "maxUnavailable=1",
                Map.of(container + ".metricsPort", 9090, container + ".healthcheckPort", 9090), "are both 9090",
                Map.of(container + ".metricsPort", -1, "monitoring.podMonitor.enabled", true),
                        "podMonitor.enabled=false",
                Map.of(container + ".env[0].name", "LOG_VERBOSITY", container + ".env[0].value", "high"),
                        "set logVerbosity");
        return refused.entrySet().stream()
                .map(row -> DynamicTest.dynamicTest(
                        row.getKey().toString(), () -> assertRefused(with(row.getKey()), row.getValue())));
    }

    private static void assertRefused(ChartInstallation installation, String message) {
        assertThatThrownBy(() -> CHART.render(installation)).hasMessageContaining(message);
    }

    private static ChartInstallation with(Map<String, ?> values) {
        ChartInstallation installation = ChartInstallation.DEFAULT;
        for (Map.Entry<String, ?> value : values.entrySet()) {
            installation = installation.set(value.getKey(), value.getValue());
        }
        return installation;
    }

    @Test
    void anUpdateWithoutSurgeIsPossible() {
        String update = "kubeletPlugin.updateStrategy.rollingUpdate.";
        Manifests manifests = CHART.render(with(Map.of(update + "maxSurge", 0, update + "maxUnavailable", "25%")));

        assertThat(manifests
                        .one(Kind.DaemonSet)
                        .at("/spec/updateStrategy/rollingUpdate/maxUnavailable")
                        .asText())
                .isEqualTo("25%");
    }

    /** A pod has no log before it runs, and a namespace that enforces Pod Security lets none start. */
    @Test
    void theNotesHaveCommandsThatWork() {
        assertThat(CHART.output(ChartInstallation.DEFAULT))
                .containsPattern("kubectl wait pod/(.*) --for.* && kubectl logs pod/\\1\n")
                .contains("kubectl label namespace dra-system pod-security.kubernetes.io/enforce=privileged");
    }

    @Test
    void theSchemaHasTheKeysOfTheDefaults() {
        ChartValues values = new ChartValues(CHART.folder());
        List<List<String>> paths = values.paths();

        assertThat(paths.get(1)).containsAll(paths.get(0));
        assertThat(values.unknownComments()).isEmpty();
        new PagePart(CHARTS_PAGE, Path.of("").toAbsolutePath().getFileName() + "/deploy/helm").assertIs(values.table());
    }

    @Test
    void theNamespaceDefaultHasToBeAllowed() {
        ChartInstallation installation = ChartInstallation.DEFAULT.namespace("default");

        assertThatThrownBy(() -> CHART.render(installation)).hasMessageContaining("set allowDefaultNamespace=true");
        assertThat(CHART.render(installation.set("allowDefaultNamespace", true)).kinds())
                .contains("DaemonSet");
    }

    @Test
    void versionsAreThoseOfTheModule() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        String version =
                VERSION.matcher(pom).results().findFirst().orElseThrow().group(1);
        JsonNode chart = yaml(CHART.folder());

        assertThat(yaml(Right.LIBRARY).path("version").asText()).isEqualTo(version);
        assertThat(chart.path("version").asText()).isEqualTo(version);
        assertThat(chart.path("appVersion").asText()).isEqualTo(version);
        assertThat(chart.at("/dependencies/0/version").asText()).isEqualTo(version);
        assertThat(CHART.folder().resolve("charts/dra4j-library").toRealPath())
                .isEqualTo(Right.LIBRARY.toRealPath())
                .isEqualTo(CHART.folder()
                        .resolve(chart.at("/dependencies/0/repository").asText().replace("file://", ""))
                        .toRealPath());
    }

    private static JsonNode yaml(Path chart) {
        return Manifests.file(chart.resolve("Chart.yaml"));
    }

    @Test
    void aDriverWritesSlicesOfItsOwnNodeAlone(@TempDir Path folder) throws IOException {
        Manifests manifests = CHART.render(ChartInstallation.DEFAULT);
        JsonNode policy = manifests.one(Kind.ValidatingAdmissionPolicy);
        ServiceAccountAccess access = manifests.access(Kind.DaemonSet, driver(), "1.36", folder);
        for (String method : List.of("POST", "PUT", "DELETE")) {
            assertThat(refusal(access, method, "node-1", "{nodeName: node-1}")).isEmpty();
            assertThat(refusal(access, method, "node-1", "{nodeName: node-2}")).contains("'node-1'", "'node-2'");
            assertThat(refusal(access, method, "node-1", "{allNodes: true}")).isNotEmpty();
            assertThat(refusal(access, method, "", "{nodeName: node-1}")).contains("names no node");
        }
        assertThat(policy.at("/spec/matchConditions/0/expression").asText())
                .isEqualTo("request.userInfo.username == \"system:serviceaccount:"
                        + manifests.serviceAccount().replace('/', ':') + '"');
        assertThat(policy.at("/spec/matchConstraints/resourceRules/0/apiVersions/0")
                        .asText())
                .isEqualTo("*");
    }

    private static String refusal(ServiceAccountAccess access, String method, String node, String spec)
            throws IOException {
        JsonNode slice = Manifests.MAPPER.readTree("spec: " + spec);
        String path = "/apis/resource.k8s.io/v1/resourceslices" + (method.equals("POST") ? "" : "/slice");
        return access.refusal(method, path, Map.of(), node, () -> slice, () -> slice)
                .map(Refusal::message)
                .orElse("");
    }

    /** A release's file for {@code kubectl apply}: the namespace, and the default objects. */
    @Test
    void theManifestsOfAReleaseAreWritten() throws IOException {
        String name = yaml(CHART.folder()).path("name").asText();
        Manifests manifests =
                CHART.render(ChartInstallation.DEFAULT.release(name).namespace(name));
        String namespace =
                """
                # %s %s, rendered from its Helm chart with default values.
                apiVersion: v1
                kind: Namespace
                metadata:
                  name: %s
                  labels:
                    # The driver uses directories of the node.
                    pod-security.kubernetes.io/enforce: privileged
                """.formatted(name, yaml(CHART.folder()).path("version").asText(), name);
        String text = namespace + manifests.yaml();
        Path folder = Files.createDirectories(Path.of("target/manifests"));
        Path file = Files.writeString(folder.resolve(name + ".yaml"), text);

        Manifests written = Manifests.of(Files.readString(file));
        assertThat(StrictDecoder.problems(written)).isEmpty();
        assertThat(written.kinds()).startsWith("Namespace").contains("DaemonSet");
        assertThat(written.one(Kind.DaemonSet).at("/metadata/namespace").asText())
                .isEqualTo(name);
        assertThat(written.one(Kind.DaemonSet).at("/metadata/name").asText()).isEqualTo(name);
    }

    /** A release's archive, without a clone, also as a dependency with the condition {@code enabled}. */
    @Test
    void theChartOfAReleaseIsPackaged() throws IOException {
        HelmChart archive = new HelmChart(CHART.packageInto(Files.createDirectories(Path.of("target/charts"))));

        assertThat(archive.render(with(Map.of("enabled", true))).kinds())
                .isEqualTo(CHART.render(ChartInstallation.DEFAULT).kinds());
    }

    /** The values of a chart: their defaults, their schema and their comments. */
    private static final class ChartValues {

        private static final Pattern KEY = Pattern.compile("^( *)([A-Za-z0-9_-]+):.*");
        private static final String COMMENT = "# -- ";
        private static final int INDENT = 2;

        /** Set by Helm itself, or by a chart that has this one as a dependency. */
        private static final List<String> OF_HELM = List.of("enabled", "global", "dra4j-library");

        private final JsonNode defaults;
        private final JsonNode schema;
        private final Map<String, String> comments;

        ChartValues(Path chart) {
            defaults = Manifests.file(chart.resolve("values.yaml"));
            schema = Manifests.file(chart.resolve("values.schema.json"));
            try {
                comments = comments(Files.readAllLines(chart.resolve("values.yaml")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static Map<String, String> comments(List<String> lines) {
            Map<String, String> comments = new LinkedHashMap<>();
            List<String> path = new ArrayList<>();
            String comment = "";
            for (String line : lines) {
                Matcher key = KEY.matcher(line);
                if (line.strip().startsWith(COMMENT)) {
                    comment = line.strip().substring(COMMENT.length());
                } else if (key.matches()) {
                    int depth = key.group(1).length() / INDENT;
                    path.subList(Math.min(depth, path.size()), path.size()).clear();
                    path.add(key.group(2));
                    if (!comment.isEmpty()) {
                        comments.put(String.join(".", path), comment);
                        comment = "";
                    }
                }
            }
            return comments;
        }

        /** Returns the paths of values of the defaults, and of the schema. */
        List<List<String>> paths() {
            List<String> ofDefaults = new ArrayList<>();
            List<String> ofSchema = new ArrayList<>();
            walk("", schema, defaults, ofDefaults, ofSchema);
            return List.of(ofDefaults, ofSchema);
        }

        /** Stops where the schema allows any key. */
        private static void walk(String path, JsonNode type, JsonNode value, List<String> values, List<String> types) {
            type.path("properties").fieldNames().forEachRemaining(name -> types.add(path + name));
            if (!type.path("properties").isEmpty()) {
                value.fieldNames().forEachRemaining(name -> values.add(path + name));
            }
            type.path("properties")
                    .properties()
                    .forEach(one ->
                            walk(path + one.getKey() + ".", one.getValue(), value.path(one.getKey()), values, types));
            types.removeAll(OF_HELM);
        }

        /** Returns the paths of all objects whose keys the schema knows; empty for the root. */
        List<String> objects() {
            List<String> objects = new ArrayList<>();
            addObjects("", schema, objects);
            return objects;
        }

        private static void addObjects(String path, JsonNode type, List<String> objects) {
            if (!type.path("properties").isEmpty()) {
                objects.add(path);
            }
            type.path("properties")
                    .properties()
                    .forEach(one -> addObjects(
                            path.isEmpty() ? one.getKey() : path + "." + one.getKey(), one.getValue(), objects));
        }

        /** Returns the values whose comment belongs to no key. */
        List<String> unknownComments() {
            return comments.keySet().stream()
                    .filter(path -> at(path).isMissingNode())
                    .toList();
        }

        private JsonNode at(String path) {
            JsonNode node = defaults;
            for (String key : path.split("\\.", -1)) {
                node = node.path(key);
            }
            return node;
        }

        /** Returns the table of the reference: each value, its default, and its comment. */
        String table() {
            StringBuilder table = new StringBuilder("| value | default | |\n|---|---|---|\n");
            addRows("", schema, table);
            return table.toString();
        }

        private void addRows(String prefix, JsonNode type, StringBuilder table) {
            for (Map.Entry<String, JsonNode> one : type.path("properties").properties()) {
                String path = prefix + one.getKey();
                if (OF_HELM.contains(path)) {
                    continue;
                }
                if (one.getValue().path("properties").isEmpty() || isGates(one.getValue(), path)) {
                    JsonNode value = at(path);
                    String shown = value instanceof MissingNode ? "" : value.toString();
                    table.append("| `%s` | `%s` | %s |\n".formatted(path, shown, comments.getOrDefault(path, "")));
                } else {
                    addRows(path + ".", one.getValue(), table);
                }
            }
        }

        /** A map whose keys are known, and which is empty by default. */
        private boolean isGates(JsonNode type, String path) {
            return type.path("properties").size() > 0 && at(path).isObject() && at(path).isEmpty();
        }
    }
}
