// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The manifests of clusters in which the commands are tested. */
public final class Manifests {

    private static final Path FOLDER = Path.of("src/test/resources/io/dra4j/kubectl");

    private Manifests() {}

    /** Reads manifests. */
    public static String read(String file) {
        try {
            return Files.readString(FOLDER.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
