// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.nvidia.prepare.ContainerUnderTest.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hook program as a process: links in a container's root, and nowhere else. */
class HookLinksTest {

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

        @Test
        void nothingIsMadeByAnAbsoluteLinkOfTheImage() throws Exception {
            container.link("usr/lib64", outside.toString());

            assertRefused(link(LINK), "/usr/lib64 can't be created");
            assertNothingIn(outside);
        }

        @Test
        void nothingIsMadeByARelativeLinkOfTheImage() throws Exception {
            container.link("usr/lib64", "../../../outside");

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
}
