// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.InputCoercionException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.strict.StrictText;
import java.io.IOException;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON of a configuration as {@link StrictText} does, and reports errors in words of
 * JSON. Thread-safe.
 */
final class ConfigJson {

    private static final Set<Class<?>> WHOLE_NUMBERS = Set.of(int.class, long.class, short.class, byte.class);
    private static final Set<Class<?>> NUMBERS = Set.of(double.class, float.class);

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
     * Turns an object into a type of the vendor's.
     *
     * @throws PrepareException if it does not fit; the message names the field
     */
    static <T> T value(ObjectNode object, Class<T> type) {
        try {
            return StrictText.convert(object, type);
        } catch (JsonMappingException e) {
            throw new PrepareException(problem(e), e);
        } catch (IOException | IllegalArgumentException e) {
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
        if (e.getCause() instanceof IllegalArgumentException || e.getCause() instanceof DraException) {
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
                    + Stream.of(type.getEnumConstants()).map(ConfigJson::text).collect(Collectors.joining(", "));
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
