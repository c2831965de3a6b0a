// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Publishes unusual pools, or late, and writes other CDI specs, in other places, or none. */
final class SliceVariants {

    private SliceVariants() {}

    @Altered(id = "H-7", with = NetworkPublisher.class)
    static final class NetworkPlan extends SlicePlan {
        @Override
        ObjectNode placement(ObjectNode spec) {
            return spec.put("allNodes", true);
        }
    }

    static final class NetworkPublisher extends Publisher {
        @Override
        String selector() {
            return URLEncoder.encode("spec.driver=" + driver.settings.driver(), StandardCharsets.UTF_8);
        }

        @Override
        List<JsonNode> existing() {
            return super.existing().stream()
                    .filter(slice -> slice.at("/spec/allNodes").asBoolean())
                    .toList();
        }
    }

    @Altered(id = "H-85")
    static final class LateReads extends Publisher {
        private static final Duration READS = Duration.ofSeconds(3);

        @Override
        void start() {
            super.start();
            Pauses.daemon("late reads", () -> {
                long begin = System.nanoTime(); // a number of reads would take long on a busy machine
                while (System.nanoTime() - begin < READS.toNanos()) {
                    driver.api.get("/api/v1/nodes/" + driver.settings.node());
                    Pauses.millis(5);
                }
            });
        }
    }

    /** Takes a slice that is gone for one that is there for a while, as a mutation cache does. */
    abstract static class Caching extends Publisher {
        private final Duration delay;
        private final Map<String, JsonNode> cached = new HashMap<>();
        private final Map<String, Long> missing = new HashMap<>();

        Caching(int seconds) {
            delay = Duration.ofSeconds(seconds);
        }

        @Override
        List<JsonNode> existing() {
            List<JsonNode> slices = new ArrayList<>(super.existing());
            slices.forEach(slice -> cached.put(SlicePlan.name(slice), slice));
            Set<String> there = slices.stream().map(SlicePlan::name).collect(Collectors.toSet());
            missing.keySet().removeAll(there);
            cached.keySet().stream()
                    .filter(name -> !there.contains(name))
                    .forEach(name -> missing.putIfAbsent(name, System.nanoTime()));
            cached.keySet().removeIf(name -> missing.containsKey(name) && isOver(name));
            missing.keySet().retainAll(cached.keySet());
            missing.keySet().forEach(name -> slices.add(cached.get(name)));
            return slices;
        }

        private boolean isOver(String name) {
            return System.nanoTime() - missing.getOrDefault(name, 0L) > delay.toNanos();
        }

        @Override
        long resync() {
            return 500;
        }
    }

    @Altered(id = "H-24")
    static final class Caching13Seconds extends Caching {
        Caching13Seconds() {
            super(13);
        }
    }

    @Altered(id = "H-24b")
    static final class Caching61Seconds extends Caching {
        Caching61Seconds() {
            super(61);
        }
    }

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
