// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;

/** The specs: their content, how they are written, and whether they go again. */
final class CdiMutants {

    private CdiMutants() {}

    @Altered(id = "M-60")
    static final class Late extends CdiSpecs {
        @Override
        void write(ObjectNode held) {
            Pauses.later(200, () -> super.write(held));
        }
    }

    @Altered(id = "M-61a")
    static final class WithoutEdits extends CdiSpecs {
        @Override
        ObjectNode device(JsonNode device) {
            ObjectNode described = super.device(device);
            described.putObject("containerEdits");
            return described;
        }
    }

    /** Its container edits have what comes with each device of the claim. */
    @Altered(id = "M-260")
    static final class OneForTheClaim extends CdiSpecs {
        @Override
        String name(String uid, String device, String share) {
            return "claim-" + uid;
        }

        @Override
        ObjectNode spec(ObjectNode held) {
            ObjectNode spec = super.spec(held);
            ObjectNode all = (ObjectNode) spec.path("devices").path(0);
            ArrayNode env = all.withObject("containerEdits").putArray("env");
            held.path("devices").forEach(each -> env.addAll((ArrayNode) each.path("env")));
            spec.putArray("devices").add(all);
            return spec;
        }
    }

    @Altered(id = "M-63")
    static final class Chunked extends CdiSpecs {
        private static final int CHUNKS = 3;

        @Override
        void put(Path file, String content) throws IOException {
            Files.writeString(file, "");
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                int from = content.length() * chunk / CHUNKS;
                int to = content.length() * (chunk + 1) / CHUNKS;
                Files.writeString(file, content.substring(from, to), StandardOpenOption.APPEND);
                Pauses.millis(30);
            }
        }
    }

    /** One spec for all claims, with what each of them adds in the edits of all. */
    @Altered(id = "M-65")
    static final class OneForAll extends CdiSpecs {
        private static final String PREFIX = "example.com/";

        @Override
        Path file(String uid) {
            return super.file("all");
        }

        @Override
        Map<String, ObjectNode> records() {
            Map<String, ObjectNode> records = new LinkedHashMap<>();
            try {
                if (Files.exists(file(""))) {
                    for (JsonNode text : Json.read(Files.readString(file(""))).path("annotations")) {
                        ObjectNode held = (ObjectNode) Json.read(text.asText());
                        records.put(held.path("uid").asText(), held.put("done", true));
                    }
                }
            } catch (IOException e) {
                throw new Refused("Can't read the CDI spec: " + e);
            }
            return records;
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        void write(ObjectNode held) {
            Map<String, ObjectNode> records = records();
            records.put(held.path("uid").asText(), held);
            write(records);
        }

        @Override
        void delete(String uid) {
            Map<String, ObjectNode> records = records();
            if (records.remove(uid) == null) {
                return;
            }
            if (records.isEmpty()) {
                super.delete(uid);
            } else {
                write(records);
            }
        }

        private void write(Map<String, ObjectNode> records) {
            ObjectNode all = super.spec(records.values().iterator().next());
            all.putObject("annotations");
            all.putArray("devices");
            for (ObjectNode held : records.values()) {
                String uid = held.path("uid").asText();
                all.withObject("/annotations").put(PREFIX + uid, record(held));
                held.path("devices").forEach(d -> all.withArray("devices").add(device(d)));
                all.withObject("/containerEdits").withArray("env").add("RESOURCE_CLAIM=" + uid);
            }
            try {
                put(file(""), all.toString());
            } catch (IOException e) {
                throw new Refused("Can't write the CDI spec: " + e);
            }
        }
    }

    @Altered(id = "M-68")
    static final class Tidy extends BareDriver {
        @Override
        void start() throws IOException {
            cdi.files("*.json").forEach(cdi::remove);
            super.start();
        }
    }

    @Altered(id = "M-118e")
    static final class MetadataOfHalf extends Metadata {
        @Override
        ObjectNode content(ObjectNode held, JsonNode first, String version) {
            ObjectNode content = super.content(held, first, version);
            if (version.equals("v1alpha1")) {
                content.putArray("requests");
            }
            return content;
        }
    }

    @Altered(id = "M-124c")
    static final class OneNodeForTwo extends CdiSpecs {
        @Override
        String node(String device) {
            return super.node(device.equals("gpu-1") ? "gpu-0" : device);
        }
    }

    @Altered(id = "M-125a")
    static final class OpenToAll extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            super.put(file, content);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        }
    }

    @Altered(id = "M-125c")
    static final class OpenFolder extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
            super.put(file, content);
        }
    }

    /** A first version of the spec stays beside the final one. */
    @Altered(id = "M-125b")
    static final class Untidy extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            Files.writeString(file.resolveSibling("." + file.getFileName() + ".tmp"), content);
            super.put(file, content);
        }
    }
}
