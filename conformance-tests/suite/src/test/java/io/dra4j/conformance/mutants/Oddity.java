// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A driver that is unusual and well, and what the suite may say of it.
 *
 * @param id the catalogue's number, with a letter where there are several forms
 * @param options what the driver is started with besides
 * @param settings what the suite is told of it instead, by JSON pointer
 * @param namespace whether it needs a mount namespace for its process
 * @param slow whether it takes so long that the usual requirements are not tried with it
 * @param passes requirements that a suite with a narrower view would find broken
 * @param notApplicable requirements of which the oddity leaves nothing to try
 * @param untested requirements that its settings leave no room to try
 * @param warned requirements that it rightly is warned of, with the reason
 */
record Oddity(
        String id,
        String what,
        List<String> options,
        Map<String, JsonNode> settings,
        boolean namespace,
        boolean slow,
        List<String> passes,
        List<String> notApplicable,
        List<String> untested,
        Map<String, String> warned) {

    /** Fills in what was left out. */
    Oddity {
        options = options == null ? List.of() : List.copyOf(options);
        settings = settings == null ? Map.of() : Map.copyOf(settings);
        passes = passes == null ? List.of() : List.copyOf(passes);
        notApplicable = notApplicable == null ? List.of() : List.copyOf(notApplicable);
        untested = untested == null ? List.of() : List.copyOf(untested);
        warned = warned == null ? Map.of() : Map.copyOf(warned);
    }

    /** The number in the catalogue. */
    String number() {
        return id.replaceFirst("[a-z]$", "");
    }

    /** What is tried with it, besides the canaries. */
    List<String> requirements() {
        TreeSet<String> all = new TreeSet<>(passes);
        all.addAll(notApplicable);
        all.addAll(untested);
        all.addAll(warned.keySet());
        return List.copyOf(all);
    }

    /** What the bare driver is started with, besides what every driver is. */
    List<String> arguments() {
        return Stream.concat(Stream.of("--odd", id), options.stream()).toList();
    }

    List<String> command() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(BareProgram.command());
        command.addAll(arguments());
        return command;
    }

    @Override
    public String toString() {
        return id + " " + what;
    }
}
