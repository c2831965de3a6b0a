// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** The records of a driver in its files, whether it runs or is dead. */
final class DriverRecords {

    private static final JsonMapper JSON = new JsonMapper();

    private final Path folder;

    /**
     * Reads the records below a directory.
     *
     * @param plugins the kubelet's plugins directory
     */
    DriverRecords(Path plugins) {
        folder = plugins.resolve("gpu.nvidia.com");
    }

    /** Returns the GPU instances that the driver remembers as destroyed by somebody. */
    Set<String> destroyed() {
        Set<String> keys = new HashSet<>();
        try {
            JSON.readTree(folder.resolve("gpus.json").toFile()).path("ended").forEach(key -> keys.add(key.asText()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return keys;
    }

    /** Returns the UIDs of the claims that are prepared by the journal. */
    Set<String> prepared() {
        Set<String> uids = new HashSet<>();
        try {
            for (String line : Files.readAllLines(folder.resolve("claims.journal"))) {
                follow(line, uids);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return uids;
    }

    private static void follow(String line, Set<String> uids) {
        JsonNode read;
        try {
            read = JSON.readTree(line);
        } catch (JsonProcessingException e) {
            return; // the last line, of which a kill has let half be written
        }
        String uid = read.path("claim").asText();
        JsonNode record = read.path("record");
        if (record.at("/put/phase").asText().equals("PREPARED")) {
            uids.add(uid);
        } else {
            uids.remove(uid);
        }
    }
}
