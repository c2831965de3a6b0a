// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads settings from YAML, overridden by flags. Strict: an unknown key is an error. */
public final class SettingsReader {

    private static final ObjectMapper YAML = JsonMapper.builder(new YAMLFactory())
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
            .build();

    /** The old names of keys, which are still read, and their current ones. */
    private static final Map<String, String> RENAMED =
            Map.of("patience", "timeoutFactor", "deviations", "knownFailures");

    /** Mappings and lists in which an entry without a value has no meaning. */
    private static final List<String> COLLECTIONS = List.of(
            "/profiles",
            "/only",
            "/skip",
            "/implementation",
            "/apiServer/featureGates",
            "/apiServer/manifests",
            "/driver/process/command",
            "/driver/process/environment",
            "/driver/process/makeDirectories",
            "/driver/emptyWhenUnprepared",
            "/driver/hooks",
            "/driver/configs/valid",
            "/driver/configs/invalid",
            "/driver/claims",
            "/driver/declares",
            "/driver/cdiDirectories");

    private SettingsReader() {}

    /**
     * Reads a file of settings.
     *
     * @param flags the flags of the command line, by JSON pointer, which take precedence
     * @throws SettingsException if it cannot be read, or has an unknown key
     */
    public static Settings read(Path file, Map<String, JsonNode> flags) {
        try {
            return parse(Files.readString(file), file.toString(), flags);
        } catch (NoSuchFileException e) {
            throw new SettingsException("Can't read the settings: no such file: " + file);
        } catch (IOException e) {
            throw new SettingsException("Can't read the settings " + file + ": " + e.getMessage());
        }
    }

    /** Parses settings; their name is where the text is from, for messages. */
    public static Settings parse(String text, String name, Map<String, JsonNode> flags) {
        try {
            ObjectNode tree = tree(text);
            RENAMED.forEach((old, key) -> rename(tree, old, key));
            flags.forEach((pointer, value) -> set(tree, pointer, value));
            tree.at("/driver/hooks").properties().forEach(hook -> hook.setValue(command(hook.getValue())));
            COLLECTIONS.forEach(pointer -> requireEntries(pointer, tree.at(pointer)));
            return YAML.treeToValue(tree, Settings.class);
        } catch (SettingsException e) {
            throw new SettingsException(name + ": " + e.getMessage());
        } catch (JsonProcessingException e) {
            throw new SettingsException(name + ": " + explained(e));
        }
    }

    /** The settings as YAML, with defaults filled in. */
    public static String text(Settings settings) {
        try {
            return YAML.writeValueAsString(settings);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Settings that were read cannot be written", e);
        }
    }

    private static ObjectNode tree(String text) throws JsonProcessingException {
        JsonNode tree = YAML.readTree(text);
        if (tree instanceof ObjectNode object) {
            return object;
        }
        if (tree == null || tree.isMissingNode() || tree.isNull()) {
            return YAML.createObjectNode();
        }
        throw new SettingsException("the settings are not a mapping of names to values");
    }

    /** A command that is a string runs in a shell. */
    private static JsonNode command(JsonNode hook) {
        return hook.isTextual() ? YAML.createArrayNode().add("sh").add("-c").add(hook) : hook;
    }

    private static void requireEntries(String pointer, JsonNode collection) {
        String name = pointer.substring(1).replace('/', '.');
        collection.properties().forEach(entry -> requireValue(name + "." + entry.getKey(), entry.getValue()));
        if (collection.isArray()) {
            collection.forEach(entry -> requireValue("an entry of " + name, entry));
        }
    }

    private static void requireValue(String name, JsonNode value) {
        if (value.isNull()) {
            throw new SettingsException(name + " has no value: give it one, or remove it");
        }
    }

    private static void rename(ObjectNode tree, String old, String key) {
        JsonNode value = tree.remove(old);
        if (value != null && tree.putIfAbsent(key, value) != null) {
            throw new SettingsException("%s is the old name of %s: the settings have both".formatted(old, key));
        }
    }

    private static void set(ObjectNode tree, String pointer, JsonNode value) {
        String[] names = pointer.substring(1).split("/");
        ObjectNode parent = tree;
        for (int i = 0; i < names.length - 1; i++) {
            JsonNode known = parent.path(names[i]);
            if (known.isValueNode() && !known.isNull() || known.isArray()) {
                throw new SettingsException(names[i] + " is not a mapping of names to values");
            }
            parent = parent.withObjectProperty(names[i]);
        }
        parent.set(names[names.length - 1], value);
    }

    private static String explained(JsonProcessingException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SettingsException) {
                return String.valueOf(cause.getMessage());
            }
        }
        String line = e.getLocation() == null || e.getLocation().getLineNr() < 0
                ? ""
                : "line " + e.getLocation().getLineNr() + ": ";
        String first = e.getOriginalMessage().lines().findFirst().orElse("");
        return line + path(e) + first.replaceAll(" \\(class [^)]*\\)", "");
    }

    private static String path(JsonProcessingException e) {
        if (!(e instanceof JsonMappingException mapping) || mapping.getPath().isEmpty()) {
            return "";
        }
        return mapping.getPath().stream()
                .map(r -> r.getFieldName() == null ? "[" + r.getIndex() + "]" : r.getFieldName())
                .collect(Collectors.joining(".", "", ": "));
    }
}
