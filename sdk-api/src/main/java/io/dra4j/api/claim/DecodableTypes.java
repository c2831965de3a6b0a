// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.HashSet;
import java.util.Set;

/** Refuses types of configurations that would fail, or lose their strictness, with the first claim. */
final class DecodableTypes {

    private final Set<Type> seen = new HashSet<>();

    /** Looks at the components of a record; those with an annotation are decoded as that says. */
    void require(String place, Class<?> type) {
        if (!type.isRecord() || !seen.add(type)) {
            return;
        }
        for (RecordComponent component : type.getRecordComponents()) {
            if (component.getAccessor().getAnnotations().length == 0) {
                require(place + "." + component.getName(), component.getGenericType());
            }
        }
    }

    private void require(String place, Type type) {
        if (isRefused(type)) {
            throw new IllegalArgumentException(
                    ("%s: JSON can't be decoded into %s; use a number, boolean, String, enum,"
                                    + " Quantity or record, or a List, Set or Map of a given one of these; null stands for what"
                                    + " is left out")
                            .formatted(place, type.getTypeName()));
        }
        if (type instanceof ParameterizedType generic) {
            for (Type argument : generic.getActualTypeArguments()) {
                require(place, argument);
            }
        } else if (type instanceof Class<?> plain && plain.isArray()) {
            require(place, (Type) plain.getComponentType());
        } else if (type instanceof Class<?> plain) {
            require(place, plain);
        }
    }

    private static boolean isRefused(Type type) {
        Type raw = type instanceof ParameterizedType generic ? generic.getRawType() : type;
        String name = raw.getTypeName();
        return type instanceof WildcardType
                || type instanceof Class<?> plain && plain.getTypeParameters().length > 0
                || name.startsWith("java.util.Optional")
                || name.startsWith("java.time.")
                || raw instanceof Class<?> own
                        && own.isInterface()
                        && !name.startsWith("java.")
                        && own.getAnnotations().length == 0;
    }
}
