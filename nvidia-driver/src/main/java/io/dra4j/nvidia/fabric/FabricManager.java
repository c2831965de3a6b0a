// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.fabric;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.fabric.Partitions.Member;
import io.dra4j.nvidia.fabric.Partitions.Partition;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The fabric manager of a node, which connects the GPUs of a partition by NVSwitches.
 *
 * <p>It is called by its library, {@code libnvfm.so.1}, whose structs are read by their offsets, for
 * a list of partitions has thousands of fields; the library compares their sizes. Thread-safe.
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
    private @Nullable NativeLibrary library; // the same

    /**
     * The known state of the partitions.
     *
     * @param isNeeded whether claims get partitions
     * @param partitions the partitions; if it does not answer, those of its last answer
     * @param problem the reason why it does not answer; null if it does
     */
    public record Reading(
            boolean isNeeded,
            Partitions partitions,
            @Nullable String problem) {

        /** No claim gets a partition. */
        public static final Reading NOT_NEEDED = new Reading(false, new Partitions(List.of()), null);
    }

    /**
     * Calls nothing yet.
     *
     * @param isNeeded returns whether claims get partitions
     * @param library returns its library, or throws a DraException
     * @param address the path of its socket, or its host and port
     */
    public FabricManager(BooleanSupplier isNeeded, Supplier<Path> library, String address) {
        this.isNeeded = isNeeded;
        this.file = library;
        this.address = address;
    }

    /** Returns whether claims of whole GPUs get a partition. */
    public boolean isNeeded() {
        return isNeeded.getAsBoolean();
    }

    /** Asks it for its partitions; a failure is a part of the answer. */
    public synchronized Reading read() {
        if (!isNeeded()) {
            return Reading.NOT_NEEDED;
        }
        try {
            return new Reading(true, partitions(), null);
        } catch (FabricException e) {
            return new Reading(true, last, e.getMessage());
        }
    }

    /**
     * Returns the partitions that it supports now.
     *
     * @throws FabricException if it does not answer
     */
    public synchronized Partitions partitions() {
        try (Memory list = new Memory(LIST)) {
            list.clear();
            list.setInt(0, LIST | 1 << 24);
            connected(LIST_ALL, connection -> call(LIST_ALL, connection, list));
            List<Partition> found = new ArrayList<>();
            for (int i = 0; i < count(list, 4, MOST_PARTITIONS); i++) {
                found.add(partition(list.share(HEAD + (long) i * PARTITION)));
            }
            last = new Partitions(found);
            return last;
        }
    }

    /** Fewer GPUs than a partition has would be another partition. */
    private static int count(Pointer struct, int offset, int most) {
        int count = struct.getInt(offset);
        if (count > most) {
            String what = "%s returned %d entries of %d".formatted(LIST_ALL, count, most);
            throw new FabricException(what, FabricException.VERSION_MISMATCH, null);
        }
        return count;
    }

    private static Partition partition(Pointer struct) {
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < count(struct, 8, MOST_MEMBERS); i++) {
            Pointer member = struct.share(HEAD + (long) i * MEMBER);
            members.add(new Member(member.getInt(0), member.getString(4), pci(member.getString(84))));
        }
        return new Partition(struct.getInt(0), struct.getInt(4) != 0, List.copyOf(members));
    }

    /** Some versions have an address of zeros where they know none. */
    private static String pci(String busId) {
        String address = busId.toLowerCase(Locale.ROOT).replaceFirst("^0{0,4}(?=[0-9a-f]{4,8}:)", "");
        return address.equals("0000:00:00.0") ? "" : address;
    }

    /**
     * Activates or deactivates a partition; one that is so already stays so.
     *
     * @throws FabricException if that fails
     */
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

    /** Makes a call in its own connection, which no restart of the fabric manager can have ended. */
    private void connected(String function, ToIntFunction<Pointer> call) {
        open();
        int initialized = call("fmLibInit");
        check("fmLibInit", initialized == FabricException.IN_USE ? 0 : initialized); // by an earlier call
        PointerByReference connection = new PointerByReference();
        int code = connect(2, 4, connection);
        boolean isOlder = code == FabricException.VERSION_MISMATCH;
        check("fmConnect to " + address, isOlder ? connect(1, 0, connection) : code);
        try {
            check(function, call.applyAsInt(connection.getValue()));
        } finally {
            call("fmDisconnect", connection.getValue());
        }
    }

    private int connect(int version, int type, PointerByReference connection) {
        try (Memory params = new Memory(PARAMS + 4)) {
            boolean isSocket = address.startsWith("/");
            byte[] text = address.getBytes(StandardCharsets.UTF_8);
            params.clear();
            params.setInt(0, PARAMS + type | version << 24);
            params.write(4, text, 0, Math.min(text.length, ADDRESS - 1));
            params.setInt(4 + ADDRESS, TIMEOUT_MILLIS);
            params.setInt(8 + ADDRESS, isSocket ? 1 : 0);
            params.setInt(PARAMS, isSocket ? 2 : 1);
            return call("fmConnect", params, connection);
        }
    }

    /** It needs all functions: what is activated has to be deactivated. */
    private void open() {
        try {
            if (library == null) {
                NativeLibrary opened = NativeLibrary.getInstance(file.get().toString());
                List.of("fmLibInit", "fmConnect", "fmDisconnect", LIST_ALL, ACTIVATE, DEACTIVATE)
                        .forEach(opened::getFunction);
                library = opened;
            }
        } catch (DraException | LinkageError e) {
            throw new FabricException(String.valueOf(e.getMessage()), FabricException.NO_LIBRARY, e);
        }
    }

    private int call(String function, Object... arguments) {
        return Objects.requireNonNull(library, "opened before")
                .getFunction(function)
                .invokeInt(arguments);
    }

    private static void check(String call, int code) {
        if (code != 0) {
            throw new FabricException("%s returned %d".formatted(call, code), code, null);
        }
    }
}
