// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import java.lang.reflect.AnnotatedArrayType;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedWildcardType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lists the public API of a type: a line for the type, and one for each member, sorted.
 *
 * <p>Members that the language adds are left out: a record's accessors and canonical constructor, an enum's {@code
 * values}, and the methods of all objects.
 */
final class Signatures {

    private static final Set<String> OF_ALL_OBJECTS = Set.of("equals", "hashCode", "toString");
    private static final Set<String> OF_ALL_ENUMS = Set.of("values", "valueOf");

    private Signatures() {}

    static boolean isVisible(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return isVisible(type.getModifiers()) && !type.isAnonymousClass() && (outer == null || isVisible(outer));
    }

    static List<String> of(Class<?> type) {
        List<String> lines = new ArrayList<>();
        lines.add(header(type));
        Stream.of(constants(type), fields(type), constructors(type), methods(type))
                .flatMap(members -> members.sorted())
                .map(member -> "    " + member)
                .forEach(lines::add);
        return lines;
    }

    private static String header(Class<?> type) {
        StringBuilder line = new StringBuilder(modifiers(type)).append(type.getCanonicalName());
        line.append(parameters(type.getTypeParameters()));
        if (type.isRecord()) {
            line.append(Arrays.stream(type.getRecordComponents())
                    .map(part -> name(part.getAnnotatedType()) + " " + part.getName())
                    .collect(Collectors.joining(", ", "(", ")")));
        } else if (!type.isEnum() && !type.isInterface() && type.getSuperclass() != Object.class) {
            line.append(" extends ").append(name(type.getAnnotatedSuperclass()));
        }
        line.append(list(
                type.isInterface() ? " extends " : " implements ", type.getAnnotatedInterfaces(), Signatures::name));
        if (type.isSealed()) {
            line.append(list(" permits ", type.getPermittedSubclasses(), Class::getSimpleName));
        }
        return line.toString();
    }

    private static String modifiers(Class<?> type) {
        int mask = Modifier.classModifiers() & ~Modifier.PUBLIC & ~Modifier.STATIC;
        int flags = type.getModifiers() & mask;
        String sealed = type.isSealed() ? "sealed " : "";
        if (type.isInterface()) {
            return sealed + "interface ";
        }
        String kind = type.isRecord() ? "record " : type.isEnum() ? "enum " : "class ";
        return (sealed + Modifier.toString(flags) + " " + kind).stripLeading();
    }

    private static Stream<String> constants(Class<?> type) {
        return type.isEnum() ? Arrays.stream(type.getEnumConstants()).map(one -> "constant " + one) : Stream.empty();
    }

    private static Stream<String> fields(Class<?> type) {
        return Arrays.stream(type.getDeclaredFields())
                .filter(field -> isVisible(field.getModifiers()) && !field.isEnumConstant())
                .map(field -> flags(field.getModifiers())
                        + name(field.getAnnotatedType())
                        + " "
                        + field.getName()
                        + value(field));
    }

    private static String value(Field field) {
        try {
            return field.getType() == String.class ? " = " + field.get(null) : "";
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("A public constant that can't be read: " + field, e);
        }
    }

    private static Stream<String> constructors(Class<?> type) {
        return Arrays.stream(type.getDeclaredConstructors())
                .filter(constructor -> isVisible(constructor.getModifiers()))
                .filter(constructor -> !(type.isRecord() && isCanonical(constructor)))
                .map(constructor -> "new" + call(constructor));
    }

    private static boolean isCanonical(Constructor<?> constructor) {
        Class<?>[] components = Arrays.stream(constructor.getDeclaringClass().getRecordComponents())
                .map(component -> component.getType())
                .toArray(Class<?>[]::new);
        return Arrays.equals(components, constructor.getParameterTypes());
    }

    private static Stream<String> methods(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> isVisible(method.getModifiers()) && !method.isSynthetic())
                .filter(method -> !OF_ALL_OBJECTS.contains(method.getName()))
                .filter(method -> !(type.isEnum() && OF_ALL_ENUMS.contains(method.getName())))
                .filter(method -> !isAccessor(method))
                .map(Signatures::method);
    }

    private static boolean isAccessor(Method method) {
        return method.getDeclaringClass().isRecord()
                && Arrays.stream(method.getDeclaringClass().getRecordComponents())
                        .anyMatch(component -> component.getAccessor().equals(method));
    }

    private static String method(Method method) {
        String generic = parameters(method.getTypeParameters());
        return (method.isDefault() ? "default " : flags(method.getModifiers()))
                + (generic.isEmpty() ? "" : generic + " ")
                + name(method.getAnnotatedReturnType())
                + " "
                + method.getName()
                + call(method);
    }

    private static String call(Executable executable) {
        String types = Arrays.stream(executable.getAnnotatedParameterTypes())
                .map(Signatures::name)
                .collect(Collectors.joining(", ", "(", ")"));
        return (executable.isVarArgs() ? types.replaceFirst("\\[\\]\\)$", "...)") : types)
                + list(" throws ", executable.getAnnotatedExceptionTypes(), Signatures::name);
    }

    private static String parameters(TypeVariable<?>[] variables) {
        return variables.length == 0
                ? ""
                : Arrays.stream(variables)
                        .map(one -> one.getName() + bounds(one.getAnnotatedBounds()))
                        .collect(Collectors.joining(", ", "<", ">"));
    }

    private static String bounds(AnnotatedType[] bounds) {
        boolean any = bounds.length == 1 && bounds[0].getType() == Object.class;
        return any ? "" : list(" extends ", bounds, Signatures::name);
    }

    private static String name(AnnotatedType type) {
        return (type.isAnnotationPresent(Nullable.class) ? "@Nullable " : "") + bareName(type);
    }

    private static String bareName(AnnotatedType type) {
        if (type instanceof AnnotatedParameterizedType generic) {
            String raw = generic.getType().getTypeName().replaceAll("<.*", "");
            return raw.replaceAll(".*[.$]", "")
                    + Arrays.stream(generic.getAnnotatedActualTypeArguments())
                            .map(Signatures::name)
                            .collect(Collectors.joining(", ", "<", ">"));
        }
        if (type instanceof AnnotatedArrayType array) {
            return name(array.getAnnotatedGenericComponentType()) + "[]";
        }
        if (type instanceof AnnotatedWildcardType wildcard) {
            boolean lower = ((WildcardType) wildcard.getType()).getLowerBounds().length > 0;
            return lower
                    ? "?" + list(" super ", wildcard.getAnnotatedLowerBounds(), Signatures::name)
                    : "?" + bounds(wildcard.getAnnotatedUpperBounds());
        }
        return type.getType() instanceof Class<?> plain
                ? plain.getSimpleName()
                : type.getType().getTypeName();
    }

    private static <T> String list(String word, T[] parts, Function<T, String> text) {
        return parts.length == 0 ? "" : Arrays.stream(parts).map(text).collect(Collectors.joining(", ", word, ""));
    }

    private static String flags(int modifiers) {
        String text = Modifier.toString(modifiers & ~Modifier.PUBLIC & ~Modifier.TRANSIENT);
        return text.isEmpty() ? "" : text + " ";
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }
}
