// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.nvidia.node.LdCacheTest;
import io.dra4j.nvidia.prepare.ContainerUnderTest.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hook program as a process: links and the loader's cache in a container's root, and nothing elsewhere. */
class HookProcessTest {

    private static final String LINK = "libcuda.so.1::/usr/lib64/libcuda.so";

    @TempDir
    private Path folder;

    private ContainerUnderTest container;

    @BeforeEach
    void create() throws IOException {
        container = ContainerUnderTest.create(folder);
    }

    private Ended link(String link) throws Exception {
        return container.run("create-symlinks", "--link", link);
    }

    private static void assertDone(Ended ended) {
        assertThat(ended).isEqualTo(new Ended(0, ""));
    }

    private static void assertRefused(Ended ended, String... words) {
        assertThat(ended.errors()).startsWith("nvidia-cdi-hook: ").contains(words);
        assertThat(ended.status()).isEqualTo(1);
    }

    private static void assertNothingIn(Path directory) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            assertThat(all).isEmpty();
        }
    }

    @Nested
    class Links {

        private final String path = "usr/lib64/libcuda.so";

        private Path target() throws IOException {
            return Files.readSymbolicLink(container.root().resolve(path));
        }

        @Test
        void areMadeWithTheirDirectories() throws Exception {
            String other = "../libnvidia-allocator.so.1::/usr/lib64/gbm/nvidia-drm_gbm.so";
            String atTop = "usr::/short";

            assertDone(container.run("create-symlinks", "--link", LINK, "--link=" + other, "--link", atTop));

            assertThat(target()).hasToString("libcuda.so.1");
            assertThat(container.root().resolve("usr/lib64/gbm/nvidia-drm_gbm.so"))
                    .isSymbolicLink();
            assertThat(container.root().resolve("short")).isDirectory();
        }

        @Test
        void areMadeInARootWithAnAbsolutePath() throws Exception {
            Path root = Files.createDirectories(folder.resolve("a \u00e4"));
            container.configure("{\"root\": {\"path\": \"%s/a\\u0020\\u00e4\"}}".formatted(folder));

            assertDone(link(LINK));
            assertThat(root.resolve(path)).isSymbolicLink();
        }

        @Test
        void thatAreThereStay() throws Exception {
            Path link = container.link(path, "libcuda.so.1");
            Object before = Files.getAttribute(link, "unix:ino", LinkOption.NOFOLLOW_LINKS);

            assertDone(link(LINK));
            assertThat(Files.getAttribute(link, "unix:ino", LinkOption.NOFOLLOW_LINKS))
                    .isEqualTo(before);
        }

        @Test
        void toOtherVersionsAreReplaced() throws Exception {
            Path link = container.link(path, "libcuda.so.470.256.02");

            assertDone(link(LINK));
            assertThat(target()).hasToString("libcuda.so.1");
            assertThat(link.getParent()).isDirectoryNotContaining(each -> !each.equals(link));
        }

        @Test
        void doNotReplaceFiles() throws Exception {
            Path file = container.directory("usr/lib64").resolve("libcuda.so");
            Files.writeString(file, "of the image");

            Ended ended = link(LINK);

            assertThat(ended.status()).isZero();
            assertThat(ended.errors()).contains("/usr/lib64/libcuda.so is a file of the image");
            assertThat(file).isRegularFile().hasContent("of the image");
        }

        @Test
        void areMadeByAnyUser() throws Exception {
            assumeTrue(ContainerUnderTest.isRoot(), "only root can be another user");

            assertDone(container.runAsNobody("create-symlinks", "--link", LINK));
            assertThat(target()).hasToString("libcuda.so.1");
        }

        @Test
        void areLeftOutInARootThatIsReadOnly() throws Exception {
            assumeTrue(ContainerUnderTest.isRoot(), "only root can mount");
            container.link("usr/lib/libcuda.so", "libcuda.so.470.256.02");
            String other = "libcuda.so.1::/usr/lib/libcuda.so";

            Ended ended = container.runReadOnly(
                    "create-symlinks", "--link", LINK, "--link", other, "--link", "a::/usr/lib/b");

            assertThat(ended.status()).as(ended.errors()).isZero();
            for (String left : List.of("/usr/lib64/libcuda.so", "/usr/lib/libcuda.so", "/usr/lib/b")) {
                assertThat(ended.errors())
                        .contains("the link " + left + " was not created: the container's root is read-only");
            }
        }

        @Test
        void areMadeInDirectoriesThatTheImageLinks() throws Exception {
            Path real = container.directory("usr/lib");
            container.link("lib64", "/usr/lib");

            assertDone(link("libcuda.so.1::/lib64/libcuda.so"));
            assertThat(real.resolve("libcuda.so")).isSymbolicLink();
        }
    }

    @Nested
    class OutsideOfTheRoot {

        private Path outside;

        @BeforeEach
        void create() throws IOException {
            outside = Files.createDirectories(folder.resolve("outside"));
        }

        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void nothingIsMadeByALinkOfTheImage(boolean isAbsolute) throws Exception {
            container.link("usr/lib64", isAbsolute ? outside.toString() : "../../../outside");

            assertRefused(link(LINK), "/usr/lib64 can't be created");
            assertNothingIn(outside);
        }

        @Test
        void suchALinkMeansAPlaceInTheRoot() throws Exception {
            container.link("usr/lib64", "../../../outside");
            Path inside = container.directory("outside");

            assertDone(link(LINK));
            assertThat(inside.resolve("libcuda.so")).isSymbolicLink();
            assertNothingIn(outside);
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "a::/../outside/b",
                    "a::/usr/../../outside/b",
                    "a::/usr/./b",
                    "a::/usr//b",
                    "a::/usr/",
                    "a::/usr/..",
                    "a::/",
                    "a::outside/b",
                    "a::",
                    "::/usr/b",
                    "/usr/b",
                    ""
                })
        void nothingIsMadeByAnOddArgument(String link) throws Exception {
            assertRefused(link(link), "not a");
            assertNothingIn(outside);
            assertNothingIn(container.root());
        }
    }

    @Nested
    class AContainerThatIsUnknown {

        private void refused(String state, String... words) throws Exception {
            assertRefused(container.runOn(state, "create-symlinks", "--link", LINK), words);
            assertNothingIn(container.root());
        }

        private void refusedWith(String config, String... words) throws Exception {
            container.configure(config);
            assertRefused(link(LINK), words);
            assertNothingIn(container.root());
        }

        @ParameterizedTest
        @ValueSource(strings = {"", "{", "[]x", "{\"bundle\": \"/a\\u0000\"}", "{'bundle': '/'}"})
        void byAStateThatIsNoJson(String state) throws Exception {
            refused(state, "the container's state on standard input is not valid JSON");
        }

        @ParameterizedTest
        @ValueSource(strings = {"{}", "{\"bundle\": 1}", "[\"bundle\"]", "{\"Bundle\": \"/\"}"})
        void byAStateWithoutABundle(String state) throws Exception {
            refused(state, "has no bundle");
        }

        @Test
        void byTheBundle() throws Exception {
            refused("{\"bundle\": \"bundle\"}", "not an absolute path");
            refused("{\"bundle\": \"" + folder + "/none\"}", folder + "/none/config.json");
            refused("{\"bundle\": \"" + "/long".repeat(2000) + "\"}", "has no bundle");
        }

        @Test
        void byTheConfiguration() throws Exception {
            refusedWith("{\"root\": {\"path\": \"rootfs\"}", "config.json is not valid JSON");
            refusedWith("{\"root\": \"rootfs\"}", "has no root.path");
            refusedWith("{\"root\": {\"path\": \"none\"}}", "/bundle/none can't be opened");
            refusedWith("{\"root\": {\"path\": \"none\"}, \"root\": {\"path\": \"rootfs\"}}", "is not valid JSON");
        }

        @Test
        void byTheRootOfTheNode() throws Exception {
            container.configure("{\"root\": {\"path\": \"/\"}}");

            assertRefused(link("target::" + folder + "/link"), "is the node's");
            assertThat(folder.resolve("link")).doesNotExist();
        }

        @Test
        void isKnownByALongConfiguration() throws Exception {
            String mounts = "{\"destination\": \"/a\", \"options\": [1, -2.5e3, true, null]},";
            container.configure("{\"mounts\": [%s{}], \"root\": {\"readonly\": true, \"path\": \"rootfs\"}}"
                    .formatted(mounts.repeat(20_000)));

            assertDone(link(LINK));
        }
    }

    @Nested
    class TheCommand {

        @Test
        void thatIsUnknownDoesNothing() throws Exception {
            Ended ended = container.runOn("", "chmod", "--path", "/dev/dri");

            assertThat(ended.status()).isZero();
            assertThat(ended.errors()).contains("unknown command chmod");
        }

        @Test
        void isNeeded() throws Exception {
            assertRefused(container.run(), "no command");
        }

        @Test
        void hasTheArgumentsThatItNeeds() throws Exception {
            assertRefused(container.run("create-symlinks", "--link"), "--link needs a value");
            assertRefused(container.run("create-symlinks", "--links", LINK), "--links");
            assertRefused(
                    container.run("create-symlinks", "--ldconfig-path", "/sbin/ldconfig"),
                    "unknown argument --ldconfig-path");
            assertRefused(container.run("update-ldcache", "/usr/lib64"), "/usr/lib64");
        }
    }

    /** The loader's cache, by the node's ldconfig. */
    @Nested
    class Cache {

        private static final String FOLDER = "/usr/lib/test-linux-gnu";
        private static final String CONFIGURATION = "etc/ld.so.conf.d/00-dra4j-nvidia.conf";

        /** Any library that has a soname. */
        private static final String SONAME = "libc.so.6";

        @BeforeEach
        void create() throws IOException {
            assumeTrue(ContainerUnderTest.isRoot(), "only root can enter the root of a container");
            container.directory(CONFIGURATION).toFile().delete();
            copyLibraryTo(container.directory(FOLDER.substring(1)));
        }

        private void copyLibraryTo(Path directory) throws IOException {
            List<Path> all = LdCacheTest.libraries(Path.of("/etc/ld.so.cache"));
            Path libc = all.stream()
                    .filter(each -> each.endsWith(SONAME))
                    .findFirst()
                    .orElse(null);
            assumeTrue(libc != null, "no " + SONAME + " in the loader's cache of this machine");
            Files.copy(libc, directory.resolve("libdriver.so.550.163.01"));
        }

        private Ended update(String... more) throws Exception {
            String[] args = {"update-ldcache", "--folder", FOLDER, "--folder", "/not/there"};
            List<String> all = new ArrayList<>(List.of(args));
            all.addAll(List.of(more));
            return container.run(all.toArray(String[]::new));
        }

        private static void assertSuccess(Ended ended) {
            assertThat(ended.status()).as(ended.errors()).isZero();
        }

        private Path soname() {
            return container.root().resolve(FOLDER.substring(1)).resolve(SONAME);
        }

        @Test
        void hasTheLibrariesByTheirOwnNames() throws Exception {
            assertSuccess(update());

            assertThat(soname()).isSymbolicLink();
            assertThat(LdCacheTest.libraries(container.root().resolve("etc/ld.so.cache")))
                    .containsExactly(Path.of(FOLDER, SONAME));
        }

        @Test
        void staysAsItIsWhenTheContainerMakesItAgain() throws Exception {
            assertSuccess(update());

            assertThat(container.root().resolve(CONFIGURATION)).hasContent(FOLDER + "\n/not/there\n");
        }

        @Test
        void isMadeAgainWhenTheContainerRestarts() throws Exception {
            Files.writeString(container.root().resolve(CONFIGURATION), "/of/before\n");

            assertSuccess(update());
            assertSuccess(update());

            assertThat(container.root().resolve(CONFIGURATION)).hasContent("/of/before\n");
            assertThat(soname()).isSymbolicLink();
        }

        @Test
        void isNotMadeWhereThereIsNoPlaceForIt() throws Exception {
            Files.delete(container.root().resolve("etc/ld.so.conf.d"));
            Files.delete(container.root().resolve("etc"));

            assertSuccess(update());

            assertThat(soname()).isSymbolicLink();
            assertThat(container.root().resolve("etc")).doesNotExist();
        }

        @Test
        void isLeftOutInARootThatIsReadOnlyIfTheImageHasTheLink() throws Exception {
            String[] args = {"update-ldcache", "--folder", "/usr/lib", "--folder", FOLDER};
            assertRefused(container.runReadOnly(args), "the container's root is read-only, and has no libcuda.so.1");
            container.link(FOLDER.substring(1) + "/libcuda.so.1", "libdriver.so.550.163.01");

            Ended ended = container.runReadOnly(args);

            assertSuccess(ended);
            assertThat(ended.errors()).contains("the container's root is read-only: without a cache");
            assertThat(container.root().resolve("etc/ld.so.cache")).doesNotExist();
        }

        @Test
        void isTheContainersOwnThoughEtcIsALink() throws Exception {
            Files.delete(container.root().resolve("etc/ld.so.conf.d"));
            Files.delete(container.root().resolve("etc"));
            Path outside = Files.createDirectories(folder.resolve("outside/ld.so.conf.d"));
            container.link("etc", outside.getParent().toString());

            assertSuccess(update());

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
            assertSuccess(update("--ldconfig-path=/sbin/ldconfig"));
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

            assertSuccess(container.runWithProcfs("update-ldcache", "--folder", FOLDER));

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
}
