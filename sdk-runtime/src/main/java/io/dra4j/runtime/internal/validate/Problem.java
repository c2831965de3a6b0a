// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import org.jspecify.annotations.Nullable;

/**
 * One rule that a pool breaks.
 *
 * @param pool the pool; {@code null} if it has no name, which is then the problem
 * @param device the device, or {@code null} if the pool itself breaks the rule
 * @param field where, as the API writes it: {@code devices[gpu-0].attributes[uuid].string}
 * @param rule what must hold there: {@code must be at most 64 bytes}
 * @param value what is there, cut if it is long, on one line
 */
public record Problem(
        @Nullable PoolName pool,
        @Nullable DeviceName device,
        String field,
        String rule,
        String value) {

    /** Returns one line for a log or an event. */
    @Override
    public String toString() {
        return "pool %s%s, field %s: %s; found %s"
                .formatted(pool, (device == null ? "" : ", device " + device), field, rule, value);
    }
}
