// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One CDI spec for each claim, written beside its place and renamed; it holds the record of its
 * claim as an annotation, so that a lost state can be rebuilt.
 */
class CdiSpecs {

    private static final String RECORD = "example.com/record";

    /** Device nodes that every host has, for the devices from the first on. */
    private static final List<String> NODES = List.of("null", "zero", "full", "random", "urandom");

    final BareDriver driver = Parts.driver();
    final Settings settings = driver.settings;
    final Path folder = folder();

    Path folder() {
        return settings.cdi();
    }

    String kind() {
        return settings.driver() + "/gpu";
    }

    /** The device's name in the spec: no other claim's, and no other share's. */
    String name(String uid, String device, String share) {
        return uid + "_" + device + (share.isEmpty() ? "" : "_" + share);
    }

    List<String> ids(String uid, String device, String share) {
        return List.of(kind() + "=" + name(uid, device, share));
    }

    Path file(String uid) {
        return folder.resolve(settings.driver() + "-gpu_" + uid + ".json");
    }

    ObjectNode spec(ObjectNode held) {
        ObjectNode spec = Json.object().put("cdiVersion", "0.6.0").put("kind", kind());
        spec.putObject("annotations").put(RECORD, record(held));
        ArrayNode devices = spec.putArray("devices");
        for (JsonNode device : held.path("devices")) {
            devices.add(device(device));
        }
        ArrayNode env = spec.putObject("containerEdits").putArray("env");
        env.add("KUBERNETES_NODE_NAME=" + settings.node());
        env.add("DRA_RESOURCE_DRIVER_NAME=" + settings.driver());
        return spec;
    }

    /** The part that is the same before and after the claim is prepared. */
    static String record(ObjectNode held) {
        return held.deepCopy().without("done").toString();
    }

    ObjectNode device(JsonNode device) {
        String id = device.at("/cdi/0").asText();
        String name = id.substring(id.indexOf('=') + 1);
        ObjectNode described = Json.object().put("name", name);
        ObjectNode edits = described.putObject("containerEdits");
        edits.putArray("env").addAll((ArrayNode) device.path("env"));
        if (device.has("mount")) {
            edits.putArray("mounts").add(device.path("mount"));
        }
        String node = node(device.path("device").asText());
        if (settings.is("--device-nodes") && !node.isEmpty()) {
            edits.putArray("deviceNodes").addObject().put("path", node).put("type", type());
        }
        return described;
    }

    /** The node of a device on the host; empty if it has none, or is another driver's. */
    String node(String device) {
        for (int index = 0; index < NODES.size(); index++) {
            if (device.equals("gpu-" + index)) {
                return "/dev/" + NODES.get(index);
            }
        }
        return "";
    }

    String type() {
        return "c";
    }

    void write(ObjectNode held) {
        write(held, file(held.path("uid").asText()));
    }

    void write(ObjectNode held, Path file) {
        try {
            Files.createDirectories(folder);
            put(file, spec(held).toString());
        } catch (IOException e) {
            throw new Refused("Can't write the CDI spec: " + e);
        }
    }

    void put(Path file, String content) throws IOException {
        Life.current().check();
        Path next = Files.writeString(next(file), content);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static Path next(Path file) {
        return file.resolveSibling("." + file.getFileName() + ".next");
    }

    String content(Path file) throws IOException {
        return Files.readString(file);
    }

    /** Writes the spec of a prepared claim again if it is not there as it was. */
    void restore(ObjectNode held) {
        Path file = file(held.path("uid").asText());
        try {
            if (Files.exists(file) && content(file).equals(spec(held).toString())) {
                return;
            }
        } catch (IOException e) {
            Life.current().log("Can't read " + file + ", writing it again: " + e);
        }
        write(held);
    }

    boolean isMissing(ObjectNode held) {
        return !Files.exists(file(held.path("uid").asText()));
    }

    void delete(String uid) {
        remove(next(file(uid)));
        remove(file(uid));
    }

    void remove(Path file) {
        Life.current().check();
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new Refused("Can't remove the CDI spec: " + e);
        }
    }

    /** The records in the specs that are there. */
    Map<String, ObjectNode> records() {
        Map<String, ObjectNode> records = new LinkedHashMap<>();
        for (Path file : files()) {
            try {
                String text =
                        Json.read(content(file)).at("/annotations").path(RECORD).asText();
                if (!text.isEmpty()) {
                    ObjectNode held = (ObjectNode) Json.read(text);
                    records.put(held.path("uid").asText(), held.put("done", true));
                }
            } catch (IOException e) {
                Life.current().log("Can't read " + file + ": " + e);
            }
        }
        return records;
    }

    /** The driver's own specs. */
    List<Path> files() {
        return files(settings.driver() + "-gpu_*.json");
    }

    List<Path> files(String pattern) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, pattern)) {
            return Json.sorted(found);
        } catch (IOException e) {
            throw new Refused("Can't list the CDI directory: " + e);
        }
    }
}
