// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.DeviceName;
import org.jspecify.annotations.Nullable;

/** A field of a pool: rules walk from it to the fields below, and add problems there. */
final class Field {

    private final Findings findings;
    private final @Nullable DeviceName device;
    private final String path;

    private Field(Findings findings, @Nullable DeviceName device, String path) {
        this.findings = findings;
        this.device = device;
        this.path = path;
    }

    /** Returns a field of the pool itself. */
    static Field ofPool(Findings findings, String name) {
        return new Field(findings, null, name);
    }

    /** Returns the device of the name given, as a field that contains all of its own. */
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
