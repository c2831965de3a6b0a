// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.settings;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
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
     * An object, and where it was read.
     *
     * @param source the file, or a description of the text
     * @param document the number of its document there, from 1
     */
    public record Manifest(String source, int document, JsonNode object) {

        /** Returns the place, for messages. */
        public String place() {
            return "%s, document %d".formatted(source, document);
        }
    }

    /**
     * Reads files, and the files {@code *.yaml}, {@code *.yml} and {@code *.json} of folders.
     *
     * @param setting which setting names them, for messages
     * @throws SettingsException if one cannot be read
     */
    public static List<JsonNode> read(String setting, List<String> places) {
        return objects(documents(setting, places));
    }

    /**
     * Reads files, and the files {@code *.yaml}, {@code *.yml} and {@code *.json} of folders, in the order of their
     * names.
     *
     * @param setting which setting names them, for messages
     * @throws SettingsException if one cannot be read
     */
    public static List<Manifest> documents(String setting, List<String> places) {
        List<Manifest> manifests = new ArrayList<>();
        for (String place : places) {
            for (Path file : files(setting, Path.of(place))) {
                manifests.addAll(documents(setting, file));
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
        return objects(documents(setting, file));
    }

    private static List<JsonNode> objects(List<Manifest> manifests) {
        return manifests.stream().map(Manifest::object).toList();
    }

    private static List<Manifest> documents(String setting, Path file) {
        try {
            return documents(setting, file.toString(), Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new SettingsException(setting + ": no such file: " + file.toAbsolutePath());
        } catch (IOException e) {
            throw new SettingsException("%s: can't read %s: %s".formatted(setting, file, firstLine(e)));
        }
    }

    /**
     * Reads a text.
     *
     * @param setting the setting that has it, for messages
     * @param source what it is, for messages
     * @throws SettingsException if it is not YAML
     */
    public static List<Manifest> documents(String setting, String source, String text) {
        List<Manifest> manifests = new ArrayList<>();
        int document = 1;
        try (MappingIterator<JsonNode> documents =
                YAML.readerFor(JsonNode.class).readValues(text)) {
            for (; documents.hasNextValue(); document++) {
                JsonNode value = documents.nextValue();
                if (value.isObject()) {
                    manifests.add(new Manifest(source, document, value));
                }
            }
            return manifests;
        } catch (JsonProcessingException e) {
            throw new SettingsException("%s: can't read %s, document %d, line %d: %s"
                    .formatted(setting, source, document, line(e), firstLine(e)));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // never for a text in memory
        }
    }

    private static int line(JsonProcessingException e) {
        return e.getLocation() == null ? 1 : e.getLocation().getLineNr();
    }

    private static String firstLine(IOException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }
}
