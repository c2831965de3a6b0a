// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.exc.InvalidDefinitionException;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.strict.StrictText;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Turns an opaque configuration into the vendor's type, strictly; normalizes and validates values.
 *
 * <p>A field that does not fit is an error ({@link ConfigJson}): silently doing less than the user
 * requested would be worse. Thread-safe.
 */
final class ConfigDecoder {

    private final List<ConfigType<?>> types;

    ConfigDecoder(List<ConfigType<?>> types) {
        this.types = List.copyOf(types);
    }

    /**
     * Decodes the parameters of one entry, which may apply to nothing: it is not validated.
     *
     * @throws PrepareException if they can't be decoded; the message has the reason
     */
    Decoded<?> decode(String parameters) {
        ObjectNode entry = ConfigJson.object(parameters);
        String apiVersion = text(entry.remove("apiVersion"));
        String kind = text(entry.remove("kind"));
        ConfigType<?> type = types.stream()
                .filter(known -> known.apiVersion().equals(apiVersion))
                .filter(known -> known.kind().equals(kind))
                .findFirst()
                .orElseThrow(() -> unknownKind(apiVersion, kind));
        return decode(type, entry);
    }

    private static <T> Decoded<T> decode(ConfigType<T> type, ObjectNode fields) {
        try {
            return new Decoded<>(type, ConfigJson.value(fields, type.type()));
        } catch (PrepareException e) {
            throw new PrepareException(type.kind() + ": " + e.getMessage(), e);
        }
    }

    /** Normalizes and validates a value, a decoded one or the type's default. */
    static <T> T valid(ConfigType<T> type, T value) {
        T normalized = type.normalize().apply(value);
        List<String> problems = type.validate().apply(normalized);
        if (!problems.isEmpty()) {
            throw new PrepareException(type.kind() + ": " + String.join("; ", problems));
        }
        return normalized;
    }

    private static String text(JsonNode node) {
        return node == null ? "" : node.asText();
    }

    private PrepareException unknownKind(String apiVersion, String kind) {
        String known = types.stream()
                .map(type -> type.apiVersion() + " " + type.kind())
                .collect(Collectors.joining(", "));
        String problem = apiVersion.isEmpty() || kind.isEmpty()
                ? "the opaque parameters need both apiVersion and kind, but have " + given(apiVersion, kind)
                : "the driver does not know the kind \"" + apiVersion + " " + kind + "\"";
        return new PrepareException(problem + "; it knows " + (known.isEmpty() ? "none" : known));
    }

    private static String given(String apiVersion, String kind) {
        if (apiVersion.isEmpty() && kind.isEmpty()) {
            return "neither";
        }
        return kind.isEmpty() ? "only apiVersion " + apiVersion : "only kind " + kind;
    }

    record Decoded<T>(ConfigType<T> type, T value) {}

    /** Reads the JSON of a configuration like {@link StrictText}, and reports errors in JSON's terms. Thread-safe. */
    private static final class ConfigJson {

        private static final int LONGEST_SHOWN = 60;
        private static final Map<Class<?>, Integer> BITS_OF_INTEGERS =
                Map.of(byte.class, 8, short.class, 16, int.class, 32, long.class, 64);

        private ConfigJson() {}

        /**
         * Reads one JSON object.
         *
         * @throws PrepareException if the text is something else
         */
        static ObjectNode object(String text) {
            try {
                if (StrictText.json(text, JsonNode.class) instanceof ObjectNode object) {
                    return object;
                }
                throw new PrepareException("the parameters are not a JSON object");
            } catch (IOException e) {
                throw new PrepareException("the parameters are not JSON, or have a field twice, at " + place(e), e);
            }
        }

        /**
         * Turns an object into a vendor's type.
         *
         * @throws PrepareException if it does not fit; the message names the field
         * @throws IllegalStateException if nothing can be decoded into the type
         */
        static <T> T value(ObjectNode object, Class<T> type) {
            try {
                return StrictText.convert(object, type);
            } catch (InvalidDefinitionException e) {
                throw new IllegalStateException(
                        "JSON can't be decoded into %s of %s".formatted(e.getType(), type.getName()), e);
            } catch (JsonMappingException e) {
                throw new PrepareException(problem(object, e), e);
            } catch (IOException | IllegalArgumentException e) {
                throw new PrepareException("not valid", e);
            }
        }

