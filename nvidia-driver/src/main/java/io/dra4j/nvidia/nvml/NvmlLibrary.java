// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The library, loaded from its path. Thread-safe, as NVML is.
 *
 * <p>Functions are called by their versioned names only, since the bare names have old layouts. Each is looked up when
 * it is first called: a function that an older driver lacks returns {@link #FUNCTION_NOT_FOUND}.
 */
final class NvmlLibrary implements AutoCloseable {

    static final int SUCCESS = 0;
    static final int UNINITIALIZED = 1;
    static final int INVALID_ARGUMENT = 2;
    static final int NOT_SUPPORTED = 3;
    static final int NO_PERMISSION = 4;
    static final int NOT_FOUND = 6;
    static final int DRIVER_NOT_LOADED = 9;
    static final int TIMEOUT = 10;
    static final int FUNCTION_NOT_FOUND = 13;
    static final int GPU_IS_LOST = 15;
    static final int RESET_REQUIRED = 16;
    static final int LIB_RM_VERSION_MISMATCH = 18;
    static final int ARGUMENT_VERSION_MISMATCH = 25;

    /** Returned for a property that the board or the driver does not have. */
    static final Set<Integer> UNSUPPORTED = Set.of(NOT_SUPPORTED, FUNCTION_NOT_FOUND);

    private static final int LONGEST_TEXT = 96;

    private static final AtomicLong OPENED = new AtomicLong();

    private final NativeLibrary library;
    private final Map<String, Optional<Function>> functions = new ConcurrentHashMap<>();

    private NvmlLibrary(NativeLibrary library) {
        this.library = library;
    }

    /**
     * Loads JNA's own library, which it unpacks to the folder for temporary files.
     *
     * @throws LinkageError if that fails, now or earlier in this process
     */
    static void loadJna() {
        Native.isProtected();
    }

    /**
     * Opens the library without calling it.
     *
     * @param file its absolute path
     * @throws UnsatisfiedLinkError if it is no library for this machine, or a library is missing that it needs
     */
    static NvmlLibrary open(Path file) {
        // an option that no other has: JNA would share one object, which the first close ends
        Map<String, ?> own = Map.of("dra4j.library", OPENED.incrementAndGet());
        return new NvmlLibrary(NativeLibrary.getInstance(file.toString(), own));
    }

    /** Calls a function that returns an {@code nvmlReturn_t}. */
    int call(String name, Object... arguments) {
        return functions
                .computeIfAbsent(name, this::find)
                .map(function -> function.invokeInt(arguments))
                .orElse(FUNCTION_NOT_FOUND);
    }

    private Optional<Function> find(String name) {
        try {
            return Optional.of(library.getFunction(name));
        } catch (UnsatisfiedLinkError e) {
            return Optional.empty(); // an older driver
        }
    }

    /**
     * Calls a function that has to succeed.
     *
     * @throws NvmlCallException if it does not
     */
    void require(String name, Object... arguments) {
        check(name, call(name, arguments));
    }

    /**
     * Calls a function that may have no result.
     *
     * @param absent the codes that mean that there is no result
     * @return whether the function succeeded
     * @throws NvmlCallException if it returns any other code
     */
    boolean succeeds(Set<Integer> absent, String name, Object... arguments) {
        int code = call(name, arguments);
        if (absent.contains(code)) {
            return false;
        }
        check(name, code);
        return true;
    }

    /** Throws unless the code is success. */
    void check(String name, int code) {
        if (code != SUCCESS) {
            throw new NvmlCallException(name, code, text(code));
        }
    }

    private String text(int code) {
        return functions
                .computeIfAbsent("nvmlErrorString", this::find)
                .map(function -> function.invokeString(new Object[] {code}, false))
                .orElse("unknown error");
    }

    /** Returns the number that a function writes to an additional last argument. */
    int number(String name, Object... arguments) {
        IntByReference number = new IntByReference();
        require(name, with(arguments, number));
        return number.getValue();
    }

    /** Returns the handle that a function writes to an additional last argument. */
    long handle(String name, Object... arguments) {
        PointerByReference handle = new PointerByReference();
        require(name, with(arguments, handle));
        return Pointer.nativeValue(handle.getValue());
    }

    /** Returns the text that a function writes to a buffer, whose length is its last argument. */
    String text(String name, Object... arguments) {
        try (Memory buffer = new Memory(LONGEST_TEXT)) {
            buffer.clear();
            require(name, with(with(arguments, buffer), LONGEST_TEXT));
            buffer.setByte(LONGEST_TEXT - 1L, (byte) 0);
            return buffer.getString(0, StandardCharsets.UTF_8.name());
        }
    }

    /** Returns the text in a field of a struct. */
    static String text(byte[] field) {
        int length = 0;
        while (length < field.length && field[length] != 0) {
            length++;
        }
        return new String(field, 0, length, StandardCharsets.UTF_8);
    }

    private static Object[] with(Object[] arguments, Object last) {
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = last;
        return all;
    }

    static Pointer pointer(long handle) {
        return new Pointer(handle);
    }

    /** Unloads the library, so that another file can be loaded from its path; no call may follow. */
    @Override
    public void close() {
        library.close();
    }
}
