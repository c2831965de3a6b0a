// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The problems of one pool, as many as a person reads. */
final class Findings {

    private static final int MOST = 100;

    private final @Nullable PoolName pool;
    private final List<Problem> problems = new ArrayList<>();

    Findings(@Nullable PoolName pool) {
        this.pool = pool;
    }

    void add(@Nullable DeviceName device, String field, String rule, String value) {
        problems.add(new Problem(pool, device, field, rule, value));
    }

    /** Returns whether there are enough: more would not be read. */
    boolean isFull() {
        return problems.size() >= MOST;
    }

    List<Problem> problems() {
        return List.copyOf(problems);
    }
}
