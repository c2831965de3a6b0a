// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The part of the build machine's JDK that goes into images. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class JdkIT {

    @TempDir
    private Path folder;

    @Test
    void isTheSameOnAMachineWithOtherAuthorities() throws Exception {
        Jdk here = Jdk.find(System.getProperty("image.jdk", ""), System.getenv());
        Path other = withOtherAuthorities(here.home(), folder.resolve("other"));

        here.link(folder.resolve("linked"));
        Jdk.find(other.toString(), Map.of()).link(folder.resolve("linked-there"));

        Map<String, byte[]> linked = files(folder.resolve("linked"));
        Map<String, byte[]> there = files(folder.resolve("linked-there"));
        assertThat(linked.keySet()).contains("lib/modules").doesNotContain("lib/security/cacerts");
        assertThat(there.keySet()).isEqualTo(linked.keySet());
        assertThat(linked.keySet()).allMatch(name -> Arrays.equals(linked.get(name), there.get(name)));
    }

    private static Map<String, byte[]> files(Path root) throws IOException {
        Map<String, byte[]> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                contents.put(root.relativize(file).toString(), Files.readAllBytes(file));
            }
        }
        return contents;
    }

    /** A JDK as another machine has it: its files, and other certificate authorities. */
    static Path withOtherAuthorities(Path jdk, Path copy) throws IOException {
        try (Stream<Path> files = Files.walk(jdk.toRealPath())) {
            for (Path file : files.toList()) {
                Path place = copy.resolve(jdk.toRealPath().relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(place);
                } else if (file.endsWith("lib/security/cacerts")) {
                    Files.writeString(place, "others");
                } else {
                    link(file, place);
                }
            }
        }
        assertThat(copy.resolve("lib/security/cacerts")).exists();
        return copy;
    }

    private static void link(Path file, Path place) throws IOException {
        try {
            Files.createLink(place, file);
        } catch (FileSystemException e) { // of another file system
            Files.copy(file, place, COPY_ATTRIBUTES, NOFOLLOW_LINKS);
        }
    }
}
