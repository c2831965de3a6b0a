// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.std.FromStringDeserializer;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdDelegatingSerializer;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.databind.util.Converter;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a journal file, format version 1.
 *
 * <p>Each line is a JSON object without spaces between its members, which come in this order: {@code file} and {@code
 * line}, its {@linkplain LineNumber number}; {@code claim}, the UID of the record's claim, which thus appears in the
 * line twice; {@code record}; and {@code crc32c}, the sum of all bytes before it, eight lower-case hexadecimal digits.
 * The first line is the header, without a claim and with the record {@code {"format":"dra4j-claims","version":1}}. It
 * has {@code "incomplete":true} if claims were lost that nothing in the file names. Other records put a claim, forget
 * one, or record that the lost ones were found: {@code {"put":{…}}}, {@code {"forget":"<uid>"}}, {@code
 * {"found":true}}. A reader ignores unknown members, so that a newer release's journal can be read.
 */
final class JournalFormat {

    static final String NAME = "dra4j-claims";
    static final int VERSION = 1;

    /** The longest line: a longer one is damage, and is never written. */
    static final int LONGEST_LINE = 4 << 20;

    private static final String BEFORE_SUM = ",\"crc32c\":\"";
    private static final String AFTER_SUM = "\"}";
    private static final int SUM_LENGTH = 8;
    private static final int SUM_MEMBER_LENGTH = BEFORE_SUM.length() + SUM_LENGTH + AFTER_SUM.length();

    private static final ObjectMapper JSON = JsonMapper.builder()
            .visibility(PropertyAccessor.ALL, Visibility.NONE)
            .visibility(PropertyAccessor.FIELD, Visibility.ANY)
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .addModule(names())
            .build();

    private JournalFormat() {}

    /** One record of the file: a header, or a put, or a forget, or found. */
    record Entry(
            @Nullable String format,
            @Nullable Integer version,
            @Nullable Boolean incomplete,
            @Nullable ClaimRecord put,
            @Nullable String forget,
            @Nullable Boolean found) {

        /** Returns whether this reader understands it; if not, it is damaged, or from a newer writer. */
        boolean isKnown() {
            return put != null || forget != null || found != null || NAME.equals(format) && version != null;
        }

        /** Returns whether the claims are complete after it, given whether they were before. */
        boolean isComplete(boolean before) {
            return incomplete == null && before || found != null;
        }

        /** Returns the UID of its claim; the header has none. */
        @Nullable
        String uid() {
            return put != null ? put.ref().uid() : forget;
        }

        void applyTo(Map<String, ClaimRecord> claims) {
            if (put != null) {
                claims.put(put.ref().uid(), put);
            } else if (forget != null) {
                claims.remove(forget);
            }
        }

        static Entry header(boolean incomplete) {
            return new Entry(NAME, VERSION, incomplete ? true : null, null, null, null);
        }

        static Entry put(ClaimRecord claim) {
            return new Entry(null, null, null, claim, null, null);
        }

        static Entry foundAll() {
            return new Entry(null, null, null, null, null, true);
        }

        static Entry forget(String uid) {
            return new Entry(null, null, null, null, uid, null);
        }
    }

    /**
     * A line as it was read.
     *
     * @param claim the UID of the claim that the record is about; the header has none
     * @param crc32c the checksum, which matched
     */
    record Line(long file, long line, @Nullable String claim, Entry record, String crc32c) {

        LineNumber number() {
            return new LineNumber(file, line);
        }

        /** Returns whether it has a known record, and names the record's claim. */
        private boolean isWhole() {
            return record != null && record.isKnown() && Objects.equals(claim, record.uid());
        }
    }

    /**
     * Returns the bytes of a record, to become a line later.
     *
     * @throws DraException if it is too long to be kept
     */
    static byte[] encode(Entry entry) {
        byte[] record = json(entry);
        if (record.length > LONGEST_LINE - 1024) {
            throw new DraException(("The record of claim %s has %s bytes, which is more than the journal keeps; "
                            + "let the provider return less")
                    .formatted(entry.uid(), record.length));
        }
        return record;
    }

    /** Returns the bytes of a line, with its line feed. */
    static byte[] line(LineNumber number, Entry entry, byte[] record) {
        String claim = entry.uid() == null ? "" : ",\"claim\":" + text(json(entry.uid()));
        String start = "{\"file\":" + number.file() + ",\"line\":" + number.line() + claim;
        byte[] summed = concat(bytes(start + ",\"record\":"), record);
        return concat(summed, bytes(BEFORE_SUM + sum(summed, summed.length) + AFTER_SUM + "\n"));
    }

    private static byte[] json(Object value) {
        try {
            return JSON.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Records of the journal can always be written", e);
        }
    }

    /**
     * Decodes a line, without its line feed; {@code null} if it is damaged.
     *
     * @throws DraException if a newer release wrote it in a form unknown to this one
     */
    static @Nullable Line decode(byte[] bytes) {
        int summed = bytes.length - SUM_MEMBER_LENGTH;
        if (summed <= 0 || bytes.length >= LONGEST_LINE) {
            return null;
        }
        String end = text(Arrays.copyOfRange(bytes, summed, bytes.length));
        if (!end.equals(BEFORE_SUM + sum(bytes, summed) + AFTER_SUM)) {
            return null;
        }
        try {
            Line line = JSON.readValue(bytes, Line.class);
            return line != null && line.isWhole() ? line : null;
        } catch (InvalidFormatException e) {
            if (e.getTargetType() != null && e.getTargetType().isEnum()) {
                throw new DraException(
                        ("it has a record of a newer release of the driver (%s %s); run that release, "
                                        + "or unprepare all claims with it first")
                                .formatted(e.getTargetType().getSimpleName(), e.getValue()),
                        e);
            }
            return null;
        } catch (IOException e) {
            return null;
        }
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String sum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }

