// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/** Rejects configuration types that would fail, or be decoded leniently, with the first claim. */
final class DecodableTypes {

    private final Set<Type> seen = new HashSet<>();

    /** Checks everything that a record contains except types and components with Jackson annotations. */
    void require(String place, Type type) {
        Type raw = type instanceof ParameterizedType generic ? generic.getRawType() : type;
        if (raw instanceof Class<?> given && isDescribed(given)) {
            return;
        }
        if (raw instanceof Class<?> given && isRefused(given, raw == type) || type instanceof WildcardType) {
            throw new IllegalArgumentException(
                    ("%s: JSON can't be decoded into %s; use a number, boolean, String, enum,"
                                    + " Quantity or record, or a List, Set or Map of one of these; a field that is left out"
                                    + " is null")
                            .formatted(place, type.getTypeName()));
        }
        if (type instanceof ParameterizedType generic) {
            Stream.of(generic.getActualTypeArguments()).forEach(argument -> require(place, argument));
        } else if (type instanceof Class<?> plain && plain.isArray()) {
            require(place, plain.getComponentType());
        }
        if (raw instanceof Class<?> plain && plain.isRecord() && seen.add(plain)) {
            Stream.of(plain.getDeclaredFields())
                    .filter(field -> !Modifier.isStatic(field.getModifiers()) && !isAnnotated(field))
                    .forEach(field -> require(place + "." + field.getName(), field.getGenericType()));
        }
    }

    /** Returns whether the type, or its creator, has a Jackson annotation; those of the JDK, with many methods, have none. */
    private static boolean isDescribed(Class<?> type) {
        return !type.getName().startsWith("java.")
                && (isAnnotated(type)
                        || Stream.of(type.getDeclaredConstructors()).anyMatch(DecodableTypes::isAnnotated)
                        || Stream.of(type.getDeclaredMethods())
                                .anyMatch(method -> Modifier.isStatic(method.getModifiers()) && isAnnotated(method)));
    }

    /** Checks the meta-annotations: each of Jackson's annotations has one, and so has a vendor's bundle of them. */
    private static boolean isAnnotated(AnnotatedElement element) {
        return Stream.of(element.getAnnotations())
                .flatMap(one -> Stream.of(one.annotationType().getAnnotations()))
                .anyMatch(mark -> mark.annotationType().getName().startsWith("com.fasterxml.jackson."));
    }

    private static boolean isRefused(Class<?> type, boolean isRaw) {
        String name = type.getTypeName();
        return isRaw && type.getTypeParameters().length > 0
                || name.startsWith("java.util.Optional")
                || name.startsWith("java.time.")
                || type.isInterface() && !name.startsWith("java.");
    }
}
