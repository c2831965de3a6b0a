// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import io.dra4j.testkit.settings.ManifestFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Rendered objects.
 *
 * @param yaml the text that Helm wrote
 * @param objects the objects, in the same order
 */
public record Manifests(String yaml, List<ObjectNode> objects) {

    static final YAMLMapper MAPPER = new YAMLMapper();

    public Manifests {
        objects = List.copyOf(objects);
    }

    static Manifests of(String yaml) {
        return new Manifests(
                yaml,
                ManifestFiles.documents("the chart", "the rendered text", yaml).stream()
                        .map(manifest -> (ObjectNode) manifest.object())
                        .toList());
    }

    /** Reads a file of YAML or JSON. */
    static JsonNode file(Path file) {
        try {
            return MAPPER.readTree(file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads objects that Helm has rendered. */
    public static Manifests read(Path file) {
        try {
            return of(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The objects of a kind. */
    public List<ObjectNode> of(Kind kind) {
        return objects.stream()
                .filter(object -> object.path("kind").asText().equals(kind.name()))
                .toList();
    }

    /**
     * The only object of a kind.
     *
     * @throws IllegalStateException unless there is exactly one
     */
    public ObjectNode one(Kind kind) {
        List<ObjectNode> all = of(kind);
        if (all.size() != 1) {
            throw new IllegalStateException(all.size() + " objects are of kind " + kind);
        }
        return all.get(0);
    }

    /** The names of the kinds, in the order of the objects. */
    public List<String> kinds() {
        return objects.stream().map(object -> object.path("kind").asText()).toList();
    }

    /** The driver's ServiceAccount as {@code namespace/name}. */
    public String serviceAccount() {
        return serviceAccount(one(Kind.DaemonSet));
    }

    private static String serviceAccount(JsonNode workload) {
        return workload.at("/metadata/namespace").asText()
                + "/"
                + workload.at("/spec/template/spec/serviceAccountName").asText();
    }

    /**
     * The rights of the ServiceAccount of a workload, of which there is one.
     *
     * @param release the API server's, for example {@code 1.36}
     * @param folder for a file
     */
    public ServiceAccountAccess access(Kind workload, String driver, String release, Path folder) {
        Path file = write(folder.resolve("manifests.yaml"));
        return new ServiceAccountAccess(serviceAccount(one(workload)), List.of(file.toString()), driver, release);
    }

    /** Writes the objects, including later changes, as one file. */
    public Path write(Path file) {
        try {
            StringBuilder text = new StringBuilder();
            for (ObjectNode object : objects) {
                text.append(MAPPER.writeValueAsString(object));
            }
            return Files.writeString(file, text.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The kinds of objects in charts, by their names in the API. */
    public enum Kind {
        Certificate,
        ClusterRole,
        ClusterRoleBinding,
        ConfigMap,
        DaemonSet,
        Deployment,
        DeviceClass,
        Issuer,
        NetworkPolicy,
        PodDisruptionBudget,
        PodMonitor,
        PrometheusRule,
        ResourceQuota,
        Role,
        RoleBinding,
        SecurityContextConstraints,
        Service,
        ServiceAccount,
        ValidatingAdmissionPolicy,
        ValidatingAdmissionPolicyBinding,
        ValidatingWebhookConfiguration
    }

    /** Returns whether a selector has labels, and an object with these labels matches it. */
    static boolean selects(JsonNode selector, JsonNode labels) {
        return !selector.isEmpty()
                && selector.properties().stream().allMatch(one -> one.getValue().equals(labels.path(one.getKey())));
    }
}
