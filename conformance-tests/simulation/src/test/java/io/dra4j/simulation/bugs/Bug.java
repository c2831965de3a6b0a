// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.bugs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A bug, from {@code bugs.txt}.
 *
 * @param what what is wrong, in a sentence
 */
public record Bug(String id, String what, List<Change> changes) {

    private static final String FILE = "bugs.txt";

    /** Reads all bugs. */
    public static List<Bug> all() {
        List<Bug> bugs = new ArrayList<>();
        try (InputStream file = Objects.requireNonNull(Bug.class.getResourceAsStream(FILE), FILE);
                BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(" ")) {
                    bugs.get(bugs.size() - 1).changes.add(Change.of(line.strip()));
                } else if (!line.isBlank() && !line.startsWith("#")) {
                    String[] parts = line.split(" ", 2);
                    bugs.add(new Bug(parts[0], parts[1], new ArrayList<>()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bugs;
    }

    @Override
    public String toString() {
        return id + " " + what;
    }
}
