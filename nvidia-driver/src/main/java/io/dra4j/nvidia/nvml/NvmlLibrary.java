// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.jna.SharedLibrary;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The library, loaded from its path. Thread-safe, as NVML is.
 *
 * <p>Functions are called only by their versioned names, since the bare names have old layouts. A function that an
 * older driver lacks returns {@link #FUNCTION_NOT_FOUND}. Handles are pointers, as numbers.
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

    private final SharedLibrary library;

    private NvmlLibrary(SharedLibrary library) {
        this.library = library;
    }

    /**
     * Opens the library without calling it.
     *
     * @throws UnsatisfiedLinkError if it is not a library for this machine, or a library that it needs is missing
     */
    static NvmlLibrary open(Path file) {
        return new NvmlLibrary(SharedLibrary.open(file));
    }

    int call(String name, Object... arguments) {
        return library.call(name, arguments).orElse(FUNCTION_NOT_FOUND);
    }

    /** Calls a function that has to succeed. */
    void require(String name, Object... arguments) {
        check(name, call(name, arguments));
    }

    /**
     * Calls a function that may have no result.
     *
     * @param absent the codes that mean that there is no result
     */
    boolean succeeds(Set<Integer> absent, String name, Object... arguments) {
        int code = call(name, arguments);
        if (absent.contains(code)) {
            return false;
        }
        check(name, code);
        return true;
    }

    void check(String name, int code) {
        if (code != SUCCESS) {
            String text = library.text("nvmlErrorString", code).orElse("unknown error");
            throw new NvmlCallException(name, code, text);
        }
    }

    /** Returns the number that a function writes to an additional last argument. */
    int number(String name, Object... arguments) {
        return number(Set.of(), name, arguments).orElseThrow();
    }

    /** Returns such a number; empty if the function returns one of the codes. */
    OptionalInt number(Set<Integer> absent, String name, Object... arguments) {
        int[] number = new int[1];
        return succeeds(absent, name, with(arguments, number)) ? OptionalInt.of(number[0]) : OptionalInt.empty();
    }

    /** Returns the handle, or another number of 64 bits, that a function writes to an additional last argument. */
    long handle(String name, Object... arguments) {
        return amount(Set.of(), name, arguments).orElseThrow();
    }

    /** Returns such a number; empty if the function returns one of the codes. */
    OptionalLong amount(Set<Integer> absent, String name, Object... arguments) {
        long[] amount = new long[1];
        return succeeds(absent, name, with(arguments, amount)) ? OptionalLong.of(amount[0]) : OptionalLong.empty();
    }

    /** Returns the text that a function writes to a buffer, whose length is its last argument. */
    String text(String name, Object... arguments) {
        byte[] buffer = new byte[LONGEST_TEXT];
        require(name, with(with(arguments, buffer), LONGEST_TEXT));
        buffer[LONGEST_TEXT - 1] = 0;
        return SharedLibrary.text(buffer);
    }

    private static Object[] with(Object[] arguments, Object last) {
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = last;
        return all;
    }

    /** Unloads the library, so that another file can be loaded from its path; no call may follow. */
    @Override
    public void close() {
        library.close();
    }
}
