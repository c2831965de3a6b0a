// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The cache of glibc's dynamic loader, as ldconfig writes it. */
public final class LoaderCache {

    private static final String MAGIC = "glibc-ld.so.cache1.1";
    private static final int HEADER = 48;
    private static final int ENTRY = 24;

    private LoaderCache() {}

    /** Writes the cache below a root: of libraries, each {@code path|flags}. */
    public static void write(Path root, String... libraries) throws IOException {
        Path folder = Files.createDirectories(root.resolve("etc"));
        Files.write(folder.resolve("ld.so.cache"), bytes(libraries));
    }

    /** Returns the bytes of a cache. */
    public static byte[] bytes(String... libraries) throws IOException {
        ByteArrayOutputStream strings = new ByteArrayOutputStream();
        int begin = HEADER + ENTRY * libraries.length;
        ByteBuffer all = ByteBuffer.allocate(begin).order(ByteOrder.LITTLE_ENDIAN);
        all.put(MAGIC.getBytes(StandardCharsets.US_ASCII)).putInt(libraries.length);
        all.position(HEADER);
        for (String library : libraries) {
            String[] parts = library.split("\\|");
            String name = Path.of(parts[0]).getFileName() + "\0";
            all.putInt(Integer.decode(parts[1])).putInt(begin + strings.size());
            strings.writeBytes(name.getBytes(StandardCharsets.UTF_8));
            all.putInt(begin + strings.size()).putInt(0).putLong(0);
            strings.writeBytes((parts[0] + "\0").getBytes(StandardCharsets.UTF_8));
        }
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.writeBytes(all.array());
        whole.writeBytes(strings.toByteArray());
        return whole.toByteArray();
    }
}
