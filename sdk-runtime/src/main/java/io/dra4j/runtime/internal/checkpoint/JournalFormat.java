// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.io.IOException;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a journal file, format version 1.
 *
 * <p>Each line is a JSON object with two members, in this order and without spaces: {@code crc32c},
 * eight lower-case hexadecimal digits, and {@code record}; the sum is taken over the record's
 * bytes. The first line's record is the header, {@code {"format":"dra4j-claims","version":1}}.
 * Every other record either puts a claim, or forgets one: {@code {"put":{…}}}, {@code
 * {"forget":"<uid>"}}. Members that a reader does not know are passed over, so that a newer
 * release's journal can be read.
 */
final class JournalFormat {

    static final String NAME = "dra4j-claims";
    static final int VERSION = 1;

    private static final String BEFORE_SUM = "{\"crc32c\":\"";
    private static final String BEFORE_RECORD = "\",\"record\":";
    private static final int SUM_LENGTH = 8;
    private static final int RECORD_AT = BEFORE_SUM.length() + SUM_LENGTH + BEFORE_RECORD.length();

    private static final ObjectMapper JSON =
            JsonMapper.builder()
                    .visibility(PropertyAccessor.ALL, Visibility.NONE)
                    .visibility(PropertyAccessor.FIELD, Visibility.ANY)
                    .defaultPropertyInclusion(
                            JsonInclude.Value.construct(
                                    JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
                    .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .addModule(names())
                    .build();

    private JournalFormat() {}

    /** One record of the file; exactly one member is not null. */
    record Entry(
            @Nullable String format,
            @Nullable Integer version,
            @Nullable ClaimRecord put,
            @Nullable String forget) {

        /** Says whether it says something: damage, or a writer that this reader can't follow. */
        boolean isKnown() {
            return put != null || forget != null || NAME.equals(format) && version != null;
        }

        static Entry header() {
            return new Entry(NAME, VERSION, null, null);
        }

        static Entry put(ClaimRecord claim) {
            return new Entry(null, null, claim, null);
        }

        static Entry forget(String uid) {
            return new Entry(null, null, null, uid);
        }
    }

    /** Returns the bytes of a line, with its line feed. */
    static byte[] encode(Entry entry) {
        try {
            String record = JSON.writeValueAsString(entry);
            String sum = sum(record.getBytes(StandardCharsets.UTF_8));
            return (BEFORE_SUM + sum + BEFORE_RECORD + record + "}\n")
                    .getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Records of the journal can always be written", e);
        }
    }

    /** Returns what a line says, without its line feed; {@code null} if it is damaged. */
    static @Nullable Entry decode(byte[] line) {
        String text = new String(line, StandardCharsets.UTF_8);
        if (line.length <= RECORD_AT
                || !text.startsWith(BEFORE_SUM)
                || !text.startsWith(BEFORE_RECORD, BEFORE_SUM.length() + SUM_LENGTH)
                || line[line.length - 1] != '}') {
            return null;
        }
        byte[] record = Arrays.copyOfRange(line, RECORD_AT, line.length - 1);
        String expected = text.substring(BEFORE_SUM.length(), BEFORE_SUM.length() + SUM_LENGTH);
        if (!sum(record).equals(expected)) {
            return null;
        }
        try {
            Entry entry = JSON.readValue(record, Entry.class);
            return entry != null && entry.isKnown() ? entry : null;
        } catch (IOException e) {
            return null;
        }
    }

    private static String sum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }

    private static SimpleModule names() {
        SimpleModule module = new SimpleModule();
        text(module, PoolName.class, PoolName::value, PoolName::new);
        text(module, DeviceName.class, DeviceName::value, DeviceName::new);
        text(module, Quantity.class, Quantity::text, Quantity::new);
        text(module, Duration.class, Duration::toString, Duration::parse);
        return module;
    }

    /** Lets a type be one JSON string. */
    private static <T> void text(
            SimpleModule module,
            Class<T> type,
            Function<T, String> write,
            Function<String, T> read) {
        module.addSerializer(
                type,
                new StdScalarSerializer<>(type) {
                    @Serial private static final long serialVersionUID = 1L;

                    @Override
                    public void serialize(T value, JsonGenerator out, SerializerProvider provider)
                            throws IOException {
                        out.writeString(write.apply(value));
                    }
                });
        module.addDeserializer(
                type,
                new FromStringDeserializer<T>(type) {
                    @Serial private static final long serialVersionUID = 1L;

                    @Override
                    protected T _deserialize(String value, DeserializationContext context) {
                        return read.apply(value);
                    }
                });
    }
}
