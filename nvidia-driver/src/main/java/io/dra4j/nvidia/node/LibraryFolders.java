// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The folders below a driver root that may have its libraries.
 *
 * @param all the folders, in order, which need not exist
 * @param problem why a cache of the loader can't be read, and what to do; empty if none is needed
 */
record LibraryFolders(List<Path> all, String problem) {

    /**
     * Returns the usual folders, and all others if the usual ones lack a library: the others may also contain 32-bit
     * libraries.
     *
     * @param isThere whether a path is that of a library
     */
    static LibraryFolders of(DriverView driver, List<String> libraries, Predicate<Path> isThere) {
        DriverRoot root = driver.root();
        Stream<Path> chosen = root.libraries().stream().map(root::ofNode);
        List<Path> usual =
                Stream.concat(chosen, in(root, Places.LIBRARIES)).distinct().toList();
        boolean hasAll = libraries.stream()
                .allMatch(name -> usual.stream().anyMatch(folder -> isThere.test(folder.resolve(name))));
        if (hasAll) {
            return new LibraryFolders(usual, "");
        }
        Loader loader = Loader.of(driver);
        List<Path> all = Stream.of(usual.stream(), in(root, Places.LIBRARIES_ELSEWHERE), loader.folders().stream())
                .flatMap(folders -> folders)
                .distinct()
                .toList();
        return new LibraryFolders(all, loader.problem());
    }

    private static Stream<Path> in(DriverRoot root, List<String> places) {
        return places.stream().map(root.here()::resolve);
    }

    /**
     * The folders of libraries that the dynamic loader below a driver root searches.
     *
     * @param folders those in its configuration, and those that its cache names for libcuda and NVML
     * @param problem why a cache can't be read, and what to do; empty if there is no such cache
     */
    private record Loader(List<Path> folders, String problem) {

        static Loader of(DriverView driver) {
            DriverRoot root = driver.root();
            List<Path> folders = new ArrayList<>();
            String problem = "";
            for (String place : Places.LOADERS) {
                Path etc = root.here().resolve(place).resolve("etc");
                configured(driver, etc).map(root::ofNode).forEach(folders::add);
                try {
                    LdCache.read(driver.end(etc.resolve("ld.so.cache"))).stream()
                            .filter(Loader::isOfDriver)
                            .map(library -> root.ofNode(library).getParent())
                            .forEach(folders::add);
                } catch (IOException e) {
                    problem = ", because it can't be read: %s; an administrator must run ldconfig on the node"
                            .formatted(e.getMessage());
                }
            }
            return new Loader(folders.stream().distinct().toList(), problem);
        }

        private static boolean isOfDriver(Path library) {
            String name = String.valueOf(library.getFileName());
            return library.isAbsolute() && (name.startsWith("libcuda.so.") || name.startsWith("libnvidia-ml.so."));
        }

        private static Stream<Path> configured(DriverView driver, Path etc) {
            return FolderEntries.files(driver, etc.resolve("ld.so.conf.d"), "*.conf").stream()
                    .flatMap(file -> lines(driver.end(file)))
                    .filter(line -> line.matches("/[\\p{Print}\\t]*"))
                    .map(line -> Path.of(line.split("[\\s#=]", 2)[0]));
        }

        private static Stream<String> lines(Path file) {
            try {
                return Files.readAllLines(file, StandardCharsets.ISO_8859_1).stream()
                        .map(String::strip);
            } catch (IOException e) {
                return Stream.empty(); // missing or not readable: the cache may have the folder
            }
        }
    }

    /**
     * The cache of glibc's dynamic loader, {@code /etc/ld.so.cache}.
     *
     * <p>Its form is {@code glibc-ld.so.cache1.1}, of glibc 2.2 and later, which may follow the older form in the same
     * file: 48 bytes of header, entries of 24 bytes, and strings at offsets from the header.
     */
    static final class LdCache {

        private static final byte[] MAGIC = "glibc-ld.so.cache1.1".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] OLD_MAGIC = "ld.so-1.7.0".getBytes(StandardCharsets.US_ASCII);
        private static final int HEADER = 48;
        private static final int ENTRY = 24;
        private static final int OLD_HEADER = 16;
        private static final int OLD_ENTRY = 12;
        private static final int ALIGNMENT = 8;

        /** Flags of a library for glibc 2 on x86-64 and on 64-bit ARM. */
        private static final List<Integer> FLAGS_OF_64_BITS = List.of(0x0303, 0x0a03);

        private final Path file;
        private final ByteBuffer bytes;

        private LdCache(Path file, byte[] content) {
            this.file = file;
            this.bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        }

        /** Returns the paths of the 64-bit libraries; none if there is no file. */
        static List<Path> read(Path file) throws IOException {
            byte[] content;
            try {
                content = Files.readAllBytes(file);
            } catch (NoSuchFileException e) {
                return List.of();
            }
            try {
                return new LdCache(file, content).libraries();
            } catch (ArithmeticException
                    | BufferUnderflowException
                    | IndexOutOfBoundsException
                    | InvalidPathException e) {
                throw new IOException(file + " is malformed: " + e, e);
            }
        }

        private List<Path> libraries() throws IOException {
            int start = start();
            int count = bytes.getInt(start + MAGIC.length);
            List<Path> libraries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int entry = Math.addExact(start + HEADER, Math.multiplyExact(i, ENTRY));
                if (FLAGS_OF_64_BITS.contains(bytes.getInt(entry))) {
                    int value = bytes.getInt(entry + 2 * Integer.BYTES);
                    libraries.add(Path.of(string(Math.addExact(start, value))));
                }
            }
            return libraries;
        }

        private int start() throws IOException {
            if (has(0, MAGIC)) {
                return 0;
            }
            if (has(0, OLD_MAGIC)) {
                int entries = bytes.getInt(OLD_HEADER - Integer.BYTES);
                long end = OLD_HEADER + (long) entries * OLD_ENTRY;
                long start = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
                if (start >= 0 && start < bytes.limit() && has((int) start, MAGIC)) {
                    return (int) start;
                }
            }
            throw new IOException(file + " is not a cache of the form glibc-ld.so.cache1.1");
        }

        private boolean has(int position, byte[] magic) {
            if (bytes.limit() - position < magic.length) {
                return false;
            }
            return bytes.slice(position, magic.length).equals(ByteBuffer.wrap(magic));
        }

        private String string(int position) {
            int end = position;
            while (bytes.get(end) != 0) {
                end++;
            }
            return StandardCharsets.UTF_8
                    .decode(bytes.slice(position, end - position))
                    .toString();
        }
    }
}
