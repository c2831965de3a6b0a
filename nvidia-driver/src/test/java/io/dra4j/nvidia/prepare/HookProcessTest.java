// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.nvidia.node.LdCacheTest;
import io.dra4j.nvidia.prepare.ContainerUnderTest.Ended;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;

/** The hook program as a process: links and the loader's cache in a container's root, and nothing elsewhere. */
class HookProcessTest {

    /** Any library that has a soname. */
    private static final String SONAME = "libc.so.6";

    private static final String MANY =
            "{\"destination\": \"/a\", \"options\": [1, -2.5e3, true, null]},".repeat(20_000);

    @TempDir
    private Path folder;

    private ContainerUnderTest container;
    private String state;
    private Ended ended;
    private Object noted;

    @Scenarios("hook-scenarios.txt")
    void changesTheRootOfItsContainerAlone(String scenario) throws Exception {
        container = ContainerUnderTest.create(folder);
        state = container.state();
        for (String line : scenario.split("\n")) {
            String[] parts = line.split(" : ", 2);
            String text = parts.length == 1 ? "" : filled(parts[1]);
            String[] words = parts[0].split(" ");
            run(words[0], words.length == 1 ? "" : filled(words[1]), words.length < 3 ? "" : filled(words[2]), text);
        }
    }

    private String filled(String text) {
        return text.replace("{folder}", folder.toString())
                .replace("{out}", "../../outside")
                .replace("{pid}", String.valueOf(ProcessHandle.current().pid()))
                .replace("{space}", " ")
                .replace("{long}", "/long".repeat(2000))
                .replace("{many}", MANY);
    }

    private void run(String verb, String path, String target, String text) throws Exception {
        Path place = container.root().resolve(path);
        switch (verb) {
            case "#" -> {} // its title
            case "by-root" -> assumeTrue(ContainerUnderTest.isRoot(), "only root can mount, or be another user");
            case "config" -> container.configure(text);
            case "state" -> state = text;
            case "directory" -> container.directory(path);
            case "link" -> container.link(path, target);
            case "file" -> Files.writeString(place, unescaped(text));
            case "program" -> Files.writeString(place, unescaped(text)).toFile().setExecutable(true);
            case "ldconfig" -> { // built for another folder than /etc
                String program = Files.readString(Path.of("/sbin/ldconfig"), ISO_8859_1);
                Files.writeString(place, program.replace("/etc/ld.so.c", target + "/ld.so.c"), ISO_8859_1);
                assertThat(place.toFile().setExecutable(true)).isTrue();
            }
            case "delete" -> Files.delete(place);
            case "note" -> noted = inode(place);
            case "place" -> {
                assumeTrue(ContainerUnderTest.isRoot(), "only root can enter the root of a container");
                container.directory("etc/ld.so.conf.d");
                copyLibraryTo("usr/lib/test");
            }
            case "library" -> copyLibraryTo(path);
            case "hook" -> ended = container.runOn(state, arguments(text));
            case "read-only" -> ended = container.runReadOnly(arguments(text));
            case "nobody" -> ended = container.runAsNobody(arguments(text));
            case "procfs" -> ended = container.runWithProcfs(arguments(text));
            default -> expect(verb, place, text);
        }
    }

    private void expect(String verb, Path place, String text) throws Exception {
        switch (verb) {
            case "done" -> assertThat(ended).isEqualTo(new Ended(0, ""));
            case "works" -> {
                assertThat(ended.status()).as(ended.errors()).isZero();
                assertThat(ended.errors()).contains(text.split(" \\| "));
            }
            case "refused" -> {
                assertThat(ended.errors()).startsWith("nvidia-cdi-hook: ").contains(text);
                assertThat(ended.status()).isEqualTo(1);
            }
            case "as-noted" -> assertThat(inode(place)).isEqualTo(noted);
            case "is" -> assertThat(content(place)).isEqualTo(unescaped(text));
            case "list" -> assertThat(Arrays.toString(place.toFile().list())).isEqualTo(text);
            case "cached" ->
                assertThat(LdCacheTest.libraries(container.root().resolve("etc/ld.so.cache")))
                        .hasToString(text);
            default -> throw new IllegalArgumentException(verb);
        }
    }

    private static String unescaped(String text) {
        return text.replace("\\n", "\n");
    }

    private static String[] arguments(String text) {
        return text.isEmpty()
                ? new String[0]
                : Stream.of(text.split(" ", -1)).map(HookProcessTest::unescaped).toArray(String[]::new);
    }

    private static Object inode(Path link) throws IOException {
        return Files.getAttribute(link, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }

    private static String content(Path file) throws IOException {
        if (Files.isSymbolicLink(file)) {
            return "-> " + Files.readSymbolicLink(file);
        }
        return Files.exists(file) ? Files.readString(file) : "none";
    }

    private void copyLibraryTo(String directory) throws IOException {
        Path libc = LdCacheTest.libraries(Path.of("/etc/ld.so.cache")).stream()
                .filter(each -> each.endsWith(SONAME))
                .findFirst()
                .orElse(null);
        assumeTrue(libc != null, "no " + SONAME + " in the loader's cache of this machine");
        Files.copy(libc, container.directory(directory).resolve("libdriver.so.550.163.01"));
    }
}
