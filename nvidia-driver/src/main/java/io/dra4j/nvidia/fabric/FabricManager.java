// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.fabric;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.fabric.Partitions.Member;
import io.dra4j.nvidia.fabric.Partitions.Partition;
import io.dra4j.nvidia.nvml.jna.SharedLibrary;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.LongToIntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The fabric manager of a node, which connects the GPUs of a partition through NVSwitches.
 *
 * <p>It is called through its library, {@code libnvfm.so.1}, whose structs are read by offsets, because a list of
 * partitions has thousands of fields; the library compares their sizes. Thread-safe.
 */
public final class FabricManager {

    private static final String LIST_ALL = "fmGetSupportedFabricPartitions";
    private static final String ACTIVATE = "fmActivateFabricPartition";
    private static final String DEACTIVATE = "fmDeactivateFabricPartition";
    private static final int TIMEOUT_MILLIS = 5_000;
    private static final int ADDRESS = 256;
    private static final int PARAMS = ADDRESS + 3 * 4; // without the type of the address
    private static final int MEMBER = 4 + 80 + 32 + 3 * 4; // number, UUID, PCI address, links
    private static final int MOST_MEMBERS = 16;
    private static final int HEAD = 3 * 4; // of a partition, and of their list
    private static final int PARTITION = HEAD + MOST_MEMBERS * MEMBER;
    private static final int MOST_PARTITIONS = 64;
    private static final int LIST = HEAD + MOST_PARTITIONS * PARTITION;

    private final BooleanSupplier isNeeded;
    private final Supplier<Path> file;
    private final String address;
    private Partitions last = Reading.NOT_NEEDED.partitions(); // guarded by this
    private @Nullable SharedLibrary library; // guarded by this

    /**
     * The known state of the partitions.
     *
     * @param partitions the partitions; if it does not answer, those of its last answer
     * @param problem the reason why it does not answer; null if it does
     */
    public record Reading(
            boolean isNeeded,
            Partitions partitions,
            @Nullable String problem) {

        public static final Reading NOT_NEEDED = new Reading(false, new Partitions(List.of()), null);
    }

    /**
     * Creates the object; calls nothing yet.
     *
     * @param library returns its library, or throws a DraException
     * @param address the path of its socket, or its host and port
     */
    public FabricManager(BooleanSupplier isNeeded, Supplier<Path> library, String address) {
        this.isNeeded = isNeeded;
        this.file = library;
        this.address = address;
    }

    /** Reads its partitions; a failure is part of the result. */
    public synchronized Reading read() {
        if (!isNeeded.getAsBoolean()) {
            return Reading.NOT_NEEDED;
        }
        try {
            return new Reading(true, partitions(), null);
        } catch (FabricException e) {
            return new Reading(true, last, e.getMessage());
        }
    }

    /** Returns the partitions that it supports now. */
    public synchronized Partitions partitions() {
        ByteBuffer list = struct(LIST).putInt(0, LIST | 1 << 24);
        connected(LIST_ALL, connection -> call(LIST_ALL, connection, list.array()));
        List<Partition> found = new ArrayList<>();
        for (int i = 0; i < count(list, 4, MOST_PARTITIONS); i++) {
            found.add(partition(list, HEAD + i * PARTITION));
        }
        last = new Partitions(found);
        return last;
    }

    private static ByteBuffer struct(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    /** Checks the number of entries: a partition with fewer GPUs would be a different one. */
    private static int count(ByteBuffer struct, int offset, int most) {
        int count = struct.getInt(offset);
        if (count > most) {
            String what = "%s returned %d entries of %d".formatted(LIST_ALL, count, most);
            throw new FabricException(what, FabricException.VERSION_MISMATCH, null);
        }
        return count;
    }

    private static Partition partition(ByteBuffer list, int at) {
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < count(list, at + 8, MOST_MEMBERS); i++) {
            int member = at + HEAD + i * MEMBER;
            members.add(new Member(list.getInt(member), text(list, member + 4, 80), pci(text(list, member + 84, 32))));
        }
        return new Partition(list.getInt(at), list.getInt(at + 4) != 0, List.copyOf(members));
    }

    private static String text(ByteBuffer struct, int at, int size) {
        return SharedLibrary.text(Arrays.copyOfRange(struct.array(), at, at + size));
    }

    /** Some versions report an address of zeros if it is unknown. */
    private static String pci(String busId) {
        String address = busId.toLowerCase(Locale.ROOT).replaceFirst("^0{0,4}(?=[0-9a-f]{4,8}:)", "");
        return address.equals("0000:00:00.0") ? "" : address;
    }

    /** Activates or deactivates a partition, unless it already has that state. */
    public synchronized void change(Partition partition, boolean isActive) {
        String function = isActive ? ACTIVATE : DEACTIVATE;
        try {
            connected(function, connection -> call(function, connection, partition.id()));
        } catch (FabricException e) {
            boolean mayBeSo = e.code() == (isActive ? FabricException.IN_USE : FabricException.UNINITIALIZED);
            Partition so = new Partition(partition.id(), isActive, partition.members());
            if (!mayBeSo || !partitions().all().contains(so)) {
                throw e;
            }
        }
    }

    /** Makes a call in a new connection, so that earlier restarts of the fabric manager do not matter. */
    private void connected(String function, LongToIntFunction call) {
        open();
        int initialized = call("fmLibInit");
        check("fmLibInit", initialized == FabricException.IN_USE ? 0 : initialized); // by an earlier call
        long[] connection = new long[1];
        int code = connect(2, 4, connection);
        code = code == FabricException.VERSION_MISMATCH ? connect(1, 0, connection) : code; // an older library
        if (code == FabricException.VERSION_MISMATCH && library != null) {
            library.call("fmLibShutdown");
            library.close(); // the driver may have been updated: the next call opens its new library
            library = null;
        }
        check("fmConnect to " + address, code);
        try {
            check(function, call.applyAsInt(connection[0]));
        } finally {
            call("fmDisconnect", connection[0]);
        }
    }

    private int connect(int version, int type, long[] connection) {
        boolean isSocket = address.startsWith("/");
        byte[] text = address.getBytes(StandardCharsets.UTF_8);
        ByteBuffer params = struct(PARAMS + 4)
                .putInt(0, PARAMS + type | version << 24)
                .put(4, text, 0, Math.min(text.length, ADDRESS - 1))
                .putInt(4 + ADDRESS, TIMEOUT_MILLIS)
                .putInt(8 + ADDRESS, isSocket ? 1 : 0)
                .putInt(PARAMS, isSocket ? 2 : 1);
        return call("fmConnect", params.array(), connection);
    }

    /** Requires all functions, since an activated partition has to be deactivated later. */
    private void open() {
        try {
            if (library == null) {
                SharedLibrary opened = SharedLibrary.open(file.get());
                Stream.of("fmLibInit", "fmConnect", "fmDisconnect", LIST_ALL, ACTIVATE, DEACTIVATE)
                        .forEach(opened::require);
                library = opened;
            }
        } catch (DraException | LinkageError e) {
            throw new FabricException(String.valueOf(e.getMessage()), FabricException.NO_LIBRARY, e);
        }
    }

    private int call(String function, Object... arguments) {
        return Objects.requireNonNull(library, "opened before")
                .call(function, arguments)
                .orElseThrow();
    }

    private static void check(String call, int code) {
        if (code != 0) {
            throw new FabricException("%s returned %d".formatted(call, code), code, null);
        }
    }
}