        private static String problem(ObjectNode object, JsonMappingException e) {
            String field = path(e);
            if (e instanceof UnrecognizedPropertyException unknown) {
                // A vendor's deserializer may not list its fields.
                Collection<Object> known = Objects.requireNonNullElse(unknown.getKnownPropertyIds(), List.of());
                String names = known.stream().map(String::valueOf).sorted().collect(Collectors.joining(", "));
                return "unknown field " + field + (names.isEmpty() ? "" : "; known are " + names);
            }
            String where = field.isEmpty() ? "" : field + ": ";
            // Messages of a vendor's constructor are for people; those of Jackson name Java classes.
            if (e.getCause() instanceof IllegalArgumentException || e.getCause() instanceof DraException) {
                return where + e.getCause().getMessage();
            }
            Class<?> target = e.getCause() instanceof InputCoercionException tooLarge
                    ? tooLarge.getTargetType()
                    : e instanceof MismatchedInputException mismatch ? mismatch.getTargetType() : null;
            if (target == null) {
                return where + "not valid";
            }
            JsonNode given = given(object, e);
            // The path to a key of a map ends at the map.
            String wrong = e instanceof InvalidFormatException odd && given.has(String.valueOf(odd.getValue()))
                    ? "the key \"%s\"".formatted(odd.getValue())
                    : shown(given);
            return given.isMissingNode()
                    ? field + " is missing; it must be " + expected(target, given)
                    : where + wrong + " is not " + expected(target, given);
        }

        private static JsonNode given(ObjectNode object, JsonMappingException e) {
            JsonNode node = object;
            for (JsonMappingException.Reference step : e.getPath()) {
                node = step.getFieldName() == null ? node.path(step.getIndex()) : node.path(step.getFieldName());
            }
            return node;
        }

        private static String shown(JsonNode given) {
            String text = given.toString();
            return text.length() > LONGEST_SHOWN ? text.substring(0, LONGEST_SHOWN) + "…" : text;
        }

        private static String path(JsonMappingException e) {
            StringBuilder path = new StringBuilder();
            for (JsonMappingException.Reference step : e.getPath()) {
                if (step.getFieldName() == null) {
                    path.append('[').append(step.getIndex()).append(']');
                } else {
                    path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
                }
            }
            return path.toString();
        }

        private static String expected(Class<?> target, JsonNode given) {
            Class<?> type = MethodType.methodType(target).unwrap().returnType();
            if (type.isEnum()) {
                return "one of "
                        + Stream.of(type.getEnumConstants())
                                .map(ConfigJson::text)
                                .collect(Collectors.joining(", "));
            }
            if (CharSequence.class.isAssignableFrom(type)) {
                return "a string";
            }
            if (type == boolean.class) {
                return "true or false";
            }
            if (type == Quantity.class) {
                return "a quantity, such as 80Gi";
            }
            if (type.isArray() || Collection.class.isAssignableFrom(type)) {
                return "a list";
            }
            if (type.isRecord() || Map.class.isAssignableFrom(type)) {
                return "an object";
            }
            return number(type, given);
        }

        private static String number(Class<?> type, JsonNode given) {
            Integer bits = BITS_OF_INTEGERS.get(type);
            if (bits != null) {
                return "an integer" + (given.isIntegralNumber() ? " of " + bits + " bits" : "");
            }
            return type.isPrimitive() || Number.class.isAssignableFrom(type)
                    ? "a number"
                    : "a valid " + type.getSimpleName();
        }

        private static String text(Object constant) {
            try {
                return StrictText.convert(constant, String.class);
            } catch (IOException e) { // it has JSON of another kind
                return constant.toString();
            }
        }

        private static String place(IOException e) {
            JsonLocation at = e instanceof JsonProcessingException json ? json.getLocation() : null;
            return at == null ? "an unknown place" : "line " + at.getLineNr() + ", column " + at.getColumnNr();
        }
    }
}
