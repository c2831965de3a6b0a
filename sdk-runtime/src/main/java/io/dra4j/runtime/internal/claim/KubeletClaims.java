// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.zip.CRC32;

/**
 * The kubelet's own file of the claims of the node's pods, {@code dra_manager_state}.
 *
 * <p>The kubelet writes a claim before it asks the first driver to prepare it, and removes it after the last driver has
 * unprepared it: the kubelet never asks to unprepare a claim that an intact file lacks. Most drivers' pods do not see
 * the file; then it proves nothing.
 *
 * @see <a href="https://github.com/kubernetes/kubernetes/tree/v1.36.2/pkg/kubelet/cm/dra/state">The format: JSON in
 *     JSON, with a CRC-32 of the inner text; each claim's UID appears in it as text</a>
 */
public final class KubeletClaims {

    /** The version of the inner text in all releases until now. */
    public static final String VERSION = "checkpoint.dra.kubelet.k8s.io/v1";

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final Path file;

    KubeletClaims(Path dataDirectory) {
        this.file = file(dataDirectory);
    }

    /** Returns the file's path; a driver's data directory is {@code plugins/<driver>} next to it. */
    public static Path file(Path dataDirectory) {
        return dataDirectory.resolveSibling("..").normalize().resolve("dra_manager_state");
    }

    /**
     * Returns the inner text of a file.
     *
     * @throws IllegalArgumentException if it is damaged; the message says how
     * @throws IOException if it is not JSON
     */
    public static String text(byte[] file) throws IOException {
        JsonNode outer = JSON.readTree(file);
        if (!outer.path("Data").isTextual() || !outer.path("Checksum").isIntegralNumber()) {
            throw new IllegalArgumentException("it lacks Data or Checksum");
        }
        String data = outer.path("Data").textValue();
        CRC32 sum = new CRC32();
        sum.update(data.getBytes(StandardCharsets.UTF_8));
        if (sum.getValue() != outer.path("Checksum").longValue()) {
            throw new IllegalArgumentException("its checksum does not match its content");
        }
        return data;
    }

    /** Returns whether the file, intact or not, names a claim; false if it can't be read. */
    boolean names(String uid) {
        return named().test(uid);
    }

    /** Returns which claims the file names now, as {@link #names} does, with a single read. */
    Predicate<String> named() {
        try {
            return Files.readString(file)::contains;
        } catch (IOException e) {
            return uid -> false;
        }
    }

    /** Returns whether the file is intact and does not name a claim; false if it can't be read. */
    boolean lacks(String uid) {
        return lacking().test(uid);
    }

    /** Returns which claims the file lacks now, as {@link #lacks} does, with a single read. */
    Predicate<String> lacking() {
        try {
            String text = text(Files.readAllBytes(file));
            return text.contains("\"" + VERSION + "\"") ? uid -> !text.contains(uid) : uid -> false;
        } catch (IOException | IllegalArgumentException e) {
            return uid -> false;
        }
    }
}
