// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.testkit.TestNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A container of the driver's program: in the DaemonSet of a chart, or in a Deployment. */
public record DriverContainer(JsonNode workload, JsonNode container) {

    /** The UID of the pod in which a test runs a container. */
    static final String POD_UID = "0e9ccd0b-43d2-4a8f-9a0e-0123456789ab";

    /** The variables that {@link TestNode} sets itself. */
    private static final Set<String> OF_THE_NODE =
            Set.of("NODE_NAME", "CDI_ROOT", "KUBELET_PLUGINS_DIRECTORY_PATH", "KUBELET_REGISTRAR_DIRECTORY_PATH");

    private static final Pattern REFERENCE = Pattern.compile("\\$\\(([A-Za-z_][A-Za-z0-9_]*)\\)");

    /** The driver on the nodes. */
    public static DriverContainer of(Manifests manifests) {
        return first(manifests.one(Kind.DaemonSet));
    }

    /** The chart's only process next to the nodes: the webhook, or the one that serves metrics of waiting claims. */
    public static DriverContainer ofDeployment(Manifests manifests) {
        return first(manifests.one(Kind.Deployment));
    }

    /**
     * A container of any workload.
     *
     * @throws IllegalStateException if none has this name
     */
    public static DriverContainer named(Manifests manifests, String name) {
        return manifests.objects().stream()
                .flatMap(workload -> workload.at("/spec/template/spec/containers")
                        .valueStream()
                        .map(one -> new DriverContainer(workload, one)))
                .filter(one -> one.container().path("name").asText().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No container is called " + name));
    }

    private static DriverContainer first(JsonNode workload) {
        return new DriverContainer(workload, workload.at("/spec/template/spec/containers/0"));
    }

    /** The pod's spec. */
    public JsonNode pod() {
        return workload.at("/spec/template/spec");
    }

    /** The program, without arguments. */
    public String command() {
        return container.at("/command/0").asText();
    }

    /** The arguments. */
    public List<String> arguments() {
        return container.path("args").valueStream().map(JsonNode::asText).toList();
    }

    /** The program and its arguments, as the kubelet starts it on a test's node. */
    public List<String> commandLine() {
        return commandLine(variables());
    }

    /** The same with other values of variables. */
    List<String> commandLine(Map<String, String> variables) {
        return Stream.of("command", "args")
                .flatMap(field -> container.path(field).valueStream())
                .map(word -> expanded(word.asText(), variables))
                .toList();
    }

    /** As the kubelet does: a reference to a variable that is not set stays. */
    private static String expanded(String text, Map<String, String> variables) {
        return REFERENCE
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(variables.getOrDefault(found.group(1), found.group())));
    }

    /**
     * The variables, with an empty value for those that Kubernetes sets.
     *
     * @throws IllegalStateException if there are two of one name
     */
    public Map<String, String> environment() {
        return container
                .path("env")
                .valueStream()
                .collect(Collectors.toMap(
                        one -> one.path("name").asText(),
                        one -> one.path("value").asText()));
    }

    /** The variables as the kubelet sets them, on a test's node; may be changed. */
    public Map<String, String> variables() {
        Map<String, String> fields = Map.of(
                "spec.nodeName",
                TestNode.NAME,
                "metadata.uid",
                POD_UID,
                "metadata.namespace",
                workload.at("/metadata/namespace").asText(),
                "spec.serviceAccountName",
                pod().path("serviceAccountName").asText());
        Map<String, String> variables = new LinkedHashMap<>();
        for (JsonNode variable : container.path("env")) {
            String field = variable.at("/valueFrom/fieldRef/fieldPath").asText();
            String value = field.isEmpty() ? variable.path("value").asText() : fields.getOrDefault(field, "");
            variables.put(variable.path("name").asText(), expanded(value, variables));
        }
        return variables;
    }

    /** The same without those that a test's node sets itself. */
    public Map<String, String> onTestNode() {
        Map<String, String> own = variables();
        own.keySet().removeAll(OF_THE_NODE);
        return own;
    }

    /** The directories and files of the node, by the names of their volumes. */
    public Map<String, String> hostPaths() {
        Map<String, String> paths = new LinkedHashMap<>();
        pod().path("volumes").forEach(volume -> {
            JsonNode path = volume.at("/hostPath/path");
            if (!path.isMissingNode()) {
                paths.put(volume.path("name").asText(), path.asText());
            }
        });
        return paths;
    }

    /** The paths of volumes in the container, by the names of the volumes. */
    public Map<String, String> mounts() {
        Map<String, String> mounts = new LinkedHashMap<>();
        container
                .path("volumeMounts")
                .forEach(mount -> mounts.put(
                        mount.path("name").asText(), mount.path("mountPath").asText()));
        return mounts;
    }

    /** Asserts that it has no access to the node, and runs with minimal rights. */
    void assertHasNoRightsOnTheNode() {
        assertThat(hostPaths()).isEmpty();
        assertThat(pod().at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
        assertThat(container.path("securityContext").toString())
                .isEqualTo("{\"privileged\":false,\"allowPrivilegeEscalation\":false,"
                        + "\"readOnlyRootFilesystem\":true,\"capabilities\":{\"drop\":[\"ALL\"]}}");
    }
}
