// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The library, opened by its path. Thread-safe, as NVML is.
 *
 * <p>Functions are called by their versioned names alone, since the bare ones have the layouts of
 * long ago. Each is looked up when it is first called: those that came late are missing from older
 * drivers, which is the same as if they answered {@link #FUNCTION_NOT_FOUND}. The library is never
 * closed, because NVML has threads of its own.
 */
public final class NvmlLibrary {

    static final int SUCCESS = 0;

    /** What a function returns that the library does not have. */
    public static final int FUNCTION_NOT_FOUND = 13;

    private static final int LONGEST_TEXT = 96;

    private final NativeLibrary library;
    private final Map<String, Optional<Function>> functions = new ConcurrentHashMap<>();

    private NvmlLibrary(NativeLibrary library) {
        this.library = library;
    }

    /**
     * Opens the library, which calls nothing in it yet.
     *
     * @param file its absolute path
     * @throws UnsatisfiedLinkError if it is no library for this machine, or lacks a library itself
     */
    public static NvmlLibrary open(Path file) {
        return new NvmlLibrary(NativeLibrary.getInstance(file.toString()));
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

    /** Throws what a function returned, unless it is success. */
    void check(String name, int code) {
        if (code != SUCCESS) {
            throw new NvmlCallException(name, code, words(code));
        }
    }

    private String words(int code) {
        return functions
                .computeIfAbsent("nvmlErrorString", this::find)
                .map(function -> function.invokeString(new Object[] {code}, false))
                .orElse("no words for it");
    }

    /** A number that a function writes behind its last argument. */
    int number(String name, Object... arguments) {
        IntByReference number = new IntByReference();
        require(name, with(arguments, number));
        return number.getValue();
    }

    /** A handle that a function writes behind its last argument. */
    long handle(String name, Object... arguments) {
        PointerByReference handle = new PointerByReference();
        require(name, with(arguments, handle));
        return Pointer.nativeValue(handle.getValue());
    }

    /** A text that a function writes into a buffer, whose length is its last argument. */
    String text(String name, Object... arguments) {
        try (Memory buffer = new Memory(LONGEST_TEXT)) {
            buffer.clear();
            require(name, with(with(arguments, buffer), LONGEST_TEXT));
            buffer.setByte(LONGEST_TEXT - 1L, (byte) 0);
            return buffer.getString(0, StandardCharsets.UTF_8.name());
        }
    }

    private static Object[] with(Object[] arguments, Object last) {
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = last;
        return all;
    }

    static Pointer pointer(long handle) {
        return new Pointer(handle);
    }

    /** Initializes NVML; each needs a {@link #shutdown}. Fails if the driver is not loaded. */
    public void init() {
        require("nvmlInit_v2");
    }

    /** Takes an {@link #init} back. */
    public void shutdown() {
        require("nvmlShutdown");
    }

    /** The version of the kernel's driver, as it writes it. */
    public String driverVersion() {
        return text("nvmlSystemGetDriverVersion");
    }

    /**
     * The newest version of CUDA that the driver knows: 1000 times the major, 10 times the minor.
     */
    public int cudaVersion() {
        return number("nvmlSystemGetCudaDriverVersion_v2");
    }
}
