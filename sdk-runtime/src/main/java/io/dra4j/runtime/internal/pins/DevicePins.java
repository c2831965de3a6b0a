// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pins;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.DataDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code devices.pins} next to the journal: which hardware each published name refers to.
 *
 * <p>JSON lines: a header, {@code {"format":"dra4j-pins","version":1}}; a line for each name, with {@code pool}, {@code
 * device} and {@code physicalId}; and {@code {"crc32c":"…"}}, the sum of all bytes before that line. It is replaced by
 * a rename, and synced before that. Another process of the driver may replace it: each read checks whether one did. A
 * node without the file is new. Thread-safe.
 */
public final class DevicePins {

    private static final String FORMAT = "dra4j-pins";
    private static final int VERSION = 1;
    private static final String SUM = "{\"crc32c\":\"%08x\"}%n";
    private static final FileAttribute<?> OWNER_ONLY = DataDirectory.mode("rw-------");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path file;
    private final Sync sync;
    private Pins last = Pins.NONE; // guarded by this, as is the next
    private @Nullable List<Object> lastState;
    private @Nullable List<Object> durableState;

    /** Makes the names in a directory durable. */
    interface Sync {
        void of(Path directory) throws IOException;
    }

    DevicePins(Path file, Sync sync) {
        this.file = file;
        this.sync = sync;
    }

    /** Returns the pins of a driver's data directory; nothing is read yet. */
    public static DevicePins in(Path dataDirectory) {
        return new DevicePins(new DataDirectory(dataDirectory).pins(), DevicePins::syncNames);
    }

    private static void syncNames(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory)) {
            channel.force(true);
        }
    }

    /**
     * Returns the current pins of the file.
     *
     * @throws DraException if it can't be read, or a newer release wrote it
     */
    public synchronized Pins read() {
        try {
            List<Object> state = state();
            if (!state.equals(lastState)) {
                last = parse(Files.readAllBytes(file));
                lastState = state;
            }
            return last;
        } catch (NoSuchFileException e) {
            lastState = null;
            return Pins.NONE;
        } catch (IOException e) {
            throw new DraException("Can't read " + file + ": " + e, e);
        }
    }

    private List<Object> state() throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        return List.of(String.valueOf(attributes.fileKey()), attributes.lastModifiedTime(), attributes.size());
    }

    private Pins parse(byte[] bytes) {
        int end = bytes.length - SUM.formatted(0).length();
        if (end < 0 || !text(bytes, end, bytes.length).equals(SUM.formatted(sum(bytes, end)))) {
            return Pins.DAMAGED;
        }
        try {
            Map<PooledDevice, String> ids = new TreeMap<>();
            String[] lines = text(bytes, 0, end).split("\n");
            requireKnown(JSON.readTree(lines[0]));
            for (String line : List.of(lines).subList(1, lines.length)) {
                JsonNode pin = JSON.readTree(line);
                ids.put(
                        new PooledDevice(
                                new PoolName(pin.path("pool").asText()),
                                new DeviceName(pin.path("device").asText())),
                        pin.path("physicalId").asText());
            }
            return Pins.of(ids);
        } catch (IOException | IllegalArgumentException e) {
            return Pins.DAMAGED;
        }
    }

    private void requireKnown(JsonNode header) {
        if (header.path("version").asInt() > VERSION) {
            throw new DraException(
                    "Can't read %s: format version %d, this release reads up to %d; run the newer release of the driver"
                            .formatted(file, header.path("version").asInt(), VERSION));
        }
        if (!header.path("format").asText().equals(FORMAT)) {
            throw new IllegalArgumentException("not a pins file");
        }
    }

    private static String text(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.UTF_8);
    }

    private static int sum(byte[] bytes, int end) {
        CRC32C sum = new CRC32C();
        sum.update(bytes, 0, end);
        return (int) sum.getValue();
    }

    /**
     * Replaces the pins; they are on the disk when it returns.
     *
     * @throws DraException if they can't be written; this process then reads them as before, though the file may have
     *     them, until a power failure
     */
    synchronized void write(Pins pins) {
        Pins before = read();
        Path next = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.deleteIfExists(next);
            try (FileChannel channel = FileChannel.open(
                    next, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWNER_ONLY)) {
                ByteBuffer bytes = ByteBuffer.wrap(bytes(pins));
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
            settle();
        } catch (IOException e) {
            remain(before);
            throw new DraException("Can't write " + file + ": " + e, e);
        }
    }

    /**
     * Makes the pins durable that are in the file: another process may have ended before it did.
     *
     * @throws DraException if they can't be; a power failure may then take them
     */
    synchronized void requireDurable() {
        try {
            settle();
        } catch (NoSuchFileException e) {
            durableState = null; // there are none
        } catch (IOException e) {
            throw new DraException("Can't sync the directory of " + file + ": " + e, e);
        }
    }

    private void settle() throws IOException {
        List<Object> now = state();
        if (!now.equals(durableState)) {
            sync.of(file.resolveSibling("."));
            durableState = now;
            lastState = null;
        }
    }

    /** Ignores what a failed write may have left in the file: it is not durable. */
    private void remain(Pins before) {
        try {
            lastState = state();
            last = before;
        } catch (IOException e) {
            lastState = null;
        }
    }

    /** Keeps a damaged file for inspection; the next write creates a new one. */
    synchronized void keepDamaged() {
        try {
            if (parse(Files.readAllBytes(file)) != Pins.DAMAGED) {
                return; // a failed write replaced it
            }
            Files.copy(file, file.resolveSibling(file.getFileName() + ".damaged"), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new DraException("Can't copy the damaged " + file + ": " + e, e);
        }
    }

    private static byte[] bytes(Pins pins) throws IOException {
        StringBuilder text = new StringBuilder();
        text.append(JSON.createObjectNode()
                .put("format", FORMAT)
                .put("version", VERSION)
                .toString());
        text.append('\n');
        pins.ids()
                .forEach((name, id) -> text.append(JSON.createObjectNode()
                                .put("pool", name.pool().value())
                                .put("device", name.device().value())
                                .put("physicalId", id))
                        .append('\n'));
        byte[] body = text.toString().getBytes(StandardCharsets.UTF_8);
        return text.append(SUM.formatted(sum(body, body.length))).toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * The physical ids that names of devices were published for.
     *
     * @param damaged whether the file is damaged: then every name may have meant anything
     */
    public record Pins(Map<PooledDevice, String> ids, boolean damaged) {

        static final Pins NONE = new Pins(Map.of(), false);
        static final Pins DAMAGED = new Pins(Map.of(), true);
        static final String UNKNOWN = "unknown hardware (devices.pins was damaged)";

        public Pins {
            ids = Collections.unmodifiableMap(new TreeMap<>(ids));
        }

        static Pins of(Map<PooledDevice, String> ids) {
            return new Pins(ids, false);
        }

        /** Returns the physical id that a device's name was published for; empty if it had none. */
        public Optional<String> id(PoolName pool, DeviceName device) {
            return damaged ? Optional.of(UNKNOWN) : Optional.ofNullable(ids.get(new PooledDevice(pool, device)));
        }
    }
}
