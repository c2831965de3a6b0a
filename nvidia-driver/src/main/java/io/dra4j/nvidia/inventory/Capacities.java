// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.api.device.Quantity;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.MigProfile;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;

/**
 * The capacities of devices, in the order of NVIDIA's driver. The same amounts are counters of the
 * GPU, named by DNS labels.
 */
final class Capacities {

    private static final long MIB = 1L << 20;
    private static final Pattern CAPITAL = Pattern.compile("[A-Z]");

    private static final Map<String, ToLongFunction<MigProfile>> AMOUNTS = amounts();

    private Capacities() {}

    private static Map<String, ToLongFunction<MigProfile>> amounts() {
        Map<String, ToLongFunction<MigProfile>> amounts = new LinkedHashMap<>();
        amounts.put("memory", profile -> profile.memoryMiB() * MIB);
        amounts.put("multiprocessors", profile -> profile.engines().multiprocessors());
        amounts.put("copyEngines", profile -> profile.engines().copyEngines());
        amounts.put("decoders", profile -> profile.engines().decoders());
        amounts.put("encoders", profile -> profile.engines().encoders());
        amounts.put("jpegEngines", profile -> profile.engines().jpegs());
        amounts.put("ofaEngines", profile -> profile.engines().ofas());
        return amounts;
    }

    static Map<String, Quantity> of(MigProfile profile) {
        Map<String, Quantity> capacities = new LinkedHashMap<>();
        AMOUNTS.forEach((name, amount) -> capacities.put(name, quantity(name, amount.applyAsLong(profile))));
        return capacities;
    }

    private static Quantity quantity(String name, long amount) {
        return name.equals("memory") ? Quantity.ofBytes(amount) : Quantity.of(amount);
    }

    /** Returns the largest capacities of any profile, which are those of the GPU. */
    static Map<String, Quantity> most(List<MigProfile> profiles) {
        return most(profiles, profile -> 1);
    }

    /**
     * Returns, for each capacity, the largest total of all instances of one profile. It is a lower bound for the GPU if
     * its largest profile is unknown.
     */
    static Map<String, Quantity> together(List<MigProfile> profiles) {
        return most(profiles, profile -> Math.max(1, profile.instances()));
    }

    private static Map<String, Quantity> most(List<MigProfile> profiles, ToLongFunction<MigProfile> instances) {
        Map<String, Quantity> most = new LinkedHashMap<>();
        AMOUNTS.forEach((name, amount) -> {
            long largest = profiles.stream()
                    .mapToLong(it -> amount.applyAsLong(it) * instances.applyAsLong(it))
                    .max()
                    .orElse(0);
            most.put(name, quantity(name, largest));
        });
        return most;
    }

    /** Returns the capacities of a GPU without MIG mode; none if it shares the machine's memory. */
    static Map<String, Quantity> of(Gpu gpu) {
        Long memory = gpu.memory();
        return memory == null ? Map.of() : Map.of("memory", Quantity.ofBytes(memory));
    }

    /** Returns the memory slices of an instance as capacities: {@code memorySlice3}. */
    static Map<String, Quantity> slices(InstancePlacement placement) {
        return slices("memorySlice", placement);
    }

    /** Returns capacities as counters, with those of the memory slices: {@code memory-slice-3}. */
    static Map<String, Quantity> counters(Map<String, Quantity> capacities, InstancePlacement placement) {
        Map<String, Quantity> counters = new LinkedHashMap<>();
        capacities.forEach((name, amount) -> counters.put(label(name), amount));
        counters.putAll(slices("memory-slice-", placement));
        return counters;
    }

    private static Map<String, Quantity> slices(String prefix, InstancePlacement placement) {
        Map<String, Quantity> slices = new LinkedHashMap<>();
        for (int slice = placement.start(); slice < placement.start() + placement.size(); slice++) {
            slices.put(prefix + slice, Quantity.of(1));
        }
        return slices;
    }

    private static String label(String name) {
        return CAPITAL.matcher(name).replaceAll("-$0").toLowerCase(Locale.ROOT);
    }
}
