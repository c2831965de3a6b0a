// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.kubectl.read.ReadException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The objects of a file, in YAML or JSON, that need not be applied.
 *
 * @param objects the objects in the order of the file; those of lists one by one
 */
record Manifest(List<JsonNode> objects) {
    static final Manifest EMPTY = new Manifest(List.of());

    private static final Path STANDARD_INPUT = Path.of("-");
    private static final ObjectReader YAML = new YAMLMapper().readerFor(JsonNode.class);

    /**
     * Reads a file.
     *
     * @throws ReadException if it can't be read
     */
    static Manifest read(Path file) {
        try (InputStream in = file.equals(STANDARD_INPUT) ? System.in : Files.newInputStream(file);
                MappingIterator<JsonNode> documents = YAML.readValues(in)) {
            List<JsonNode> objects = new ArrayList<>();
            while (documents.hasNextValue()) {
                addTo(objects, documents.nextValue());
            }
            return new Manifest(objects);
        } catch (NoSuchFileException e) {
            throw new ReadException("There is no manifest " + file);
        } catch (IOException e) {
            throw new ReadException("The manifest %s can't be read: %s".formatted(file, e.getMessage()));
        }
    }

    private static void addTo(List<JsonNode> objects, JsonNode object) {
        if (object.path("kind").asText().endsWith("List")) {
            object.path("items").forEach(one -> addTo(objects, one));
        } else if (object.isObject()) {
            objects.add(object);
        }
    }

    /**
     * The pods of the file, including those that its workloads would have; without any, its claims and templates.
     *
     * @throws ReadException if it has none of these
     */
    List<Subject> subjects(ObjectFinder finder, String namespace) {
        List<Subject> subjects = new ArrayList<>();
        for (JsonNode one : objects) {
            JsonNode pod = pod(one);
            if (pod.isObject()) {
                subjects.add(reader(finder, one, namespace).podOfFile(pod, pods(one)));
            }
        }
        for (JsonNode one : subjects.isEmpty() ? objects : List.<JsonNode>of()) {
            String name = one.at("/metadata/name").asText();
            SubjectReader reader = reader(finder, one, namespace);
            switch (one.path("kind").asText()) {
                case "ResourceClaim" -> subjects.add(reader.claim(name));
                case "ResourceClaimTemplate" -> subjects.add(reader.templateOfFile(name, one));
                default -> {}
            }
        }
        if (subjects.isEmpty()) {
            throw new ReadException("The manifest has no pod, no workload with pods, no claim and no template");
        }
        return subjects;
    }

    private static SubjectReader reader(ObjectFinder finder, JsonNode object, String namespace) {
        return new SubjectReader(finder, object.at("/metadata/namespace").asText(namespace));
    }

    /** Returns how many pods a workload runs at the same time. */
    private static long pods(JsonNode object) {
        JsonNode job = object.at("/spec/jobTemplate/spec");
        JsonNode spec = job.isMissingNode() ? object.path("spec") : job;
        long parallelism = spec.path("parallelism").asLong(1);
        return spec.path("replicas")
                .asLong(Math.min(parallelism, spec.path("completions").asLong(parallelism)));
    }

    /** The pod itself, or that of a workload: of a Deployment, a Job, a CronJob and such. */
    private static JsonNode pod(JsonNode object) {
        if (object.path("kind").asText().equals("Pod")) {
            return object;
        }
        for (String place : List.of("/spec/template", "/spec/jobTemplate/spec/template")) {
            if (object.at(place + "/spec").has("containers")) {
                ObjectNode pod = object.at(place).deepCopy();
                ObjectNode metadata = pod.withObject("/metadata");
                for (String field : List.of("name", "generateName", "namespace")) {
                    if (object.path("metadata").has(field)) {
                        metadata.set(field, object.path("metadata").path(field));
                    }
                }
                return pod;
            }
        }
        return MissingNode.getInstance();
    }
}
