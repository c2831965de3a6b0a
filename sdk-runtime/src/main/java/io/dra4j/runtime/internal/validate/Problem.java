// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import org.jspecify.annotations.Nullable;

/**
 * One rule that a pool breaks.
 *
 * @param device the device, or {@code null} if the pool itself breaks the rule
 * @param field where, as the API writes it: {@code devices[gpu-0].attributes[uuid].string}
 * @param rule the rule there, or the API server's message; on one line
 * @param value the value, shortened, on one line; {@code null} if the server's message contains it
 */
public record Problem(
        PoolName pool,
        @Nullable DeviceName device,
        String field,
        String rule,
        @Nullable String value) {

    @Override
    public String toString() {
        return "pool %s%s, field %s: %s%s"
                .formatted(
                        pool,
                        (device == null ? "" : ", device " + device),
                        field,
                        rule,
                        (value == null ? "" : "; found " + value));
    }
}
