// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.implementation.bind.annotation.AllArguments;
import net.bytebuddy.implementation.bind.annotation.RuntimeType;
import net.bytebuddy.implementation.bind.annotation.SuperCall;
import net.bytebuddy.implementation.bind.annotation.This;
import net.bytebuddy.matcher.ElementMatchers;

/**
 * Parts of the bare driver in which some methods answer as the drivers' file says: {@code Part.method} with a value,
 * with null for nothing, or with one field. That is {@code argument} (its index), {@code refused} (the message),
 * {@code merged} (into the part's own answer), {@code after} (milliseconds before its own answer), {@code late} (the
 * same, and the method returns before) or {@code forgiven} (its own failure is logged). In texts, {@code {driver}},
 * {@code {node}}, {@code {data}}, {@code {registry}} and {@code {cdi}} are settings, and {@code {0}} an argument.
 */
final class Answers {

    private Answers() {}

    /** Returns a subclass of each part that has some of the answers. */
    static List<Class<?>> parts(Map<String, JsonNode> answers) {
        List<String> methods = Parts.REPLACEABLE.stream()
                .flatMap(part -> Stream.of(part.getDeclaredMethods()))
                .map(Answers::name)
                .toList();
        if (!methods.containsAll(answers.keySet())) {
            throw new IllegalArgumentException("Some of these methods no part has: " + answers.keySet());
        }
        return Parts.REPLACEABLE.stream()
                .filter(part ->
                        Stream.of(part.getDeclaredMethods()).map(Answers::name).anyMatch(answers::containsKey))
                .<Class<?>>map(part -> subclass(part, answers))
                .toList();
    }

    private static String name(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    private static Class<?> subclass(Class<?> part, Map<String, JsonNode> answers) {
        DynamicType.Builder<?> subclass = new ByteBuddy().subclass(part);
        for (Method method : part.getDeclaredMethods()) {
            JsonNode answer = answers.get(name(method));
            if (answer != null) {
                JavaType type = Json.MAPPER.constructType(method.getGenericReturnType());
                subclass = subclass.method(ElementMatchers.is(method))
                        .intercept(MethodDelegation.to(new Answer(answer, type)));
            }
        }
        return subclass.make()
                .load(part.getClassLoader(), ClassLoadingStrategy.UsingLookup.of(MethodHandles.lookup()))
                .getLoaded();
    }

    /** The answer of one method. */
    static final class Answer {
        private static final Pattern PLACE = Pattern.compile("\\{\\w+}");

        private final JsonNode given;
        private final JavaType type;

        private Answer(JsonNode given, JavaType type) {
            this.given = given;
            this.type = type;
        }

        @RuntimeType
        Object answer(@This Object part, @AllArguments Object[] arguments, @SuperCall Callable<?> own)
                throws Exception {
            JsonNode value = filled(part, arguments);
            if (value.has("argument")) {
                return arguments[value.get("argument").asInt()];
            }
            if (value.has("refused")) {
                throw new Refused(value.get("refused").asText());
            }
            if (value.has("merged")) {
                return Json.MAPPER.readerForUpdating(own.call()).readValue(value.get("merged"));
            }
            if (value.has("after")) {
                Pauses.millis(value.get("after").asLong());
                return own.call();
            }
            if (value.has("late")) {
                Pauses.later(value.get("late").asLong(), () -> forgiven(own));
            }
            if (value.has("forgiven")) {
                forgiven(own);
            }
            return value.isNull() || value.isObject() ? null : Json.MAPPER.convertValue(value, type);
        }

        private JsonNode filled(Object part, Object... arguments) throws IOException {
            if (!PLACE.matcher(given.toString()).find()) {
                return given;
            }
            Settings settings = settings(part);
            String text = given.toString()
                    .replace("{driver}", settings.driver())
                    .replace("{node}", settings.node())
                    .replace("{data}", settings.data().toString())
                    .replace("{registry}", settings.registry().toString())
                    .replace("{cdi}", settings.cdi().toString());
            for (int at = 0; at < arguments.length; at++) {
                text = text.replace("{" + at + "}", String.valueOf(arguments[at]));
            }
            return Json.read(text);
        }

        private static Settings settings(Object part) {
            if (part instanceof BareDriver driver) {
                return driver.settings;
            }
            if (part instanceof Inventory inventory) {
                return inventory.settings;
            }
            if (part instanceof CdiSpecs specs) {
                return specs.settings;
            }
            return part instanceof SlicePlan plan ? plan.driver.settings : ((Publisher) part).driver.settings;
        }

        private static void forgiven(Callable<?> own) {
            try {
                own.call();
            } catch (Refused | IOException e) {
                Life.current().log(String.valueOf(e.getMessage()));
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
