// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.nvidia.node.LibraryFolders.LdCache;
import io.dra4j.nvidia.standin.LoaderCache;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Caches of the loader: whole, of another form, or damaged. */
public class LdCacheTest {

    @TempDir
    private Path folder;

    /** Returns the libraries of a cache, such as a hook has written. */
    public static List<Path> libraries(Path cache) throws IOException {
        return LdCache.read(cache);
    }

    private List<Path> read(byte[] bytes) throws IOException {
        return LdCache.read(Files.write(folder.resolve("ld.so.cache"), bytes));
    }

    @Test
    void hasThe64BitLibrariesOfGlibc() throws IOException {
        byte[] cache = LoaderCache.bytes(
                "/usr/lib/libcuda.so.1|0x0303",
                "/usr/lib32/libcuda.so.1|0x0003",
                "/usr/libx32/libcuda.so.1|0x0803",
                "/usr/lib/arm/libcuda.so.1|0x0a03");

        assertThat(read(cache)).containsExactly(Path.of("/usr/lib/libcuda.so.1"), Path.of("/usr/lib/arm/libcuda.so.1"));
    }

    @Test
    void mayFollowTheFormOfBefore() throws IOException {
        ByteBuffer old = ByteBuffer.allocate(16 + 12 + 4).order(ByteOrder.LITTLE_ENDIAN);
        old.put("ld.so-1.7.0".getBytes(StandardCharsets.US_ASCII)).putInt(12, 1);
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(old.array());
        both.writeBytes(LoaderCache.bytes("/opt/libcuda.so.1|0x0303"));

        assertThat(read(both.toByteArray())).containsExactly(Path.of("/opt/libcuda.so.1"));
    }

    @Test
    void isEmptyWithoutAFile() throws IOException {
        assertThat(LdCache.read(folder.resolve("none"))).isEmpty();
    }

    @Test
    void ofOtherFormsIsRefused() {
        for (String text : List.of("", "ld.so-1.7.0", "ld.so-1.7.0\0\1\0\0\0", "ELF", "glibc-ld.so.cache1.1")) {
            assertThatThrownBy(() -> read(text.getBytes(StandardCharsets.US_ASCII)))
                    .as(text)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("ld.so.cache");
        }
    }

    @Test
    void thatIsDamagedIsReadOrRefused() throws IOException {
        Random random = new Random(20_261_124);
        byte[] whole = LoaderCache.bytes("/usr/lib/libcuda.so.1|0x0303", "/usr/lib/liba.so|0x0303");
        int refused = 0;
        for (int i = 0; i < 2_000; i++) {
            byte[] damaged = Arrays.copyOf(whole, 1 + random.nextInt(whole.length));
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            try {
                read(damaged);
            } catch (IOException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(1_000, 1_999);
    }
}
