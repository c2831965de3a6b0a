// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/** Refuses types of configurations that would fail, or lose their strictness, with the first claim. */
final class DecodableTypes {

    private final Set<Type> seen = new HashSet<>();

    /** Looks at all that a record contains; a component with an annotation is decoded as that says. */
    void require(String place, Type type) {
        Type raw = type instanceof ParameterizedType generic ? generic.getRawType() : type;
        if (raw instanceof Class<?> given && isRefused(given, raw == type) || type instanceof WildcardType) {
            throw new IllegalArgumentException(
                    ("%s: JSON can't be decoded into %s; use a number, boolean, String, enum,"
                                    + " Quantity or record, or a List, Set or Map of a given one of these; null stands for what"
                                    + " is left out")
                            .formatted(place, type.getTypeName()));
        }
        if (type instanceof ParameterizedType generic) {
            Stream.of(generic.getActualTypeArguments()).forEach(argument -> require(place, argument));
        } else if (type instanceof Class<?> plain && plain.isRecord() && seen.add(plain)) {
            Stream.of(plain.getRecordComponents())
                    .filter(component -> component.getAccessor().getAnnotations().length == 0)
                    .forEach(component -> require(place + "." + component.getName(), component.getGenericType()));
        }
    }

    private static boolean isRefused(Class<?> type, boolean isRaw) {
        String name = type.getTypeName();
        return isRaw && type.getTypeParameters().length > 0
                || name.startsWith("java.util.Optional")
                || name.startsWith("java.time.")
                || type.isInterface() && !name.startsWith("java.") && type.getAnnotations().length == 0;
    }
}
