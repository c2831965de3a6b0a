// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/** Rules for the configurations of classes, claims and allocations, and for other raw JSON. */
final class ConfigRules {
    private ConfigRules() {}

    /** Checks the part of a configuration that classes, claims and allocations share. */
    static void check(Field config) {
        Field opaque = config.at("opaque");
        if (opaque.present()) {
            DeviceRules.checkDriver(opaque.at("driver"));
            checkRaw(opaque.at("parameters"));
        } else {
            opaque.required("");
        }
    }

    /** Checks that raw JSON of a third party is an object of limited size. */
    static void checkRaw(Field raw) {
        if (!raw.present()) {
            raw.required("");
        } else if (Names.bytes(raw.value().toString()) > ClaimLimits.RAW_LENGTH) {
            raw.errors().tooLong(raw.path(), ClaimLimits.RAW_LENGTH);
        } else {
            boolean isObject = raw.value().isObject();
            raw.requireThat(isObject, "<value omitted>", "must be a valid JSON object");
        }
    }
}
