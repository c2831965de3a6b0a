// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Taint;
import io.dra4j.rules.OwnNames;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** The rules for a device that are narrower than an API server's. */
final class DeviceRules {

    /** The API server takes the first second of year 1 for no time. */
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:01Z");

    private static final Instant END = Instant.parse("9999-12-31T23:59:59Z").plusSeconds(1);

    private DeviceRules() {}

    static void check(Field field, Device device, CounterRules counters, OwnNames names) {
        oneForm(field.child("attributes"), device.attributes().keySet(), names);
        oneForm(field.child("capacity"), device.capacities().keySet(), names);
        device.attributes()
                .forEach((name, value) -> text(field.child("attributes").key(name), value));
        AmountRules.check(field, device);
        counters.check(field.child("consumesCounters"), device.consumesCounters());
        times(field.child("taints"), device.taints());
        SelectorRules.check(field.child("nodeSelector"), device.placement());
    }

    /** Servers and schedulers differ in which of the two they find. */
    private static void oneForm(Field field, Set<String> all, OwnNames names) {
        for (String name : all) {
            String bare = names.bare(name);
            if (!bare.equals(name) && all.contains(bare)) {
                field.key(name).refuse("must not be beside " + Shown.name(bare) + ", which is the same name", name);
            }
        }
    }

    private static void text(Field field, AttributeValue value) {
        if (value instanceof AttributeValue.OfString text) {
            isUnicode(field.child("string"), text.value());
        } else if (value instanceof AttributeValue.OfStrings texts) {
            for (int i = 0; i < texts.values().size(); i++) {
                isUnicode(field.child("strings").item(i), texts.values().get(i));
            }
        }
    }

    /** Half a pair of surrogates reaches the server as another character. */
    private static void isUnicode(Field field, String text) {
        try {
            StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
        } catch (CharacterCodingException e) {
            field.refuse("must be valid Unicode", text);
        }
    }

    private static void times(Field field, List<Taint> taints) {
        for (int i = 0; i < taints.size(); i++) {
            Instant time = taints.get(i).timeAdded();
            if (time != null && (time.isBefore(FIRST) || !time.isBefore(END))) {
                field.item(i).child("timeAdded").refuse("must be in the years 1 to 9999", time);
            }
        }
    }
}
