// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A platform: the names, links and loaders' caches of its files, without contents, and what is to be found among them.
 *
 * @param id the name of its file
 * @param data what the file has; V stands for the driver's version
 */
public record Platform(String id, JsonNode data) {

    private static final Path ALL = Path.of("src/test/resources/io/dra4j/nvidia/platforms");
    private static final List<String> NODES = List.of("nvidiactl", "nvidia0", "nvidia-uvm", "nvidia-uvm-tools");

    /** Reads all platforms, sorted. */
    public static List<Platform> all() throws IOException {
        try (Stream<Path> files = Files.list(ALL)) {
            List<Platform> all = new ArrayList<>();
            for (Path file : files.sorted().toList()) {
                String text = Files.readString(file).replaceAll("\\bV\\b", StandInNode.VERSION);
                String id = file.getFileName().toString().replace(".yaml", "");
                all.add(new Platform(id, new YAMLMapper().readTree(text)));
            }
            return all;
        }
    }

    /** Returns a text; empty if it has none. */
    public String text(String field) {
        return data.path(field).asText();
    }

    /** Returns a list; empty if it has none. */
    public List<String> list(String field) {
        List<String> list = new ArrayList<>();
        data.path(field).forEach(one -> list.add(one.asText()));
        return list;
    }

    /** Returns the chart's values that an administrator sets. */
    public Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        data.path("values")
                .properties()
                .forEach(one -> values.put(one.getKey(), one.getValue().asText()));
        return values;
    }

    /** Returns the folder of device nodes on the node. */
    public String dev() {
        return "/" + data.path("dev").asText("dev");
    }

    /**
     * Makes the files, with the library of a node that has boards.
     *
     * @param root the root of the platform, as seen from here
     */
    public void create(Path root, StandInNode boards) throws IOException {
        for (String line : text("tree").lines().toList()) {
            create(root, line);
        }
        if (text("refused").isEmpty()) {
            for (String node : NODES) {
                file(root.resolve(dev().substring(1)).resolve(node), "");
            }
        }
        for (Map.Entry<String, JsonNode> cache : data.path("caches").properties()) {
            List<String> libraries = new ArrayList<>();
            cache.getValue().forEach(library -> libraries.add(library.asText() + "|0x0303"));
            Files.createDirectories(root.resolve(cache.getKey()).getParent());
            Files.write(root.resolve(cache.getKey()), LoaderCache.bytes(libraries.toArray(String[]::new)));
        }
        for (String end : List.of("", ".boards")) {
            Path file = root.resolve(text("nvml").substring(1) + end);
            Files.deleteIfExists(file);
            Files.copy(Path.of(boards.library() + end), file);
        }
        file(boards.sysfs().resolve("module/firmware_class/parameters/path"), text("firmware"));
    }

    /** Returns the hardware below a root, after its library was opened. */
    public NodeState state(Path root) {
        return NodeState.map(root.resolve(text("nvml").substring(1) + ".state"));
    }

    private static void create(Path root, String line) throws IOException {
        String[] link = line.split(" -> ");
        String[] text = line.split(" = ");
        if (link.length == 2) {
            Files.createDirectories(root.resolve(link[0]).getParent());
            Files.createSymbolicLink(root.resolve(link[0]), Path.of(link[1]));
        } else if (line.endsWith("/")) {
            Files.createDirectories(root.resolve(line));
        } else {
            file(root.resolve(text[0]), text.length == 2 ? text[1] : "");
        }
    }

    private static void file(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Override
    public String toString() {
        return id;
    }
}
