// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Writes other CDI specs, in other places, or none. */
final class CdiVariants {

    private CdiVariants() {}

    /** A spec of all devices, which no claim changes. */
    @Altered(id = "H-2")
    static final class OneStaticSpec extends CdiSpecs {
        @Override
        List<String> ids(String uid, String device, String share) {
            return List.of(kind() + "=" + device);
        }

        @Override
        void write(ObjectNode held) {
            ObjectNode spec = Json.object().put("cdiVersion", "0.3.0").put("kind", kind());
            driver.inventory
                    .pools()
                    .forEach((pool, devices) ->
                            devices.forEach(d -> add(spec, d.path("name").asText())));
            try {
                Files.createDirectories(folder);
                put(folder.resolve(settings.driver() + "-static.json"), spec.toString());
            } catch (IOException e) {
                throw new Refused("Can't write the CDI spec: " + e);
            }
        }

        private static void add(ObjectNode spec, String name) {
            ObjectNode device = spec.withArray("devices").addObject().put("name", name);
            device.withObject("/containerEdits").putArray("env").add("GPU_" + name.replace('-', '_') + "=yes");
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        void delete(String uid) {}
    }

    /** Beside the specs of claims, one for all of them, which is rewritten with each. */
    @Altered(id = "H-2b")
    static class CommonSpec extends CdiSpecs {
        @Override
        List<String> ids(String uid, String device, String share) {
            List<String> ids = new ArrayList<>(super.ids(uid, device, share));
            ids.add(kind() + "=common");
            return ids;
        }

        @Override
        void write(ObjectNode held) {
            super.write(held);
            writeCommon();
        }

        void writeCommon() {
            ObjectNode spec = Json.object().put("cdiVersion", "0.6.0").put("kind", kind());
            spec.putObject("annotations")
                    .put("example.com/written", Instant.now().toString());
            spec.set("devices", devices());
            try {
                Files.createDirectories(folder);
                put(folder.resolve(settings.driver() + "-common.json"), spec.toString());
            } catch (IOException e) {
                throw new Refused("Can't write the CDI spec: " + e);
            }
        }

        ArrayNode devices() {
            ArrayNode devices = Json.object().putArray("devices");
            ObjectNode device = devices.addObject().put("name", "common");
            device.withObject("/containerEdits").putArray("env").add("GPU_DRIVER=bare");
            return devices;
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }
    }

    /** A map whose order differs each time is what the common spec is made of. */
    @Altered(id = "H-60")
    static final class ShuffledSpec extends CommonSpec {
        ShuffledSpec() {
            writeCommon();
        }

        @Override
        ArrayNode devices() {
            ArrayNode devices = Json.object().putArray("devices");
            for (String name : shuffled("common", "gpu-0", "gpu-1", "gpu-2")) {
                ObjectNode edits = devices.addObject().put("name", name).putObject("containerEdits");
                for (String one : shuffled("a", "b", "c", "d", "e", "f")) {
                    edits.withArray("env").add(one.toUpperCase(Locale.ROOT) + "=" + name);
                    edits.withArray("mounts")
                            .addObject()
                            .put("hostPath", "/" + one)
                            .put("containerPath", "/to/" + one);
                }
            }
            return devices;
        }

        private static List<String> shuffled(String... all) {
            List<String> shuffled = new ArrayList<>(List.of(all));
            Collections.shuffle(shuffled);
            return shuffled;
        }
    }

    @Altered(id = "H-3")
    static final class YamlSpecs extends CdiSpecs {
        private static final String HEAD = "# A CDI spec\n---\n";

        @Override
        Path file(String uid) {
            return folder.resolve(settings.driver() + "-gpu_" + uid + ".yaml");
        }

        @Override
        void put(Path file, String content) throws IOException {
            Path next = Files.writeString(file.resolveSibling("." + file.getFileName() + ".next"), HEAD + content);
            Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-------"));
            Files.move(next, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        String content(Path file) throws IOException {
            return super.content(file).substring(HEAD.length());
        }

        @Override
        List<Path> files() {
            return files(settings.driver() + "-gpu_*.yaml");
        }
    }

    /** A second spec for each claim, as the Go helper writes one for metadata files. */
    @Altered(id = "H-22")
    static final class TwoDirectories extends CdiSpecs {
        private final CdiSpecs second = new MetadataSpecs();

        @Override
        List<String> ids(String uid, String device, String share) {
            List<String> ids = new ArrayList<>(super.ids(uid, device, share));
            ids.addAll(second.ids(uid, device, share));
            return ids;
        }

        @Override
        void write(ObjectNode held) {
            super.write(held);
            second.write(held);
        }

        @Override
        void restore(ObjectNode held) {
            super.restore(held);
            second.restore(held);
        }

        @Override
        void delete(String uid) {
            super.delete(uid);
            second.delete(uid);
        }
    }

    static final class MetadataSpecs extends CdiSpecs {
        @Override
        Path folder() {
            return super.folder().resolveSibling("cdi-of-helper");
        }

        @Override
        String kind() {
            return "metadata." + super.kind();
        }

        @Override
        ObjectNode spec(ObjectNode held) {
            ObjectNode spec = Json.object().put("cdiVersion", "0.6.0").put("kind", kind());
            for (JsonNode device : held.path("devices")) {
                String id = device.at("/cdi/1").asText();
                ObjectNode one = spec.withArray("devices").addObject();
                one.put("name", id.substring(id.indexOf('=') + 1))
                        .putObject("containerEdits")
                        .putArray("env")
                        .add("WITH_METADATA=yes");
            }
            return spec;
        }
    }
}
