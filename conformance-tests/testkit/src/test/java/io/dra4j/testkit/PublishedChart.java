// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import io.dra4j.testkit.settings.ManifestFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The published chart of a driver in Go, as far as it concerns a drop-in replacement: the containers'
 * commands and environments, and the rights of their ServiceAccount.
 *
 * @param file the manifests, rendered with the chart's default values
 */
public record PublishedChart(Path file) {

    /** The UID of the pod in which the containers are. */
    public static final String POD_UID = "0e9ccd0b-43d2-4a8f-9a0e-0123456789ab";

    /** The variables that {@link TestNode} sets itself. */
    private static final Set<String> OF_THE_NODE =
            Set.of("NODE_NAME", "CDI_ROOT", "KUBELET_PLUGINS_DIRECTORY_PATH", "KUBELET_REGISTRAR_DIRECTORY_PATH");

    private static final Pattern REFERENCE = Pattern.compile("\\$\\(([A-Za-z_][A-Za-z0-9_]*)\\)");

    /**
     * A container as the kubelet starts it.
     *
     * @param command the command and its arguments
     * @param environment the variables of the manifest
     */
    public record Container(List<String> command, Map<String, String> environment) {

        /** Returns the environment without what a test's node sets itself, to be changed. */
        public Map<String, String> onTestNode() {
            Map<String, String> own = new LinkedHashMap<>(environment);
            own.keySet().removeAll(OF_THE_NODE);
            return own;
        }
    }

    /** Returns a container of any workload. */
    public Container container(String name) {
        for (JsonNode manifest : manifests()) {
            JsonNode pod = manifest.at("/spec/template/spec");
            for (JsonNode container : pod.path("containers")) {
                if (container.path("name").asText().equals(name)) {
                    return read(container, fields(manifest, pod));
                }
            }
        }
        throw new AssertionError("No container " + name + " in " + file);
    }

    private static Map<String, String> fields(JsonNode manifest, JsonNode pod) {
        return Map.of(
                "spec.nodeName",
                TestNode.NAME,
                "metadata.uid",
                POD_UID,
                "metadata.namespace",
                manifest.at("/metadata/namespace").asText(),
                "spec.serviceAccountName",
                pod.path("serviceAccountName").asText());
    }

    private static Container read(JsonNode container, Map<String, String> fields) {
        Map<String, String> environment = new LinkedHashMap<>();
        for (JsonNode variable : container.path("env")) {
            String field = variable.at("/valueFrom/fieldRef/fieldPath").asText();
            String value = field.isEmpty() ? variable.path("value").asText() : fields.getOrDefault(field, "");
            environment.put(variable.path("name").asText(), expand(value, environment));
        }
        List<String> command = new ArrayList<>();
        Stream.of("command", "args")
                .flatMap(field -> container.path(field).valueStream())
                .forEach(word -> command.add(expand(word.asText(), environment)));
        return new Container(command, environment);
    }

    /** As the kubelet does: a reference to a variable that is not set stays. */
    private static String expand(String text, Map<String, String> environment) {
        return REFERENCE
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(environment.getOrDefault(found.group(1), found.group())));
    }

    /** Returns the rights of the ServiceAccount in a release of Kubernetes, such as 1.36. */
    public ServiceAccountAccess access(String driver, String release) {
        JsonNode account = objects("ServiceAccount").get(0);
        String name = account.at("/metadata/namespace").asText()
                + "/"
                + account.at("/metadata/name").asText();
        return new ServiceAccountAccess(name, List.of(file.toString()), driver, release);
    }

    /** Returns the objects of a kind. */
    public List<JsonNode> objects(String kind) {
        return manifests().stream()
                .filter(each -> each.path("kind").asText().equals(kind))
                .toList();
    }

    private List<JsonNode> manifests() {
        return ManifestFiles.file("the published chart", file);
    }
}
