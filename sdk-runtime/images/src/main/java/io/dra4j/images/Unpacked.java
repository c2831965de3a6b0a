// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/**
 * The files of an archive in the layout of OCI or of Docker.
 *
 * @param descriptor the layout's entry for the manifest; for Docker's layout, the manifest itself
 * @param manifest the image's manifest, in either layout
 * @param files the paths of all files, links and folders of the layers, from the root
 */
record Unpacked(JsonNode descriptor, JsonNode manifest, JsonNode config, Set<String> files) {

    private static final ObjectMapper JSON = new ObjectMapper();

    interface Sink {

        /** Receives an entry, whose content can be read. */
        void take(TarArchiveEntry entry, InputStream content) throws IOException;
    }

    /** Reads only the names. */
    static Unpacked names(Path archive) {
        return of(archive, (entry, content) -> {});
    }

    /** Reads all layers, from the lowest. */
    static Unpacked of(Path archive, Sink sink) {
        try {
            Map<String, byte[]> blobs = blobs(archive);
            return blobs.containsKey("index.json") ? ofOci(blobs, sink) : ofDocker(blobs, sink);
        } catch (IOException e) {
            throw new ImageBuildException("Can't read " + archive + ": " + e, e);
        }
    }

    /** Reads the files of the archive itself, by their paths. */
    static Map<String, byte[]> blobs(Path archive) throws IOException {
        Map<String, byte[]> blobs = new LinkedHashMap<>();
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new BufferedInputStream(Files.newInputStream(archive)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                blobs.put(entry.getName(), tar.readAllBytes());
            }
        }
        return blobs;
    }

    private static Unpacked ofOci(Map<String, byte[]> blobs, Sink sink) throws IOException {
        JsonNode index = JSON.readTree(blob(blobs, "index.json"));
        JsonNode descriptor = index.at("/manifests/0");
        JsonNode manifest = JSON.readTree(blob(blobs, path(descriptor)));
        JsonNode config = JSON.readTree(blob(blobs, path(manifest.get("config"))));
        Set<String> files = new HashSet<>();
        for (JsonNode layer : manifest.get("layers")) {
            read(blob(blobs, path(layer)), files, sink);
        }
        return new Unpacked(descriptor, manifest, config, files);
    }

    private static Unpacked ofDocker(Map<String, byte[]> blobs, Sink sink) throws IOException {
        JsonNode manifest = JSON.readTree(blob(blobs, "manifest.json")).get(0);
        JsonNode config = JSON.readTree(blob(blobs, manifest.get("Config").asText()));
        Set<String> files = new HashSet<>();
        for (JsonNode layer : manifest.get("Layers")) {
            read(blob(blobs, layer.asText()), files, sink);
        }
        return new Unpacked(manifest, manifest, config, files);
    }

    private static String path(JsonNode descriptor) {
        return "blobs/" + descriptor.get("digest").asText().replace(':', '/');
    }

    private static byte[] blob(Map<String, byte[]> blobs, String name) throws IOException {
        byte[] blob = blobs.get(name);
        if (blob == null) {
            throw new IOException("it lacks " + name);
        }
        return blob;
    }

    private static void read(byte[] layer, Set<String> files, Sink sink) throws IOException {
        try (TarArchiveInputStream tar =
                new TarArchiveInputStream(new GZIPInputStream(new ByteArrayInputStream(layer)))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                files.add("/" + entry.getName().replaceFirst("^(\\.?/)+", "").replaceFirst("/$", ""));
                sink.take(entry, tar);
            }
        }
    }

    boolean has(String path) {
        return files.contains(path);
    }
}
