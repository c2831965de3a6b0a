// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every public method and constructor of a value names the argument that is missing. */
class NullArgumentsTest {

    /** An argument that must not be null. */
    record Argument(Executable of, int index) {
        String name() {
            return of.getParameters()[index].getName();
        }

        @Override
        public String toString() {
            return of.getDeclaringClass().getSimpleName() + "." + of.getName() + " " + name();
        }
    }

    static Stream<Argument> arguments() {
        return new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.dra4j.api").stream()
                        .map(type -> type.reflect())
                        .filter(type -> Modifier.isPublic(type.getModifiers()))
                        .filter(type -> !Throwable.class.isAssignableFrom(type))
                        .flatMap(NullArgumentsTest::members)
                        .flatMap(NullArgumentsTest::ofMember);
    }

    private static Stream<Executable> members(Class<?> type) {
        return Stream.<Executable>concat(
                        Arrays.stream(type.getDeclaredConstructors()), Arrays.stream(type.getDeclaredMethods()))
                .filter(member -> Modifier.isPublic(member.getModifiers()))
                .filter(member -> !Modifier.isAbstract(member.getModifiers()))
                .filter(member -> !member.isSynthetic())
                .filter(member -> !List.of("equals", "valueOf", "compareTo").contains(member.getName()))
                .filter(member -> member.getDeclaringClass() != DeviceProvider.class);
    }

    private static Stream<Argument> ofMember(Executable member) {
        AnnotatedType[] types = member.getAnnotatedParameterTypes();
        return IntStream.range(0, types.length)
                .filter(i -> !member.getParameterTypes()[i].isPrimitive())
                .filter(i -> !types[i].isAnnotationPresent(Nullable.class))
                .filter(i -> !isNullableComponent(member, i))
                .mapToObj(i -> new Argument(member, i));
    }

    /** javac drops the annotation of a nested type in a generated canonical constructor. */
    private static boolean isNullableComponent(Executable member, int index) {
        return member instanceof Constructor<?>
                && member.getDeclaringClass().isRecord()
                && member.getDeclaringClass()
                        .getRecordComponents()[index]
                        .getAnnotatedType()
                        .isAnnotationPresent(Nullable.class);
    }

    @Test
    void thereAreSuchArguments() {
        assertThat(arguments().count()).isGreaterThan(150);
    }

    @ParameterizedTest
    @MethodSource("arguments")
    void isNamedIfItIsMissing(Argument argument) throws Exception {
        Executable member = argument.of();
        Parameter[] parameters = member.getParameters();
        Object[] given = new Object[parameters.length];
        for (int i = 0; i < given.length; i++) {
            given[i] = i == argument.index() ? null : Anything.of(parameters[i].getType());
        }

        Throwable thrown = catchThrowable(() -> {
            try {
                call(member, given);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });

        assertThat(thrown)
                .as(argument.toString())
                .isInstanceOf(NullPointerException.class)
                .hasMessageMatching(argument.name() + "(: .* is null)?");
    }

    private static void call(Executable member, Object[] given) throws Exception {
        if (member instanceof Constructor<?> constructor) {
            constructor.newInstance(given);
            return;
        }
        boolean isStatic = Modifier.isStatic(member.getModifiers());
        ((Method) member).invoke(isStatic ? null : Anything.of(member.getDeclaringClass()), given);
    }
}
