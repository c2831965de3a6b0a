// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.rewrite;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Types and methods that are used instead of others, from {@code replacements.txt}. */
record Replacements(Map<String, String> types, Map<String, Method> methods) {

    private static final String SCHEDULE = "io/dra4j/simulation/schedule/";
    private static final String HOOKS = SCHEDULE + "Hooks";
    private static final String INSIDE = "io/dra4j/simulation/inside/Replaced";

    /** A static method. */
    record Method(String owner, String name, String descriptor) {}

    static Replacements read() {
        Replacements all = new Replacements(new HashMap<>(), new HashMap<>());
        try (InputStream file = Objects.requireNonNull(Replacements.class.getResourceAsStream("replacements.txt"));
                BufferedReader lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            lines.lines().filter(line -> !line.startsWith("#")).forEach(all::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all;
    }

    private void add(String line) {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "type" -> types.put(words[1], words[2].contains("/") ? words[2] : SCHEDULE + words[2]);
            case "call" -> methods.put(words[1], new Method(HOOKS, words[2], withReceiver(words[1])));
            case "static" -> methods.put(words[1], new Method(HOOKS, words[2], descriptor(words[1])));
            case "inside" -> methods.put(words[1], new Method(INSIDE, words[2], withReceiver(words[1])));
            case "inside-static" -> methods.put(words[1], new Method(INSIDE, words[2], descriptor(words[1])));
            default -> throw new IllegalArgumentException("no replacement: " + line);
        }
    }

    private static String descriptor(String method) {
        return method.substring(method.indexOf('('));
    }

    private static String withReceiver(String method) {
        String owner = method.substring(0, method.lastIndexOf('.', method.indexOf('(')));
        return "(L" + owner + ";" + descriptor(method).substring(1);
    }

    @Nullable
    Method of(String owner, String name, String descriptor) {
        return methods.get(owner + "." + name + descriptor);
    }
}
