// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The CDI directories as a container runtime sees them: ids are resolved by the content of the specs, JSON or YAML, and
 * never by the names of files. Of two devices with the same name, the one in the later directory counts; two in one
 * directory are a conflict.
 *
 * <p>Files of the directory that the driver was given, {@code folder}, go by their names, others by their paths.
 *
 * @param isOwn whether a file is the driver's, by its name and text: others may write to the same directories
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
public record CdiView(Path folder, List<Path> folders, Predicate<String> isOwn) {

    /** The requirement that the ids of an answer resolve. */
    static final String IDS = "DRA-CDI-02";

    /** Like runtimes, which refuse a spec that has a key twice. */
    private static final ObjectMapper JSON =
            new ObjectMapper(strict(new JsonFactory())).enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private static final ObjectMapper YAML = new ObjectMapper(strict(new YAMLFactory()));

    private static JsonFactory strict(JsonFactory factory) {
        return factory.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
    }

    public CdiView {
        folders = List.copyOf(folders);
    }

    /** Directories to which only the driver writes. */
    public CdiView(Path folder, List<Path> folders) {
        this(folder, folders, text -> true);
    }

    public Path path(String file) {
        return folder.resolve(file);
    }

    /** Every regular file's content, by name. */
    public Map<String, String> files() {
        Map<String, String> content = new TreeMap<>();
        folders.forEach(one -> content.putAll(files(one)));
        return content;
    }

    private Map<String, String> files(Path directory) {
        Map<String, String> content = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                content.put(name(file), text(file));
            }
        } catch (NoSuchFileException e) {
            return content;
        } catch (IOException e) {
            throw new UncheckedIOException("Can't list " + directory, e);
        }
        return content;
    }

    private String name(Path file) {
        Path directory = file.getParent();
        return (folder.equals(directory) ? file.getFileName() : file).toString();
    }

    private static String text(Path file) throws IOException {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            return ""; // gone since it was listed
        }
    }

    /** The specs, by the names of their files; one of the driver that is neither JSON nor YAML is a violation. */
    public Map<String, JsonNode> specs() {
        Map<String, JsonNode> specs = new TreeMap<>();
        folders.forEach(one -> specs.putAll(specs(one)));
        return specs;
    }

    private Map<String, JsonNode> specs(Path directory) {
        Map<String, String> files = files(directory);
        files.keySet().removeIf(name -> !isSpec(name));
        Map<String, JsonNode> specs = new TreeMap<>();
        files.forEach((name, content) -> specs.put(name, parsed(name, content)));
        return specs;
    }

    /** Returns whether a runtime reads a file of this name. */
    public static boolean isSpec(String file) {
        return file.endsWith(".json") || file.endsWith(".yaml");
    }

    /** Returns the content of the specs as a runtime reads them, which ignores annotations. */
    public Content contents() {
        return Content.of(unannotated());
    }

    /** Returns the same, with the text of other files. */
    public Content allContents() {
        Map<String, JsonNode> all = new TreeMap<>();
        files().forEach((file, text) -> all.put(file, TextNode.valueOf(text)));
        all.putAll(unannotated());
        return Content.of(all);
    }

    private Map<String, JsonNode> unannotated() {
        Map<String, JsonNode> specs = specs();
        for (JsonNode spec : specs.values()) {
            unannotated(spec);
            spec.path("devices").forEach(CdiView::unannotated);
        }
        return specs;
    }

    private static void unannotated(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.remove("annotations");
        }
    }

    /** Describes the changes to the driver's specs since then, a clause each. */
    public List<String> changes(Content before) {
        return contents().differences(before, isOwn);
    }

    /** Describes the changes to all files of the driver since then. */
    public List<String> allChanges(Content before) {
        return allContents().differences(before, isOwn);
    }

    private JsonNode parsed(String name, String content) {
        try {
            return content.startsWith("{") ? json(content) : YAML.readTree(content);
        } catch (IOException e) {
            if (!isOwn.test(name + content)) {
                return TextNode.valueOf(content); // which runtimes ignore
            }
            throw new Violation("the CDI spec %s can't be parsed: %s", name, e.getMessage()).about(IDS);
        }
    }

    /** Text that begins as JSON can be YAML, but hardly ever is, and JSON is faster. */
    private static JsonNode json(String content) throws IOException {
        try {
            return JSON.readTree(content);
        } catch (JsonProcessingException e) {
            return YAML.readTree(content);
        }
    }

    /** A device that an id resolves to: its file, the spec, and the device in it. */
    public record Resolved(String file, JsonNode spec, JsonNode device) {

        /** The edits of the device, then those of its spec. */
        public List<JsonNode> edits() {
            return List.of(device.path("containerEdits"), spec.path("containerEdits"));
        }
    }

    /** Everything that an id resolves to: one device, in healthy directories. */
    public List<Resolved> find(String id) {
        List<Resolved> found = new ArrayList<>();
        for (int at = folders.size() - 1; at >= 0 && found.isEmpty(); at--) {
            specs(folders.get(at)).forEach((file, spec) -> found.addAll(find(id, file, spec)));
        }
        return found;
    }

    private static List<Resolved> find(String id, String file, JsonNode spec) {
        return spec.path("devices")
                .valueStream()
                .filter(one -> id.equals(
                        spec.path("kind").asText() + "=" + one.path("name").asText()))
                .map(device -> new Resolved(file, spec, device))
                .toList();
    }

    /** Returns whether an id resolves to exactly one device. */
    public boolean resolves(String id) {
        return find(id).size() == 1;
    }

    /** Resolves an id to the only device that has it; none, or several, are a violation. */
    public Resolved resolve(String id) {
        List<Resolved> found = find(id);
        Violation.unless(!found.isEmpty())
                .about(IDS)
                .because(
                        "the CDI id %s resolves to nothing; %s has %s",
                        id, folders.size() == 1 ? "the directory" : folders, files().keySet());
        Violation.unless(found.size() == 1)
                .about(IDS)
                .because(
                        "the CDI id %s is defined more than once, in %s, and so resolves to nothing",
                        id, found.stream().map(Resolved::file).toList());
        return found.get(0);
    }

    public static List<String> ids(ClaimResult answer) {
        return ids(answer.devices());
    }

    private static List<String> ids(List<PreparedDevice> devices) {
        return devices.stream()
                .flatMap(one -> one.cdiDeviceIds().stream())
                .distinct()
                .toList();
    }

    /**
     * Returns the edits of a container with these devices, a line for each, such as {@code env
     * GPU=0} or {@code deviceNodes {"path":"/dev/x"}}, sorted.
     */
    public List<String> edits(List<PreparedDevice> devices) {
        return ids(devices).stream()
                .flatMap(id -> resolve(id).edits().stream())
                .flatMap(edits -> edits.properties().stream())
                .flatMap(CdiView::lines)
                .distinct()
                .sorted()
                .toList();
    }

    private static Stream<String> lines(Map.Entry<String, JsonNode> edit) {
        JsonNode value = edit.getValue();
        return (value.isArray() ? ApiObjects.elements(value) : List.of(value))
                .stream().map(one -> edit.getKey() + " " + Content.text(one));
    }
}
