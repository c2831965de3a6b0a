// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.stubs.health.v1alpha1.DeviceHealth;
import io.dra4j.testkit.stubs.health.v1alpha1.HealthStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Conforming drivers that react late, or not where nothing is to be said. */
final class OddReactions {

    private OddReactions() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "H-24" -> parts.publisher = driver -> new Caching(driver, 13);
            case "H-24b" -> parts.publisher = driver -> new Caching(driver, 61);
            case "H-25" -> parts.health = UnknownOnce::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Has no means to find out about health, and says so once. */
    private static final class UnknownOnce extends HealthReports {
        UnknownOnce(BareDriver driver) {
            super(driver);
        }

        @Override
        void tell(boolean changed) {}

        @Override
        DeviceHealth device(String pool, String name, String[] fault) {
            return super.device(pool, name, fault).toBuilder()
                    .setHealth(HealthStatus.UNKNOWN)
                    .build();
        }
    }

    /** Takes a slice that is gone for one that is there for a while, as a mutation cache does. */
    private static final class Caching extends Publisher {
        private final Duration delay;
        private final Map<String, JsonNode> cached = new HashMap<>();
        private final Map<String, Long> missing = new HashMap<>();

        Caching(BareDriver driver, int seconds) {
            super(driver);
            delay = Duration.ofSeconds(seconds);
        }

        @Override
        List<JsonNode> existing() {
            List<JsonNode> slices = new ArrayList<>(super.existing());
            slices.forEach(slice -> cached.put(SlicePlan.name(slice), slice));
            Set<String> there = slices.stream().map(SlicePlan::name).collect(Collectors.toSet());
            missing.keySet().removeAll(there);
            cached.keySet().stream()
                    .filter(name -> !there.contains(name))
                    .forEach(name -> missing.putIfAbsent(name, System.nanoTime()));
            cached.keySet().removeIf(name -> missing.containsKey(name) && isOver(name));
            missing.keySet().retainAll(cached.keySet());
            missing.keySet().forEach(name -> slices.add(cached.get(name)));
            return slices;
        }

        private boolean isOver(String name) {
            return System.nanoTime() - missing.getOrDefault(name, 0L) > delay.toNanos();
        }

        @Override
        long resync() {
            return 500;
        }
    }
}
