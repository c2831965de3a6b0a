// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;

/** The specs: their content, how they are written, and whether they go again. */
final class CdiFaults {

    private CdiFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-60" -> parts.cdi = Late::new;
            case "M-61a" -> parts.cdi = WithoutEdits::new;
            case "M-61b" -> parts.cdi = settings -> changed(settings, "bogus", "yes");
            case "M-62" -> parts.cdi = settings -> changed(settings, "cdiVersion", "0.3.0");
            case "M-63" -> parts.cdi = Chunked::new;
            case "M-64" -> parts.cdi = Left::new;
            case "M-65" -> parts.cdi = OneForAll::new;
            case "M-66" -> parts.cdi = NamedByDevice::new;
            case "M-67" -> parts.work = Trusting::new;
            case "M-68" -> parts.driver = given -> new Tidy(given, parts);
            case "M-124a" -> parts.cdi = settings -> withNode(settings, "/dev/gone", "c");
            case "M-124b" -> parts.cdi = settings -> withNode(settings, "/dev/null", "b");
            case "M-124c" -> parts.cdi = OneNodeForTwo::new;
            case "M-125a" -> parts.cdi = OpenToAll::new;
            case "M-125b" -> parts.cdi = Untidy::new;
            case "M-125c" -> parts.cdi = OpenFolder::new;
            case "M-118a" -> parts.metadata = MetadataLeft::new;
            case "M-118b" -> parts.metadata = MetadataLate::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class Late extends CdiSpecs {
        Late(Settings settings) {
            super(settings);
        }

        @Override
        void write(ObjectNode held) {
            Pauses.later(200, () -> super.write(held));
        }
    }

    private static final class WithoutEdits extends CdiSpecs {
        WithoutEdits(Settings settings) {
            super(settings);
        }

        @Override
        ObjectNode device(JsonNode device) {
            ObjectNode described = super.device(device);
            described.putObject("containerEdits");
            return described;
        }
    }

    private static CdiSpecs changed(Settings given, String field, String value) {
        return new CdiSpecs(given) {
            @Override
            ObjectNode spec(ObjectNode held) {
                return super.spec(held).put(field, value);
            }
        };
    }

    private static final class Chunked extends CdiSpecs {
        private static final int CHUNKS = 3;

        Chunked(Settings settings) {
            super(settings);
        }

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

    private static final class Left extends CdiSpecs {
        Left(Settings settings) {
            super(settings);
        }

        @Override
        void delete(String uid) {}
    }

    /** One spec for all claims, with what each of them adds in the edits of all. */
    private static final class OneForAll extends CdiSpecs {
        private static final String PREFIX = "example.com/";

        OneForAll(Settings settings) {
            super(settings);
        }

        @Override
        Path file(String uid) {
            return super.file("all");
        }

        @Override
        Map<String, ObjectNode> records() {
            Map<String, ObjectNode> records = new LinkedHashMap<>();
            try {
                if (Files.exists(file(""))) {
                    for (JsonNode text :
                            Json.read(Files.readString(file(""))).path("annotations")) {
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

    private static final class NamedByDevice extends CdiSpecs {
        NamedByDevice(Settings settings) {
            super(settings);
        }

        @Override
        String name(String uid, String device, String share) {
            return device + (share.isEmpty() ? "" : "_" + share);
        }
    }

    private static final class Trusting extends ClaimWork {
        Trusting(BareDriver driver) {
            super(driver);
        }

        /** Not even a reboot makes it doubt. */
        @Override
        void start() {}

        @Override
        void repeat(ObjectNode known) {}
    }

    private static final class Tidy extends BareDriver {
        Tidy(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void start() throws IOException {
            cdi.files("*.json").forEach(cdi::remove);
            super.start();
        }
    }

    private static final class MetadataLeft extends Metadata {
        MetadataLeft(Settings settings) {
            super(settings);
        }

        @Override
        void delete(String uid) {}
    }

    private static final class MetadataLate extends Metadata {
        MetadataLate(Settings settings) {
            super(settings);
        }

        @Override
        void write(ObjectNode held) {
            Pauses.later(500, () -> super.write(held));
        }
    }

    private static CdiSpecs withNode(Settings given, String node, String type) {
        return new CdiSpecs(given) {
            @Override
            String node(String device) {
                return node;
            }

            @Override
            String type() {
                return type;
            }
        };
    }

    private static final class OneNodeForTwo extends CdiSpecs {
        OneNodeForTwo(Settings settings) {
            super(settings);
        }

        @Override
        String node(String device) {
            return super.node(device.equals("gpu-1") ? "gpu-0" : device);
        }
    }

    private static final class OpenToAll extends CdiSpecs {
        OpenToAll(Settings settings) {
            super(settings);
        }

        @Override
        void put(Path file, String content) throws IOException {
            super.put(file, content);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        }
    }

    private static final class OpenFolder extends CdiSpecs {
        OpenFolder(Settings settings) {
            super(settings);
        }

        @Override
        void put(Path file, String content) throws IOException {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
            super.put(file, content);
        }
    }

    /** What it writes first stays beside what it wrote. */
    private static final class Untidy extends CdiSpecs {
        Untidy(Settings settings) {
            super(settings);
        }

        @Override
        void put(Path file, String content) throws IOException {
            Files.writeString(file.resolveSibling("." + file.getFileName() + ".tmp"), content);
            super.put(file, content);
        }
    }
}
