// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The problems of one pool, up to a readable number. */
final class Findings {

    static final int MOST = 100;

    private final PoolName pool;
    private final boolean ofAllDevices;
    private final Set<Problem> problems = new LinkedHashSet<>();
    private final Map<DeviceName, Problem> devices = new LinkedHashMap<>();
    private boolean isOfPool;

    /**
     * Starts without problems.
     *
     * @param ofAllDevices whether each device is checked, however many problems there are
     */
    Findings(PoolName pool, boolean ofAllDevices) {
        this.pool = pool;
        this.ofAllDevices = ofAllDevices;
    }

    /** Adds a rule for drivers that is broken. */
    void add(@Nullable DeviceName device, String field, String rule, String value) {
        add(new Problem(pool, device, field, rule, value));
    }

    /** Adds a server's error about a field. */
    void add(@Nullable DeviceName device, String field, String message) {
        add(new Problem(pool, device, Shown.message(field), Shown.message(message), null));
    }

    /** Adds a problem once: a problem of the pool is found again in the slice of each device. */
    private void add(Problem problem) {
        if (problems.size() < MOST) {
            problems.add(problem);
        }
        if (problem.device() == null) {
            isOfPool = true;
        } else {
            devices.putIfAbsent(problem.device(), problem);
        }
    }

    int count() {
        return problems.size();
    }

    boolean isFull() {
        return !ofAllDevices && problems.size() >= MOST;
    }

    PoolVerdict verdict() {
        return new PoolVerdict(List.copyOf(problems), devices, isOfPool);
    }

    /** A field of a pool: rules walk from it to the fields below, and add problems there. */
    record Field(Findings findings, @Nullable DeviceName device, String path) {

        /** Returns a field of the pool itself. */
        static Field ofPool(Findings findings, String name) {
            return new Field(findings, null, name);
        }

        /** Returns the device of the name given, as a field that contains its fields. */
        static Field ofDevice(Findings findings, DeviceName device) {
            return new Field(findings, device, "devices[" + device + "]");
        }

        Field child(String name) {
            return new Field(findings, device, path + "." + name);
        }

        Field key(String key) {
            return new Field(findings, device, path + "[" + Shown.name(key) + "]");
        }

        Field item(int index) {
            return new Field(findings, device, path + "[" + index + "]");
        }

        void refuse(String rule, @Nullable Object value) {
            findings.add(device, path, rule, Shown.value(value));
        }
    }
}
