// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.nvidia.node.LdCacheTest;
import io.dra4j.nvidia.prepare.ContainerUnderTest.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hook program as a process: the loader's cache of a container, by the node's ldconfig. */
class HookCacheTest {

    private static final String FOLDER = "/usr/lib/test-linux-gnu";
    private static final String CONFIGURATION = "etc/ld.so.conf.d/00-dra4j-nvidia.conf";

    /** Any library that has a soname. */
    private static final String SONAME = "libc.so.6";

    @TempDir
    private Path folder;

    private ContainerUnderTest container;

    @BeforeEach
    void create() throws IOException {
        assumeTrue(ContainerUnderTest.isRoot(), "only root can enter the root of a container");
        container = ContainerUnderTest.create(folder);
        container.directory(CONFIGURATION).toFile().delete();
        copyLibraryTo(container.directory(FOLDER.substring(1)));
    }

    private static void copyLibraryTo(Path directory) throws IOException {
        List<Path> all = LdCacheTest.libraries(Path.of("/etc/ld.so.cache"));
        Path libc =
                all.stream().filter(each -> each.endsWith(SONAME)).findFirst().orElse(null);
        assumeTrue(libc != null, "no " + SONAME + " in the loader's cache of this machine");
        Files.copy(libc, directory.resolve("libdriver.so.550.163.01"));
    }

    private Ended update(String... more) throws Exception {
        String[] args = {"update-ldcache", "--folder", FOLDER, "--folder", "/not/there"};
        List<String> all = new ArrayList<>(List.of(args));
        all.addAll(List.of(more));
        return container.run(all.toArray(String[]::new));
    }

    private static void assertDone(Ended ended) {
        assertThat(ended.status()).as(ended.errors()).isZero();
    }

    private static void assertRefused(Ended ended, String words) {
        assertThat(ended.errors()).contains(words);
        assertThat(ended.status()).isEqualTo(1);
    }

    private Path soname() {
        return container.root().resolve(FOLDER.substring(1)).resolve(SONAME);
    }

    @Test
    void hasTheLibrariesByTheirOwnNames() throws Exception {
        assertDone(update());

        assertThat(soname()).isSymbolicLink();
        assertThat(LdCacheTest.libraries(container.root().resolve("etc/ld.so.cache")))
                .containsExactly(Path.of(FOLDER, SONAME));
    }

    @Test
    void staysAsItIsWhenTheContainerMakesItAgain() throws Exception {
        assertDone(update());

        assertThat(container.root().resolve(CONFIGURATION)).hasContent(FOLDER + "\n/not/there\n");
    }

    @Test
    void isMadeAgainWhenTheContainerRestarts() throws Exception {
        Files.writeString(container.root().resolve(CONFIGURATION), "/of/before\n");

        assertDone(update());
        assertDone(update());

        assertThat(container.root().resolve(CONFIGURATION)).hasContent("/of/before\n");
        assertThat(soname()).isSymbolicLink();
    }

    @Test
    void isNotMadeWhereThereIsNoPlaceForIt() throws Exception {
        Files.delete(container.root().resolve("etc/ld.so.conf.d"));
        Files.delete(container.root().resolve("etc"));

        assertDone(update());

        assertThat(soname()).isSymbolicLink();
        assertThat(container.root().resolve("etc")).doesNotExist();
    }

    @Test
    void isLeftOutInARootThatIsReadOnlyIfTheImageHasTheLink() throws Exception {
        String[] args = {"update-ldcache", "--folder", "/usr/lib", "--folder", FOLDER};
        assertRefused(container.runReadOnly(args), "the container's root is read-only, and has no libcuda.so.1");
        container.link(FOLDER.substring(1) + "/libcuda.so.1", "libdriver.so.550.163.01");

        Ended ended = container.runReadOnly(args);

        assertDone(ended);
        assertThat(ended.errors()).contains("the container's root is read-only: without a cache");
        assertThat(container.root().resolve("etc/ld.so.cache")).doesNotExist();
    }

    @Test
    void isTheContainersOwnThoughEtcIsALink() throws Exception {
        Files.delete(container.root().resolve("etc/ld.so.conf.d"));
        Files.delete(container.root().resolve("etc"));
        Path outside = Files.createDirectories(folder.resolve("outside/ld.so.conf.d"));
        container.link("etc", outside.getParent().toString());

        assertDone(update());

        assertThat(outside).isEmptyDirectory();
        assertThat(outside.getParent()).isDirectoryNotContaining("glob:**.cache*");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lib64", "/usr/../etc", "/a=libc4", "/a\n/b"})
    void isNotMadeOfOddFolders(String odd) throws Exception {
        assertThat(update("--folder", odd).status()).isEqualTo(1);
        assertThat(container.root().resolve(CONFIGURATION)).doesNotExist();
    }

    @Test
    void isNotMadeByAProgramThatWouldNeedTheLoaderOfTheImage() throws Exception {
        Path script = Files.writeString(folder.resolve("ldconfig"), "#!/bin/sh\nexit 0\n");
        script.toFile().setExecutable(true);

        assertRefused(update("--ldconfig-path", script.toString()), "is not a static program");
        assertRefused(update("--ldconfig-path", "/bin/ls"), "is not a static program");
        assertRefused(update("--ldconfig-path", folder + "/none"), "is not a static program");
        assertThat(container.root().resolve("etc/ld.so.cache")).doesNotExist();
    }

    @Test
    void isMadeByTheProgramThatIsGiven() throws Exception {
        assertDone(update("--ldconfig-path=/sbin/ldconfig"));
        assertThat(soname()).isSymbolicLink();
    }

    /** Of the image: a library folder by way of procfs, which has the roots of other processes. */
    @Test
    void leavesTheNodeAloneThoughTheImageHasALinkThroughProcfs() throws Exception {
        Path outside = Files.createDirectories(folder.resolve("outside"));
        copyLibraryTo(outside);
        long other = ProcessHandle.current().pid();
        container.directory("proc");
        container.link("usr/lib/escape", "/proc/" + other + "/root" + outside);
        Files.writeString(container.root().resolve("etc/ld.so.conf"), "/usr/lib/escape\n");

        assertDone(container.runWithProcfs("update-ldcache", "--folder", FOLDER));

        assertThat(soname()).isSymbolicLink();
        assertThat(outside.resolve(SONAME)).doesNotExist();
    }

    @Test
    void isNotMadeThroughProcfs() throws Exception {
        Path outside = Files.createDirectories(folder.resolve("outside"));
        container.directory("proc");
        long other = ProcessHandle.current().pid();
        for (Object process : List.of(other, "self")) {
            String name = "escape-" + process;
            container.link(name, "/proc/" + process + "/root" + outside);

            Ended ended = container.runWithProcfs("create-symlinks", "--link", "a::/" + name + "/b");

            assertRefused(ended, "/" + name + " can't be created");
        }
        assertThat(outside).isEmptyDirectory();
    }
}
