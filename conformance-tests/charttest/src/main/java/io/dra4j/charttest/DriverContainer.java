// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.Manifests.Kind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A container of the driver's program: in the DaemonSet of a chart, or in a Deployment.
 *
 * @param pod the pod's spec
 * @param container the container
 */
public record DriverContainer(JsonNode pod, JsonNode container) {

    /** The driver on the nodes. */
    public static DriverContainer of(Manifests manifests) {
        return first(manifests.one(Kind.DaemonSet));
    }

    /** The webhook. */
    public static DriverContainer ofWebhook(Manifests manifests) {
        return first(manifests.one(Kind.Deployment));
    }

    /** The process that serves metrics of waiting claims. */
    public static DriverContainer ofClaimMetrics(Manifests manifests) {
        return first(manifests.one(Kind.Deployment));
    }

    private static DriverContainer first(JsonNode workload) {
        JsonNode pod = workload.at("/spec/template/spec");
        return new DriverContainer(pod, pod.at("/containers/0"));
    }

    /** The program, without arguments. */
    public String command() {
        return container.at("/command/0").asText();
    }

    /** The arguments. */
    public List<String> arguments() {
        return container.path("args").valueStream().map(JsonNode::asText).toList();
    }

    /** The program and its arguments, with references to variables. */
    public List<String> commandLine() {
        return Stream.of("command", "args")
                .flatMap(field -> container.path(field).valueStream())
                .map(JsonNode::asText)
                .toList();
    }

    /** The variables, with an empty value for those that Kubernetes sets. */
    public Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>();
        container
                .path("env")
                .forEach(one -> environment.put(
                        one.path("name").asText(), one.path("value").asText("")));
        return environment;
    }

    /** The directories and files of the node, by the names of their volumes. */
    public Map<String, String> hostPaths() {
        Map<String, String> paths = new LinkedHashMap<>();
        pod.path("volumes").forEach(volume -> {
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
        assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
        assertThat(container.path("securityContext").toString())
                .isEqualTo("{\"privileged\":false,\"allowPrivilegeEscalation\":false,"
                        + "\"readOnlyRootFilesystem\":true,\"capabilities\":{\"drop\":[\"ALL\"]}}");
    }
}
