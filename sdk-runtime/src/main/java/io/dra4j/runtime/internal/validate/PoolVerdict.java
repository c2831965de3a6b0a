// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.DeviceName;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rules that a pool breaks, by their origin.
 *
 * @param problems the problems, the first hundred
 * @param devices the first problem of each device that breaks a rule
 * @param isOfPool whether the pool itself breaks one
 */
public record PoolVerdict(List<Problem> problems, Map<DeviceName, Problem> devices, boolean isOfPool) {

    public PoolVerdict {
        problems = List.copyOf(problems);
        devices = Collections.unmodifiableMap(new LinkedHashMap<>(devices));
    }

    /** Returns the verdict on a pool that is invalid as a whole. */
    public static PoolVerdict ofPool(List<Problem> problems) {
        return new PoolVerdict(problems, Map.of(), true);
    }

    /** Returns whether the pool can be published as it is. */
    public boolean isGood() {
        return problems.isEmpty();
    }
}
