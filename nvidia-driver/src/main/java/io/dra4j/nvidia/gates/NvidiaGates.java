// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.gates;

import io.dra4j.nvidia.gates.NvidiaGate.Handling;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The feature gates that were given, of which some may be unknown or not supported. Immutable. */
public final class NvidiaGates {

    private static final Set<String> TRUE = Set.of("1", "t", "T", "true", "TRUE", "True");
    private static final Set<String> FALSE = Set.of("0", "f", "F", "false", "FALSE", "False");

    /** Gates that NVIDIA's driver refuses together, and the option by which this driver supports both. */
    private static final List<Exclusion> EXCLUSIONS = List.of(
            new Exclusion(NvidiaGate.DynamicMIG, NvidiaGate.PassthroughSupport, "--dynamic-mig"),
            new Exclusion(NvidiaGate.DynamicMIG, NvidiaGate.MPSSupport, "--dynamic-mig"),
            new Exclusion(NvidiaGate.NVMLDeviceHealthCheck, NvidiaGate.PassthroughSupport, "--health-watch"));

    private final Map<String, Boolean> given;

    private record Exclusion(NvidiaGate gate, NvidiaGate other, String option) {

        String problem() {
            return "feature gates %s and %s are on, and NVIDIA's driver refuses them together: set one to false; this driver supports both with %s in place of %s"
                    .formatted(gate, other, option, gate);
        }
    }

    private NvidiaGates(Map<String, Boolean> given) {
        this.given = Collections.unmodifiableMap(given);
    }

    /**
     * Reads gates as Kubernetes' components do: {@code A=true,B=false}, where the last one of a name wins.
     *
     * @throws IllegalArgumentException if an entry has no name or no boolean value; the message has its position
     */
    public static NvidiaGates parse(String text) {
        Map<String, Boolean> given = new LinkedHashMap<>();
        int position = 1;
        for (String entry : text.split(",", -1)) {
            if (!entry.isBlank()) {
                add(entry, position, given);
            }
            position += entry.length() + 1;
        }
        return new NvidiaGates(given);
    }

    private static void add(String entry, int position, Map<String, Boolean> given) {
        int equals = entry.indexOf('=');
        String name = equals < 0 ? entry.strip() : entry.substring(0, equals).strip();
        String value = equals < 0 ? "" : entry.substring(equals + 1).strip();
        if (name.isEmpty() || !(TRUE.contains(value) || FALSE.contains(value))) {
            throw new IllegalArgumentException("\"%s\" at character %d is not a gate; write NAME=true or NAME=false"
                    .formatted(entry.strip(), position));
        }
        given.put(name, TRUE.contains(value));
    }

    public Optional<Boolean> given(NvidiaGate gate) {
        return Optional.ofNullable(given.get(gate.name()));
    }

    public boolean isOn(NvidiaGate gate) {
        return given(gate).orElse(false);
    }

    List<NvidiaGate> known() {
        return Stream.of(NvidiaGate.values())
                .filter(gate -> given(gate).isPresent())
                .toList();
    }

    /** Returns a sentence for each gate that is unknown, on and not supported, or refused with another. */
    List<String> problems() {
        List<String> problems = new ArrayList<>();
        for (NvidiaGate gate : known()) {
            if (gate.handling() == Handling.NOT_SUPPORTED && isOn(gate)) {
                problems.add("feature gate %s is on, and this driver does not support it (%s): set %s=false"
                        .formatted(gate, gate.note(), gate));
            }
        }
        EXCLUSIONS.stream()
                .filter(both -> isOn(both.gate()) && isOn(both.other()))
                .map(Exclusion::problem)
                .forEach(problems::add);
        if (isOn(NvidiaGate.DeviceMetadata) && !isOn(NvidiaGate.PassthroughSupport)) {
            problems.add("feature gate DeviceMetadata is on, but needs PassthroughSupport: set both, or neither");
        }
        List<String> names =
                Stream.of(NvidiaGate.values()).map(NvidiaGate::name).toList();
        given.keySet().stream()
                .filter(name -> !names.contains(name))
                .map(name -> "feature gate %s is unknown: correct or remove it".formatted(name))
                .forEach(problems::add);
        return problems;
    }
}