    private static SimpleModule names() {
        SimpleModule module = new SimpleModule();
        text(module, PoolName.class, PoolName::new);
        text(module, DeviceName.class, DeviceName::new);
        text(module, Quantity.class, Quantity::new);
        text(module, Duration.class, Duration::parse);
        StoredForms.addTo(module);
        return module;
    }

    /** Serializes a type as one JSON string, its {@code toString()}. */
    private static <T> void text(SimpleModule module, Class<T> type, Function<String, T> read) {
        module.addSerializer(type, ToStringSerializer.instance);
        module.addDeserializer(type, new FromStringDeserializer<T>(type) {
            @Serial
            private static final long serialVersionUID = 1L;

            @Override
            protected T _deserialize(String value, DeserializationContext context) {
                return read.apply(value);
            }
        });
    }

    /**
     * The journal's own forms of the API's values: the file format does not change with the API.
     *
     * <p>The order of the components is the order in the file.
     */
    private static final class StoredForms {

        private StoredForms() {}

        /** Makes a module write and read the API's values in their stored forms. */
        static void addTo(SimpleModule module) {
            module.setMixInAnnotation(Phase.class, PhaseNames.class);
            store(module, HeldDevice.class, Device::of, Device.class, Device::held);
            store(module, ProviderState.class, State::of, State.class, State::state);
            store(module, ContainerEdits.class, Edits::of, Edits.class, Edits::edits);
            store(module, DeviceNode.class, Node::of, Node.class, Node::node);
            store(module, Hook.class, HookEntry::of, HookEntry.class, HookEntry::hook);
        }

        private static <T, S> void store(
                SimpleModule module, Class<T> type, Function<T, S> out, Class<S> stored, Function<S, T> in) {
            module.addSerializer(type, new StdDelegatingSerializer(type, new Form<>(type, stored, out)));
            module.addDeserializer(type, new StdDelegatingDeserializer<>(new Form<>(stored, type, in)));
        }

        private record Form<A, B>(Class<A> from, Class<B> to, Function<A, B> function) implements Converter<A, B> {

            @Override
            public B convert(A value) {
                return function.apply(value);
            }

            @Override
            public JavaType getInputType(TypeFactory types) {
                return types.constructType(from);
            }

            @Override
            public JavaType getOutputType(TypeFactory types) {
                return types.constructType(to);
            }
        }

        /** The names of phases that differ in the file. */
        private enum PhaseNames {
            @JsonProperty("STARTED")
            PREPARING
        }

        private record Device(
                String request,
                @Nullable String subrequest,
                PoolName pool,
                DeviceName device,
                @Nullable String shareId,
                Map<String, Quantity> consumedCapacity,
                boolean adminAccess,
                @Nullable String physicalId) {

            static Device of(HeldDevice held) {
                return new Device(
                        held.request(),
                        held.subrequest(),
                        held.pool(),
                        held.device(),
                        held.shareId(),
                        held.consumedCapacity(),
                        held.adminAccess(),
                        held.physicalId());
            }

            HeldDevice held() {
                return HeldDevice.builder(request, pool, device)
                        .subrequest(subrequest)
                        .shareId(shareId)
                        .consumedCapacity(consumedCapacity)
                        .adminAccess(adminAccess)
                        .physicalId(physicalId)
                        .build();
            }
        }

        private record State(int version, String json) {

            static State of(ProviderState state) {
                return new State(state.version(), state.rawJson());
            }

            ProviderState state() {
                return new ProviderState(version, json);
            }
        }

        private record Edits(
                Map<String, String> env,
                List<DeviceNode> deviceNodes,
                List<Mount> mounts,
                List<Hook> hooks,
                List<NetDevice> netDevices,
                List<Long> additionalGids,
                @Nullable IntelRdt intelRdt) {

            static Edits of(ContainerEdits edits) {
                return new Edits(
                        edits.env(),
                        edits.deviceNodes(),
                        edits.mounts(),
                        edits.hooks(),
                        edits.netDevices(),
                        edits.additionalGids(),
                        edits.intelRdt());
            }

            ContainerEdits edits() {
                return ContainerEdits.builder()
                        .env(env)
                        .deviceNodes(deviceNodes)
                        .mounts(mounts)
                        .hooks(hooks)
                        .netDevices(netDevices)
                        .additionalGids(additionalGids)
                        .intelRdt(intelRdt)
                        .build();
            }
        }

        private record Node(
                String path,
                @Nullable String hostPath,
                @Nullable String type,
                @Nullable Long major,
                @Nullable Long minor,
                @Nullable Integer fileMode,
                @Nullable String permissions,
                @Nullable Long uid,
                @Nullable Long gid) {

            static Node of(DeviceNode node) {
                return new Node(
                        node.path(),
                        node.hostPath(),
                        node.type(),
                        node.major(),
                        node.minor(),
                        node.fileMode(),
                        node.permissions(),
                        node.uid(),
                        node.gid());
            }

            DeviceNode node() {
                return DeviceNode.builder(path)
                        .hostPath(hostPath)
                        .type(type)
                        .major(major)
                        .minor(minor)
                        .fileMode(fileMode)
                        .permissions(permissions)
                        .uid(uid)
                        .gid(gid)
                        .build();
            }
        }

        private record HookEntry(
                HookName moment,
                String path,
                List<String> args,
                List<String> env,
                @Nullable Duration timeout) {

            static HookEntry of(Hook hook) {
                return new HookEntry(hook.name(), hook.path(), hook.args(), hook.env(), hook.timeout());
            }

            Hook hook() {
                return new Hook(moment, path, args, env, timeout);
            }
        }
    }
}
