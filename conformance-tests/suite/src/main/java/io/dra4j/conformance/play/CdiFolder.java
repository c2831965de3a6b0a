// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Resolves CDI device ids as a container runtime does: by the content of the specs, not their
 * names.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
final class CdiFolder {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ObjectMapper YAML = new YAMLMapper();

    private final List<Path> folders;

    /** Specs of all folders count; in the files alone they are told apart. */
    CdiFolder(List<Path> folders) {
        this.folders = List.copyOf(folders);
    }

    /** The files that are there, specs or not. */
    List<Path> files() {
        return folders.stream().flatMap(folder -> Folders.below(folder).stream()).toList();
    }

    /**
     * What a container with these devices receives; a spec's own edits once, before its devices'.
     */
    Edits resolve(Collection<String> ids) {
        List<JsonNode> specs = specs();
        Edits edits = new Edits();
        Set<JsonNode> entered = new LinkedHashSet<>();
        for (String id : new LinkedHashSet<>(ids)) {
            JsonNode spec = specOf(specs, id);
            if (entered.add(spec)) {
                edits.add(spec.path("containerEdits"));
            }
            edits.add(device(spec, id).path("containerEdits"));
        }
        return edits;
    }

    private JsonNode specOf(List<JsonNode> specs, String id) {
        List<JsonNode> found =
                specs.stream().filter(spec -> !device(spec, id).isMissingNode()).toList();
        StepFailed.unless(
                found.size() == 1,
                "the CDI device " + id + " is in " + found.size() + " specs of " + folders);
        return found.get(0);
    }

    private static JsonNode device(JsonNode spec, String id) {
        String kind = spec.path("kind").asText() + "=";
        for (JsonNode device : spec.path("devices")) {
            if (id.equals(kind + device.path("name").asText())) {
                return device;
            }
        }
        return JSON.missingNode();
    }

    private List<JsonNode> specs() {
        List<JsonNode> specs = new ArrayList<>();
        specs.addAll(read(name -> name.endsWith(".json"), JSON));
        specs.addAll(read(name -> name.endsWith(".yaml"), YAML));
        return specs;
    }

    private List<JsonNode> read(Predicate<String> named, ObjectMapper mapper) {
        List<JsonNode> read = new ArrayList<>();
        for (Path file : files()) {
            if (named.test(file.getFileName().toString())) {
                try {
                    read.add(mapper.readTree(file.toFile()));
                } catch (IOException e) {
                    throw new UncheckedIOException("cannot read the CDI spec " + file, e);
                }
            }
        }
        return read;
    }
}
