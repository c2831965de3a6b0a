// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A driver with a fault, and what the suite has to say of it.
 *
 * @param id the catalogue's number, with a letter where there are several forms
 * @param options what the driver is started with besides
 * @param declares capabilities that the suite is told of besides
 * @param registered whether the kubelet can take the driver on
 * @param requirements those that have to fail
 * @param messages a part of what is said then, for each of them
 * @param collateral those that may fail, too
 */
public record Mutant(
        String id,
        String what,
        List<String> options,
        List<String> declares,
        @Nullable Boolean registered,
        List<String> requirements,
        Map<String, String> messages,
        List<String> collateral) {

    /** Fills in what was left out. */
    public Mutant {
        options = options == null ? List.of() : List.copyOf(options);
        declares = declares == null ? List.of() : List.copyOf(declares);
        registered = registered == null || registered;
        requirements = requirements == null ? List.of() : List.copyOf(requirements);
        messages = messages == null ? Map.of() : Map.copyOf(messages);
        collateral = collateral == null ? List.of() : List.copyOf(collateral);
    }

    private static final String MIDDLEMAN = "/middle";

    private record Table(List<Mutant> mutants, List<Oddity> odd) {}

    /** Those with a fault. */
    public static List<Mutant> all() {
        return table().mutants;
    }

    /** Those that are unusual, and well. */
    static List<Oddity> odd() {
        return table().odd;
    }

    private static Table table() {
        JsonMapper yaml =
                JsonMapper.builder(new YAMLFactory())
                        .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                        .build();
        try (InputStream table = Mutant.class.getResourceAsStream("mutants.yaml")) {
            return yaml.readValue(Objects.requireNonNull(table), Table.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The number in the catalogue. */
    public String number() {
        return fault().replaceFirst("[a-z]$", "");
    }

    private String fault() {
        return id.replace(MIDDLEMAN, "");
    }

    /** Whether it is the fake driver with a middleman before it. */
    public boolean hasMiddleman() {
        return id.endsWith(MIDDLEMAN);
    }

    /** Whether it has a middleman for a fault that the bare driver can have, too. */
    boolean isSecondForm() {
        return hasMiddleman() && all().stream().anyMatch(other -> other.id.equals(fault()));
    }

    /**
     * The command with all that makes it this mutant; what every driver is told, such as its
     * directories, is to be added.
     */
    public List<String> command() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if (hasMiddleman()) {
            command.addAll(BareProgram.middleman(fault()));
            command.addAll(options);
        } else {
            command.addAll(BareProgram.command());
            command.addAll(arguments());
        }
        return command;
    }

    /** What the bare driver is started with, besides what every driver is. */
    List<String> arguments() {
        return Stream.concat(Stream.of("--fault", id), options.stream()).toList();
    }

    @Override
    public String toString() {
        return id + " " + what;
    }
}
