// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A library of the node, loaded from its path. As thread-safe as its functions.
 *
 * <p>Arguments are {@code int}, {@code long}, also for pointers on the 64-bit machines that have such GPUs, {@code
 * String}, {@link Structs}, and arrays of these, to which a function writes.
 */
public final class SharedLibrary implements AutoCloseable {

    private static final AtomicLong OPENED = new AtomicLong();

    static { // for a library without a path, JNA would list the folders of ldconfig, another process
        System.setProperty("jna.platform.library.path", System.getProperty("jna.platform.library.path", ""));
    }

    private final NativeLibrary library;
    private final Map<String, Optional<Function>> functions = new ConcurrentHashMap<>();

    private SharedLibrary(NativeLibrary library) {
        this.library = library;
    }

    /**
     * Loads JNA's own library, which it unpacks to the folder for temporary files.
     *
     * @throws LinkageError if that fails, now or earlier in this process
     */
    public static void loadJna() {
        Native.isProtected();
    }

    /**
     * Opens a library without calling it.
     *
     * @throws UnsatisfiedLinkError if it is not a library for this machine, or a library that it needs is missing
     */
    public static SharedLibrary open(Path file) {
        // a unique option: otherwise JNA would share one object, which the first close ends
        Map<String, ?> own = Map.of("dra4j.library", OPENED.incrementAndGet());
        return new SharedLibrary(NativeLibrary.getInstance(file.toString(), own));
    }

    /** Returns a function, which is looked up when it is first called; an older library may lack it. */
    private Optional<Function> find(String name) {
        return functions.computeIfAbsent(name, key -> {
            try {
                return Optional.of(library.getFunction(key));
            } catch (UnsatisfiedLinkError e) {
                return Optional.empty();
            }
        });
    }

    public void require(String name) {
        library.getFunction(name);
    }

    /** Calls a function that returns a number; empty if the library lacks it. */
    public OptionalInt call(String name, Object... arguments) {
        return find(name).stream()
                .mapToInt(function -> function.invokeInt(arguments))
                .findFirst();
    }

    /** Calls a function that returns a text; empty if the library lacks it. */
    public Optional<String> text(String name, Object... arguments) {
        return find(name).map(function -> function.invokeString(arguments, false));
    }

    /** Returns the text up to a zero byte or the end of its field. */
    public static String text(byte[] field) {
        int length = 0;
        while (length < field.length && field[length] != 0) {
            length++;
        }
        return new String(field, 0, length, StandardCharsets.UTF_8);
    }

    /** Unloads the library, so that another file can be loaded from its path; no call may follow. */
    @Override
    public void close() {
        library.close();
    }
}
