// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.error.PrepareException;
import java.util.List;
import java.util.stream.Collectors;

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
                ? "the opaque parameters need both apiVersion and kind, and have " + given(apiVersion, kind)
                : "the driver does not know the kind \"" + apiVersion + " " + kind + "\"";
        return new PrepareException(problem + "; it knows " + (known.isEmpty() ? "none" : known));
    }

    private static String given(String apiVersion, String kind) {
        if (apiVersion.isEmpty() && kind.isEmpty()) {
            return "neither";
        }
        return kind.isEmpty() ? "apiVersion " + apiVersion + " alone" : "kind " + kind + " alone";
    }

    /** A decoded value with its type. */
    record Decoded<T>(ConfigType<T> type, T value) {}
}
