// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import java.io.Serial;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Turns an opaque configuration into the vendor's type: decoded strictly, normalized, validated.
 *
 * <p>An unknown field, a field given twice or of another type is an error: silently doing less than
 * the user asked for would be worse. Thread-safe.
 */
final class ConfigDecoder {

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
                    .addModule(
                            new SimpleModule()
                                    .addDeserializer(Quantity.class, new QuantityFromText()))
                    .build();

    private final List<ConfigType<?>> types;

    ConfigDecoder(List<ConfigType<?>> types) {
        this.types = List.copyOf(types);
    }

    /**
     * Decodes the parameters of one entry.
     *
     * @throws PrepareException if they are not valid; the message says what is wrong
     */
    Decoded<?> decode(String parameters) {
        ObjectNode entry = object(parameters);
        String apiVersion = text(entry.remove("apiVersion"));
        String kind = text(entry.remove("kind"));
        ConfigType<?> type =
                types.stream()
                        .filter(known -> known.apiVersion().equals(apiVersion))
                        .filter(known -> known.kind().equals(kind))
                        .findFirst()
                        .orElseThrow(() -> unknownKind(apiVersion, kind));
        return decode(type, entry);
    }

    private static <T> Decoded<T> decode(ConfigType<T> type, ObjectNode fields) {
        T decoded;
        try {
            decoded = STRICT.treeToValue(fields, type.type());
        } catch (JsonProcessingException e) {
            throw new PrepareException(type.kind() + ": " + e.getOriginalMessage(), e);
        }
        return new Decoded<>(type, valid(type, decoded));
    }

    /** Normalizes and validates a value, a decoded one or the type's default. */
    static <T> T valid(ConfigType<T> type, T value) {
        T normalized = type.normalize().apply(value);
        List<String> problems = type.problems().apply(normalized);
        if (!problems.isEmpty()) {
            throw new PrepareException(type.kind() + ": " + String.join("; ", problems));
        }
        return normalized;
    }

    private static ObjectNode object(String parameters) {
        try {
            JsonNode tree = STRICT.readTree(parameters);
            if (tree instanceof ObjectNode object) {
                return object;
            }
            throw new PrepareException("the parameters are not a JSON object");
        } catch (JsonProcessingException e) {
            throw new PrepareException("the parameters are not JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static String text(JsonNode node) {
        return node == null ? "" : node.asText();
    }

    private PrepareException unknownKind(String apiVersion, String kind) {
        String known =
                types.stream()
                        .map(type -> type.apiVersion() + " " + type.kind())
                        .collect(Collectors.joining(", "));
        return new PrepareException(
                "the driver does not know the kind \""
                        + apiVersion
                        + " "
                        + kind
                        + "\"; it knows "
                        + (known.isEmpty() ? "none" : known));
    }

    /** A decoded value with its type. */
    record Decoded<T>(ConfigType<T> type, T value) {}

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
