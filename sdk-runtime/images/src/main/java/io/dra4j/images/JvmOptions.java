// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The options that drivers are started with, in an image and without. */
final class JvmOptions {

    private static final String FILE = "/jvm.options";

    private JvmOptions() {}

    /** Reads {@code sdk-runtime/deploy/jvm.options}, an option in each line. */
    static List<String> ofDrivers() {
        try (InputStream file = JvmOptions.class.getResourceAsStream(FILE)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
