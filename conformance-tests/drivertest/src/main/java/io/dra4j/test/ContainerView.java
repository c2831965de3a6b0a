// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The changes that a container runtime makes to a container with some CDI devices.
 *
 * <p>Ids are resolved by the content of the specs in the CDI directories. Of each spec, its own edits are applied once,
 * then those of its devices; of two environment variables with the same name, the later one counts. The asserting
 * methods throw an {@link AssertionError} that lists all changes. Immutable.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
public final class ContainerView {

    private static final YAMLMapper YAML = new YAMLMapper();

    private final Map<String, String> env = new LinkedHashMap<>();
    private final Map<String, String> deviceNodes = new LinkedHashMap<>();
    private final Map<String, String> mounts = new LinkedHashMap<>();
    private final List<String> edits = new ArrayList<>();

    private ContainerView() {}

    /**
     * Resolves CDI ids.
     *
     * @param cdiDirectories the directories of specs, in ascending priority
     * @param ids the ids, such as {@code example.com/fpga=fpga-0}
     * @return the changes
     * @throws AssertionError if an id does not resolve to exactly one device
     */
    public static ContainerView of(List<Path> cdiDirectories, Collection<String> ids) {
        ContainerView view = new ContainerView();
        Set<JsonNode> applied = new LinkedHashSet<>();
        for (String id : new LinkedHashSet<>(ids)) {
            Found found = find(cdiDirectories, id);
            if (applied.add(found.spec())) {
                view.apply(found.spec().path("containerEdits"));
            }
            view.apply(found.device().path("containerEdits"));
        }
        return view;
    }

    private record Found(JsonNode spec, JsonNode device) {}

    private static Found find(List<Path> directories, String id) {
        for (int at = directories.size() - 1; at >= 0; at--) {
            List<Found> found = new ArrayList<>();
            specs(directories.get(at)).forEach(spec -> found.addAll(find(spec, id)));
            if (found.size() > 1) {
                throw new AssertionError("The CDI id " + id + " is defined more than once");
            }
            if (!found.isEmpty()) {
                return found.get(0);
            }
        }
        throw new AssertionError("The CDI id " + id + " is in no spec in " + directories);
    }

    private static List<Found> find(JsonNode spec, String id) {
        List<Found> found = new ArrayList<>();
        for (JsonNode device : spec.path("devices")) {
            if (id.equals(spec.path("kind").asText() + "=" + device.path("name").asText())) {
                found.add(new Found(spec, device));
            }
        }
        return found;
    }

    private static List<JsonNode> specs(Path directory) {
        List<JsonNode> specs = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.sorted().toList()) {
                if (file.toString().endsWith(".json") || file.toString().endsWith(".yaml")) {
                    specs.add(YAML.readTree(file.toFile()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Can't read the CDI specs in " + directory, e);
        }
        return specs;
    }

    private void apply(JsonNode containerEdits) {
        for (JsonNode variable : containerEdits.path("env")) {
            String[] parts = variable.asText().split("=", 2);
            env.put(parts[0], parts.length > 1 ? parts[1] : "");
        }
        for (JsonNode node : containerEdits.path("deviceNodes")) {
            String path = node.path("path").asText();
            deviceNodes.put(path, node.path("hostPath").asText(path));
        }
        for (JsonNode mount : containerEdits.path("mounts")) {
            mounts.put(
                    mount.path("containerPath").asText(), mount.path("hostPath").asText());
        }
        if (!containerEdits.isMissingNode()) {
            edits.add(containerEdits.toString());
        }
    }

    /** {@return the environment variables that the container gets} */
    public Map<String, String> env() {
        return Map.copyOf(env);
    }

    /** {@return the device nodes that the container gets: paths in it, with those of the host} */
    public Map<String, String> deviceNodes() {
        return Map.copyOf(deviceNodes);
    }

    /** {@return the mounts that the container gets: paths in it, with those of the host} */
    public Map<String, String> mounts() {
        return Map.copyOf(mounts);
    }

    /** {@return all edits as JSON texts, as they are applied, including hooks} */
    public List<String> rawJson() {
        return List.copyOf(edits);
    }

    /**
     * Asserts that the container has an environment variable.
     *
     * @param name its name
     * @param value its value
     * @return this view
     */
    public ContainerView hasEnv(String name, String value) {
        return has("environment variable", env, name, value);
    }

    /**
     * Asserts that the container has a device node.
     *
     * @param path its path in the container
     * @return this view
     */
    public ContainerView hasDeviceNode(String path) {
        return has("device node", deviceNodes, path, deviceNodes.getOrDefault(path, "any"));
    }

    /**
     * Asserts that the container has a mount.
     *
     * @param hostPath the path on the node
     * @param containerPath the path in the container
     * @return this view
     */
    public ContainerView hasMount(String hostPath, String containerPath) {
        return has("mount", mounts, containerPath, hostPath);
    }

    private ContainerView has(String what, Map<String, String> all, String key, String value) {
        if (Objects.equals(all.get(key), value)) {
            return this;
        }
        throw new AssertionError("The container has no %s %s with %s; it has %s".formatted(what, key, value, this));
    }

    @Override
    public String toString() {
        return "env %s, device nodes %s, mounts %s".formatted(env, deviceNodes, mounts);
    }
}
