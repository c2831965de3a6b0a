// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.settings;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads the manifests that a setting names: YAML, with any number of documents in a file. */
public final class ManifestFiles {

    private static final ObjectMapper YAML = new YAMLMapper();

    private ManifestFiles() {}

    /**
     * Reads files, and the files {@code *.yaml}, {@code *.yml} and {@code *.json} of folders.
     *
     * @param setting which setting names them, for messages
     * @throws SettingsException if one cannot be read
     */
    public static List<JsonNode> read(String setting, List<String> places) {
        List<JsonNode> manifests = new ArrayList<>();
        for (String place : places) {
            for (Path file : files(setting, Path.of(place))) {
                manifests.addAll(file(setting, file));
            }
        }
        return manifests;
    }

    private static List<Path> files(String setting, Path place) {
        if (!Files.isDirectory(place)) {
            return List.of(place);
        }
        try (Stream<Path> all = Files.list(place)) {
            return all.filter(file -> file.toString().matches(".*\\.(ya?ml|json)"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new SettingsException(setting + ": can't list " + place + ": " + e.getMessage());
        }
    }

    /**
     * The objects of one file.
     *
     * @param setting which setting names it, for messages
     * @throws SettingsException if it cannot be read
     */
    public static List<JsonNode> file(String setting, Path file) {
        try (MappingIterator<JsonNode> documents =
                YAML.readerFor(JsonNode.class).readValues(Files.readString(file))) {
            return documents.readAll().stream().filter(JsonNode::isObject).toList();
        } catch (NoSuchFileException e) {
            throw new SettingsException(setting + ": there is no file " + file.toAbsolutePath());
        } catch (IOException e) {
            String first = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            throw new SettingsException("%s: can't read %s: %s".formatted(setting, file, first));
        }
    }
}
