// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.internal.validate.Problem;
import io.dra4j.runtime.internal.validate.Verdict;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The part of a pool that breaks no rule: a device with a bad value costs no other device.
 *
 * <p>A pool is held back as a whole if it breaks a rule itself, or if each of its devices does:
 * then what was published before is more than nothing.
 *
 * @param pool the pool without the devices that break a rule; {@code null} if it is held back
 * @param leftOut these devices, with the first problem of each; none if the pool is held back
 * @param problems the reasons for which the pool is held back, its own first
 */
record SoundDevices(@Nullable Pool pool, Map<DeviceName, Problem> leftOut, List<Problem> problems) {

    /** Leaves out devices until the rules have nothing against the rest. */
    static SoundDevices of(Pool pool, Function<Pool, Verdict> rules) {
        Map<DeviceName, Problem> leftOut = new LinkedHashMap<>();
        Pool rest = pool;
        Verdict verdict = rules.apply(rest);
        while (!verdict.isGood()) {
            rest = without(rest, verdict.devices().keySet());
            if (verdict.isOfPool() || rest.devices().isEmpty()) {
                return new SoundDevices(null, Map.of(), poolFirst(verdict.problems()));
            }
            leftOut.putAll(verdict.devices());
            verdict = rules.apply(rest); // those of a release are asked if all others hold
        }
        return new SoundDevices(rest, leftOut, List.of());
    }

    private static Pool without(Pool pool, Set<DeviceName> devices) {
        return pool.toBuilder()
                .devices(pool.devices().stream()
                        .filter(device -> !devices.contains(device.name()))
                        .toList())
                .build();
    }

    private static List<Problem> poolFirst(List<Problem> problems) {
        return problems.stream()
                .sorted(Comparator.comparing(problem -> problem.device() != null))
                .toList();
    }
}
