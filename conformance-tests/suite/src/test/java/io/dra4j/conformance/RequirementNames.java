// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayNameGenerator;
import org.junit.jupiter.api.Tag;

/** Names a test after the requirements that it shows, which are its tags, and its sentence. */
final class RequirementNames extends DisplayNameGenerator.Simple {

    @Override
    public String generateDisplayNameForMethod(
            List<Class<?>> enclosing, Class<?> testClass, Method method) {
        String sentence =
                method.getName()
                        .replaceAll("(?<=[A-Za-z0-9])(?=[A-Z])", " ")
                        .toLowerCase(Locale.ROOT);
        return Stream.concat(
                        Arrays.stream(method.getAnnotationsByType(Tag.class)).map(Tag::value),
                        Stream.of(sentence))
                .collect(Collectors.joining(" "));
    }
}
