// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.replay;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** The answers of kube-apiserver 1.36.2, line by line. */
public final class Recordings {
    private Recordings() {}

    /**
     * @param file {@code creates}, {@code updates} or {@code transcripts}
     */
    public static List<JsonNode> of(String file) {
        String name = "apiserver-" + file + ".jsonl.gz";
        try (var zipped = new GZIPInputStream(Recordings.class.getResourceAsStream(name))) {
            String text = new String(zipped.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().map(JsonTrees::parse).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(name, e);
        }
    }
}
