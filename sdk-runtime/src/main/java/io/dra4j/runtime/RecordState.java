// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeFeature;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Writes a record as the {@link ProviderState} of a claim, and reads it again.
 *
 * <pre>{@code
 * static final RecordState<Flashed> STATE = RecordState.of(1, Flashed.class);
 *
 * context.checkpoint(STATE.write(new Flashed("fpga-0", "aes.bit")));
 * }</pre>
 *
 * <p>The JSON has a field for each component that is not {@code null}; a time is written in ISO 8601, with its offset
 * or zone. Reading is strict: a field without a component in the record, a field given twice, or a missing number or
 * boolean is an error, because a state that is only partly understood would be undone only in part. A record that gains
 * a component needs a new version, and reads the earlier one with {@link #upgrading}. Immutable.
 *
 * @param <T> the record
 */
public final class RecordState<T extends Record> {

    private static final JsonMapper JSON = JsonMapper.builder()
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .disable(
                    DeserializationFeature.ACCEPT_FLOAT_AS_INT,
                    DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
            .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .addModule(new JavaTimeModule().disable(JavaTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID))
            .build();

    private final int version;
    private final Map<Integer, Function<String, T>> readers;

    private RecordState(int version, Map<Integer, Function<String, T>> readers) {
        this.version = version;
        this.readers = readers;
    }

    /**
     * Returns the form of a record.
     *
     * @param version the version of the form that is written
     * @param type the record
     * @param <T> the record
     * @return the form, which reads only this version
     */
    public static <T extends Record> RecordState<T> of(int version, Class<T> type) {
        Objects.requireNonNull(type, "type");
        Map<Integer, Function<String, T>> readers = new TreeMap<>();
        readers.put(version, text -> decode(text, type));
        return new RecordState<>(version, readers);
    }

    /**
     * Also reads an earlier version.
     *
     * @param earlier the version that earlier releases wrote
     * @param type the record that they wrote
     * @param upgrade converts it to the current record
     * @param <E> the record that they wrote
     * @return a form that reads one more version
     */
    public <E extends Record> RecordState<T> upgrading(
            int earlier, Class<E> type, Function<? super E, ? extends T> upgrade) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(upgrade, "upgrade");
        Map<Integer, Function<String, T>> more = new TreeMap<>(readers);
        if (more.put(earlier, text -> upgrade.apply(decode(text, type))) != null) {
            throw new IllegalArgumentException("Version " + earlier + " is already read");
        }
        return new RecordState<>(version, more);
    }

    /**
     * Writes a record.
     *
     * @param value the record
     * @return the state
     * @throws DraException if a component can't be written as JSON
     * @throws IllegalArgumentException if the JSON is longer than a state may be
     */
    public ProviderState write(T value) {
        Objects.requireNonNull(value, "value");
        try {
            return new ProviderState(version, JSON.writeValueAsString(value));
        } catch (JsonProcessingException e) {
            throw new DraException("Can't write the state of a claim as JSON: " + e.getOriginalMessage(), e);
        }
    }

    /**
     * Reads a record.
     *
     * @param state the state
     * @return the record
     * @throws DraException if the state has a version that is not read, or does not fit the record
     */
    public T read(ProviderState state) {
        Objects.requireNonNull(state, "state");
        Function<String, T> reader = readers.get(state.version());
        if (reader == null) {
            throw new DraException("The claim's state has version %d, and this driver reads %s%s"
                    .formatted(
                            state.version(),
                            readers.keySet(),
                            state.version() > version ? ": a newer driver prepared the claim" : ""));
        }
        return reader.apply(state.rawJson());
    }

    private static <E extends Record> E decode(String text, Class<E> type) {
        try {
            E value = JSON.readValue(text, type);
            if (value == null) {
                throw new DraException("The claim's state can't be read: it is null");
            }
            return value;
        } catch (JsonProcessingException e) { // its messages quote values, which only this driver's claims may have
            Throwable cause = e instanceof ValueInstantiationException ? e.getCause() : null; // of the record itself
            throw new DraException(
                    "The claim's state can't be read: %s at %s; it has %d characters"
                            .formatted(e.getClass().getSimpleName(), place(e), text.length()),
                    cause);
        }
    }

    private static String place(JsonProcessingException e) {
        StringBuilder path = new StringBuilder();
        if (e instanceof JsonMappingException mapping) {
            for (JsonMappingException.Reference step : mapping.getPath()) {
                path.append('/').append(step.getFieldName() == null ? step.getIndex() : step.getFieldName());
            }
        }
        return path.isEmpty() ? "column " + e.getLocation().getColumnNr() : path.toString();
    }
}
