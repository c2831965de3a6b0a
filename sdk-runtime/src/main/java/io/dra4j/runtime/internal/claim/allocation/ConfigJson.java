// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import java.io.Serial;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON of a configuration, strictly, and reports errors in words of JSON.
 *
 * <p>An unknown field, a field given twice, or a value of another type is an error, a number where
 * a text belongs included; but a quantity may be a number, as everywhere in Kubernetes.
 * Thread-safe.
 */
final class ConfigJson {

    private static final Set<Class<?>> WHOLE_NUMBERS =
            Set.of(int.class, long.class, short.class, byte.class);
    private static final Set<Class<?>> NUMBERS = Set.of(double.class, float.class);

    private static final ObjectMapper STRICT =
            JsonMapper.builder()
                    .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
                    .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                    .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
                    .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                    .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                    .withCoercionConfig(
                            LogicalType.Textual,
                            texts ->
                                    Stream.of(
                                                    CoercionInputShape.Integer,
                                                    CoercionInputShape.Float,
                                                    CoercionInputShape.Boolean)
                                            .forEach(
                                                    shape ->
                                                            texts.setCoercion(
                                                                    shape, CoercionAction.Fail)))
                    .withCoercionConfigDefaults(
                            any ->
                                    any.setCoercion(
                                            CoercionInputShape.EmptyString, CoercionAction.Fail))
                    .addModule(
                            new SimpleModule()
                                    .addDeserializer(Quantity.class, new QuantityFromText()))
                    .build();

    private ConfigJson() {}

    /**
     * Reads one JSON object.
     *
     * @throws PrepareException if the text is something else
     */
    static ObjectNode object(String text) {
        try {
            JsonNode tree = STRICT.readTree(text);
            if (tree instanceof ObjectNode object) {
                return object;
            }
            throw new PrepareException("the parameters are not a JSON object");
        } catch (JsonProcessingException e) {
            throw new PrepareException(
                    "the parameters are not JSON, or have a field twice, at " + place(e), e);
        }
    }

    /**
     * Turns an object into a type of the vendor's.
     *
     * @throws PrepareException if it does not fit; the message names the field
     */
    static <T> T value(ObjectNode object, Class<T> type) {
        try {
            return STRICT.treeToValue(object, type);
        } catch (JsonMappingException e) {
            throw new PrepareException(problem(e), e);
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new PrepareException("not valid", e);
        }
    }

    private static String problem(JsonMappingException e) {
        String field = path(e);
        if (e instanceof UnrecognizedPropertyException) {
            return "unknown field " + field;
        }
        String where = field.isEmpty() ? "" : field + ": ";
        // Messages of a vendor's constructor are for people; those of Jackson name Java classes.
        if (e.getCause() instanceof IllegalArgumentException
                || e.getCause() instanceof DraException) {
            return where + e.getCause().getMessage();
        }
        if (e.getCause() instanceof InputCoercionException tooLarge) {
            return where + "not " + expected(tooLarge.getTargetType());
        }
        return e instanceof MismatchedInputException mismatch
                ? where + "not " + expected(mismatch.getTargetType())
                : where + "not valid";
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

    private static String expected(@Nullable Class<?> type) {
        if (type == null) {
            return "valid";
        }
        if (type.isEnum()) {
            return "one of "
                    + Stream.of(type.getEnumConstants())
                            .map(constant -> STRICT.valueToTree(constant).asText())
                            .collect(Collectors.joining(", "));
        }
        if (CharSequence.class.isAssignableFrom(type)) {
            return "a text";
        }
        if (type == Boolean.class || type == boolean.class) {
            return "true or false";
        }
        if (type == Quantity.class) {
            return "a quantity, such as 80Gi";
        }
        if (type.isArray() || Collection.class.isAssignableFrom(type)) {
            return "a list";
        }
        return number(type);
    }

    private static String number(Class<?> type) {
        if (NUMBERS.contains(type) || type == Double.class || type == Float.class) {
            return "a number";
        }
        if (WHOLE_NUMBERS.contains(type) || Number.class.isAssignableFrom(type)) {
            return "a number of the size and kind that is needed";
        }
        return "an object, or of another form than is needed";
    }

    private static String place(JsonProcessingException e) {
        JsonLocation at = e.getLocation();
        return at == null
                ? "an unknown place"
                : "line " + at.getLineNr() + ", column " + at.getColumnNr();
    }

    private static final class QuantityFromText extends FromStringDeserializer<Quantity> {
        @Serial private static final long serialVersionUID = 1L;

        QuantityFromText() {
            super(Quantity.class);
        }

        @Override
        protected Quantity _deserialize(String value, DeserializationContext context) {
            return new Quantity(value);
        }
    }
}
