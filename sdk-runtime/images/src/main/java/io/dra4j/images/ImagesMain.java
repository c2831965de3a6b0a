// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;

/** The program that a build runs: it writes archives of images, and prints their paths and sizes. */
public final class ImagesMain {

    private static final double MEGABYTE = 1_000_000;

    private ImagesMain() {}

    /** Builds the image of the driver whose jar is given in the settings, or all images of this repository. */
    public static void main(String[] args) throws IOException {
        Inputs inputs = Inputs.of(args);
        if (inputs.jar().isEmpty()) {
            Folders.remove(inputs.images());
        }
        Map<Image, List<Path>> archives = new LinkedHashMap<>();
        for (Machine machine : inputs.architectures()) {
            ImageBuild build = new ImageBuild(inputs, machine);
            for (Image image : build.images()) {
                Path archive = build.write(image);
                archives.computeIfAbsent(image, first -> new ArrayList<>()).add(archive);
                print(archive);
            }
            if (!machine.equals(Machine.current()) && inputs.given("emulator").isEmpty()) {
                System.out.printf(
                        "Images for %s have no AOT cache, and start more slowly: -Dimage.emulator names no program that runs their JVM%n",
                        machine.architecture());
            }
        }
        for (Map.Entry<Image, List<Path>> entry : archives.entrySet()) {
            if (entry.getValue().size() > 1) {
                String name = entry.getKey().name();
                Path file = inputs.images().resolve(name + "-" + inputs.version() + ".tar");
                print(OciIndex.write(
                        entry.getValue(), file, "localhost/" + name + ":" + inputs.version(), inputs.time()));
            }
        }
    }

    private static void print(Path archive) throws IOException {
        System.out.printf("%s: %.1f MB%n", archive, Files.size(archive) / MEGABYTE);
    }

    /**
     * An archive in OCI's layout with an index of the images of several architectures.
     *
     * <p>A layer shared by two images is stored once. The layout names only the index, so that a tool takes all images by
     * the tag, or the one of its platform.
     */
    static final class OciIndex {

        private static final ObjectMapper JSON = new ObjectMapper();
        private static final String INDEX = "application/vnd.oci.image.index.v1+json";
        private static final String LAYOUT = "{\"imageLayoutVersion\":\"1.0.0\"}";

        private final TarArchiveOutputStream tar;
        private final Instant time;
        private final Set<String> written = new HashSet<>();
        private final ObjectNode index = index();

        private OciIndex(TarArchiveOutputStream tar, Instant time) {
            this.tar = tar;
            this.time = time;
        }

        /** Writes the archive of a name from the archives of its architectures. */
        static Path write(List<Path> archives, Path file, String name, Instant time) {
            try (TarArchiveOutputStream tar =
                    new TarArchiveOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
                OciIndex all = new OciIndex(tar, time);
                for (Path archive : archives) {
                    all.add(archive);
                }
                all.finish(name);
                return file;
            } catch (IOException e) {
                throw new ImageBuildException("Can't write " + file + " from " + archives + ": " + e, e);
            }
        }

        private static ObjectNode index() {
            return JSON.createObjectNode().put("schemaVersion", 2).put("mediaType", INDEX);
        }

        private void add(Path archive) throws IOException {
            Unpacked image = Unpacked.names(archive);
            ObjectNode found = index.withArray("/manifests").addObject();
            found.put("mediaType", image.descriptor().get("mediaType").asText());
            found.put("digest", image.descriptor().get("digest").asText());
            found.put("size", image.descriptor().get("size").asLong());
            JsonNode config = image.config();
            found.putObject("platform")
                    .put("architecture", config.get("architecture").asText())
                    .put("os", config.get("os").asText());
            for (Map.Entry<String, byte[]> blob : Unpacked.blobs(archive).entrySet()) {
                if (blob.getKey().startsWith("blobs/")) {
                    put(blob.getKey(), blob.getValue());
                }
            }
        }

        private void put(String name, byte[] content) throws IOException {
            if (!written.add(name)) {
                return;
            }
            TarArchiveEntry entry = new TarArchiveEntry(name);
            entry.setSize(content.length);
            entry.setModTime(time.toEpochMilli());
            tar.putArchiveEntry(entry);
            tar.write(content);
            tar.closeArchiveEntry();
        }

        private void finish(String name) throws IOException {
            byte[] content = JSON.writeValueAsBytes(index);
            String digest = sha256(content);
            put("blobs/sha256/" + digest, content);
            ObjectNode top = index();
            ObjectNode found = top.withArray("/manifests").addObject();
            found.put("mediaType", INDEX).put("digest", "sha256:" + digest).put("size", content.length);
            found.putObject("annotations")
                    .put("io.containerd.image.name", name)
                    .put("org.opencontainers.image.ref.name", name);
            put("oci-layout", LAYOUT.getBytes(StandardCharsets.UTF_8));
            put("index.json", JSON.writeValueAsBytes(top));
        }

        private static String sha256(byte[] content) {
            try {
                return HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-256").digest(content));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e); // every JDK has this algorithm
            }
        }
    }
}
