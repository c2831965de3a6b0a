// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The rules for attributes of a device. */
final class AttributeRules {

    private static final int MOST_NAMES = 32;
    private static final int MOST_VALUES = 48;

    private AttributeRules() {}

    static void check(Field field, Device device) {
        int names = device.attributes().size() + device.capacities().size();
        field.allowsAtMost(MOST_NAMES, names, "attributes and capacities");
        Field attributes = field.child("attributes");
        long values = device.attributes().values().stream().mapToLong(AttributeRules::values).sum();
        attributes.allowsAtMost(MOST_VALUES, values, "values, those in lists counted one by one");
        device.attributes()
                .forEach(
                        (name, value) -> {
                            Field attribute = attributes.key(name);
                            Names.qualifiedName(attribute, name);
                            check(attribute, value);
                        });
    }

    private static void check(Field field, @Nullable AttributeValue value) {
        if (value instanceof AttributeValue.OfString text) {
            Names.text(field.child("string"), text.value());
        } else if (value instanceof AttributeValue.OfVersion version) {
            Names.version(field.child("version"), version.value());
        } else if (value instanceof AttributeValue.OfStrings texts) {
            list(field.child("strings"), texts.values(), Names::text);
        } else if (value instanceof AttributeValue.OfVersions versions) {
            list(field.child("versions"), versions.values(), Names::version);
        } else if (value instanceof AttributeValue.OfInts numbers) {
            list(field.child("ints"), numbers.values(), (item, number) -> {});
        } else if (value instanceof AttributeValue.OfBools truths) {
            list(field.child("bools"), truths.values(), (item, truth) -> {});
        } else {
            field.requires(value);
        }
    }

    private static <T> void list(Field field, List<T> values, BiConsumer<Field, T> rule) {
        field.requiresSome(values);
        for (int i = 0; i < values.size(); i++) {
            rule.accept(field.item(i), values.get(i));
        }
    }

    private static long values(@Nullable AttributeValue value) {
        if (value instanceof AttributeValue.OfStrings texts) {
            return texts.values().size();
        } else if (value instanceof AttributeValue.OfVersions versions) {
            return versions.values().size();
        } else if (value instanceof AttributeValue.OfInts numbers) {
            return numbers.values().size();
        } else if (value instanceof AttributeValue.OfBools truths) {
            return truths.values().size();
        }
        return 1;
    }
}
