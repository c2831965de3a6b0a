// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
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
 * with null for nothing, or with fields.
 *
 * <ul>
 *   <li>{@code argument} is the index of the argument to answer with, and {@code refused} the message of a refusal.
 *   <li>The part's own answer is changed by {@code merged}, by {@code set} (fields of it), by {@code each} (merged into
 *       each of its elements) and by {@code replaced} (patterns in its JSON, and the texts instead).
 *   <li>It comes {@code after} milliseconds, or {@code late} ones, and the method returns before; {@code forgiven} logs
 *       its failure.
 *   <li>{@code logged} is a line, after which the driver may have {@code ended} with a status.
 *   <li>{@code when} is a pattern: the answer is in {@code then}, or where the arguments, as {@code [first, second]},
 *       have no match, in {@code else} or the part's own.
 * </ul>
 *
 * <p>In texts, {@code {driver}}, {@code {node}}, {@code {data}}, {@code {registry}} and {@code {cdi}} are settings, and
 * {@code {0}} an argument.
 */
final class Answers {

    /** Answers, each with one of its patterns that has had a match in this JVM. */
    private static final Set<String> MATCHED = ConcurrentHashMap.newKeySet();

    private Answers() {}

    /** Returns the patterns in a driver's answers that have never had a match: it was as if they were not there. */
    static Stream<String> unmatched(Map<String, JsonNode> answers) {
        return answers.values().stream()
                .flatMap(answer -> patterns(answer)
                        .filter(pattern -> !MATCHED.contains(answer + pattern))
                        .map(pattern -> "never matched: " + pattern));
    }

    private static Stream<String> patterns(JsonNode answer) {
        Stream<Map.Entry<String, JsonNode>> replaced =
                answer.findValues("replaced").stream().flatMap(texts -> texts.properties().stream());
        return Stream.concat(answer.findValuesAsText("when").stream(), replaced.map(Map.Entry::getKey));
    }

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
            return answer(filled(part, arguments), arguments, own);
        }

        private Object answer(JsonNode value, Object[] arguments, Callable<?> own) throws Exception {
            if (value.has("when")) {
                String next = matches(value.get("when").asText(), Arrays.toString(arguments)) ? "then" : "else";
                return value.has(next) ? answer(value.get(next), arguments, own) : own.call();
            }
            if (value.has("argument")) {
                return arguments[value.get("argument").asInt()];
            }
            if (value.has("refused")) {
                throw new Refused(value.get("refused").asText());
            }
            if (value.has("merged")) {
                return Json.MAPPER.readerForUpdating(own.call()).readValue(value.get("merged"));
            }
            if (value.has("set")) {
                return ((ObjectNode) own.call())
                        .setAll((ObjectNode) value.get("set").deepCopy());
            }
            if (value.has("each")) {
                return each((List<?>) own.call(), value.get("each"));
            }
            if (value.has("replaced")) {
                String text = Json.MAPPER.writeValueAsString(own.call());
                for (Map.Entry<String, JsonNode> one : value.get("replaced").properties()) {
                    if (matches(one.getKey(), text)) {
                        text = text.replaceAll(one.getKey(), one.getValue().asText());
                    }
                }
                return Json.MAPPER.readValue(text, type);
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
            if (value.has("logged")) {
                Life.current().log(value.get("logged").asText());
            }
            if (value.has("ended")) {
                Life.current().end(value.get("ended").asInt());
            }
            return value.isNull() || value.isObject() ? null : Json.MAPPER.convertValue(value, type);
        }

        private boolean matches(String pattern, String text) {
            boolean found = Pattern.compile(pattern).matcher(text).find();
            if (found) {
                MATCHED.add(given + pattern);
            }
            return found;
        }

        private static List<Object> each(List<?> items, JsonNode more) throws IOException {
            List<Object> changed = new ArrayList<>();
            for (Object item : items) {
                JsonNode tree = Json.MAPPER.valueToTree(item);
                JsonNode merged = Json.MAPPER.readerForUpdating(tree).readValue(more);
                changed.add(Json.MAPPER.convertValue(merged, item.getClass()));
            }
            return changed;
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
