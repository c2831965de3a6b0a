// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.Taint;
import java.time.Instant;
import java.util.List;

/** The rules for taints of a device. */
final class TaintRules {

    private static final int MOST = 16;

    /** The API server takes the first second of year 1 for no time. */
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:01Z");

    private static final Instant END = Instant.parse("9999-12-31T23:59:59Z").plusSeconds(1);

    private TaintRules() {}

    static void check(Field field, List<Taint> taints) {
        field.allowsAtMost(MOST, taints.size(), "taints");
        for (int i = 0; i < taints.size(); i++) {
            check(field.item(i), taints.get(i));
        }
    }

    private static void check(Field field, Taint taint) {
        Names.labelName(field.child("key"), taint.key());
        if (taint.value() != null) {
            Names.labelValue(field.child("value"), taint.value());
        }
        field.child("effect").requires(taint.effect());
        Instant time = taint.timeAdded();
        if (time != null && (time.isBefore(FIRST) || !time.isBefore(END))) {
            field.child("timeAdded").refuse("must be in the years 1 to 9999", time);
        }
    }
}
