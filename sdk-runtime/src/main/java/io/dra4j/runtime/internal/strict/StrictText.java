// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.strict;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.cfg.MapperBuilder;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.api.device.Quantity;
import java.io.IOException;
import java.io.Serial;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON and YAML strictly, with Jackson and its exceptions.
 *
 * <p>An unknown field, a field given twice, trailing content, or a value of another type is an error, including a
 * number instead of a string; but a quantity may be a number, as everywhere in Kubernetes. Thread-safe.
 */
public final class StrictText {

    private static final ObjectMapper JSON = strict(JsonMapper.builder()).build();

    /** Loaded with the first YAML, for most drivers read none. */
    private static final class Yaml {
        static final ObjectMapper MAPPER = strict(YAMLMapper.builder()).build();
    }

    private StrictText() {}

    /**
     * Reads JSON.
     *
     * @return null if it is the JSON null
     * @throws IOException if the text is not JSON, or not of the type; one of Jackson's exceptions
     */
    public static <T> T json(String text, Class<T> type) throws IOException {
        return JSON.readValue(text, type);
    }

    /**
     * Reads one document of YAML.
     *
     * @return null if it is empty, has only comments, or is the YAML null
     * @throws IOException if the text is not YAML, or not of the type; one of Jackson's exceptions
     */
    public static <T> @Nullable T yaml(String text, Class<T> type) throws IOException {
        try (JsonParser parser = Yaml.MAPPER.createParser(text)) {
            return parser.nextToken() == null ? null : Yaml.MAPPER.readValue(parser, type);
        }
    }

    /**
     * Converts a value into another type through its JSON form: a tree, for example.
     *
     * @throws IOException if it is not of the type; one of Jackson's exceptions
     */
    public static <T> T convert(Object value, Class<T> type) throws IOException {
        return JSON.treeToValue(JSON.valueToTree(value), type);
    }

    private static <M extends ObjectMapper, B extends MapperBuilder<M, B>> B strict(B builder) {
        return builder.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
                .enable(DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .withCoercionConfig(
                        LogicalType.Textual,
                        texts -> Stream.of(
                                        CoercionInputShape.Integer,
                                        CoercionInputShape.Float,
                                        CoercionInputShape.Boolean)
                                .forEach(shape -> texts.setCoercion(shape, CoercionAction.Fail)))
                .withCoercionConfigDefaults(any -> any.setCoercion(CoercionInputShape.EmptyString, CoercionAction.Fail))
                .addModule(new SimpleModule().addDeserializer(Quantity.class, new QuantityFromText()));
    }

    private static final class QuantityFromText extends FromStringDeserializer<Quantity> {
        @Serial
        private static final long serialVersionUID = 1L;

        QuantityFromText() {
            super(Quantity.class);
        }

        @Override
        protected Quantity _deserialize(String value, DeserializationContext context) {
            return new Quantity(value);
        }
    }
}
