// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static io.dra4j.nvidia.standin.StandInNode.VERSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.container.Hook;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program that the hooks of a CDI spec name, and how it comes to the node. */
class HookProgramTest {

    @TempDir
    private Path folder;

    private StandInNode node;
    private Path image;
    private Path plugin;

    @BeforeEach
    void install() throws IOException {
        node = StandInNode.install(folder.resolve("node"), "t4");
        image = Files.createDirectories(folder.resolve("image/usr/bin"));
        plugin = folder.resolve("plugins/gpu.nvidia.com");
        Files.createDirectories(plugin.getParent());
    }

    private HookProgram installed() {
        return HookProgram.install(folder.resolve("image"), plugin);
    }

    private Path copy() {
        return plugin.resolve("nvidia-cdi-hook");
    }

    private void ofImage(String content, String mode) throws IOException {
        Path file = Files.writeString(image.resolve("nvidia-cdi-hook"), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    private List<Hook> hooks(HookProgram program) {
        return new Edits(node.roots(), program).common(VERSION).hooks();
    }

    private List<String> commands(HookProgram program) {
        return hooks(program).stream().map(hook -> hook.args().get(1)).toList();
    }

    @Nested
    class OfTheImage {

        @Test
        void isCopiedAndRunFromItsPlaceOnTheNode() throws IOException {
            ofImage("NVIDIA's", "rwxr-x---");

            HookProgram program = installed();

            assertThat(copy()).hasContent("NVIDIA's");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy())))
                    .isEqualTo("rwxr-xr-x");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(plugin)))
                    .as("searched by the users of pods with hostUsers: false, and not listed")
                    .isEqualTo("rwxr-x--x");
            assertThat(hooks(program)).extracting(Hook::path).containsOnly(copy().toString());
            assertThat(commands(program))
                    .containsExactly(
                            "create-symlinks",
                            "enable-cuda-compat",
                            "update-ldcache",
                            "disable-device-node-modification");
        }

        @Test
        void staysIfItIsTheSameAndIsReplacedWhileAnotherRuns() throws IOException {
            ofImage("NVIDIA's", "rwxr-xr-x");
            installed();
            Object before = Files.getAttribute(copy(), "unix:ino");

            installed();

            assertThat(Files.getAttribute(copy(), "unix:ino")).isEqualTo(before);
            assertThat(plugin).isDirectoryNotContaining("glob:**.new");

            ofImage("newer", "rwxr-xr-x");

            try (var running = Files.newInputStream(copy())) {
                installed();
                assertThat(running).hasContent("NVIDIA's");
            }
            assertThat(copy()).hasContent("newer");
        }

        @ParameterizedTest
        @ValueSource(strings = {"rwxr-x---", "rwxr-xr-x"})
        void isMadeExecutableAgainForAllUsers(String mode) throws IOException {
            ofImage("NVIDIA's", "rwxr-xr-x");
            installed();
            Files.setPosixFilePermissions(plugin, PosixFilePermissions.fromString(mode));
            Files.setPosixFilePermissions(copy(), PosixFilePermissions.fromString("rw-r--r--"));

            installed();

            assertThat(copy()).isExecutable();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(plugin)))
                    .isEqualTo("rwxr-x--x");
        }

        @Test
        void isNotOneThatCannotBeRun() throws IOException {
            ofImage("not a program", "rw-r--r--");

            installed();

            assertThat(Files.size(copy())).isGreaterThan(100_000);
        }
    }

    @Nested
    class OfTheJar {

        @Test
        void makesLinksAndTheCacheIsAskedForNothingElseAndIsMissedOnceItIsGone() throws IOException {
            HookProgram program = installed();

            assertThat(copy()).isExecutable();
            assertThat(Files.readAllBytes(copy())).startsWith(0x7f, 'E', 'L', 'F');
            assertThat(commands(program)).containsExactly("create-symlinks", "update-ldcache");
            assertThat(hooks(program)).extracting(Hook::path).containsOnly(copy().toString());

            Files.delete(copy());

            assertThatThrownBy(() -> hooks(program))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageContainingAll(copy().toString(), "restart the driver");
        }

        @Test
        void needsTheDirectoryOfTheKubelet() throws IOException {
            Files.delete(plugin.getParent());

            assertThatThrownBy(HookProgramTest.this::installed)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("Can't copy a program to " + copy());
        }

        /** All arguments of a spec are ones that the program understands. */
        @Test
        void understandsWhatSpecsAskFor() throws Exception {
            ContainerUnderTest container = ContainerUnderTest.create(folder.resolve("container"));
            for (Hook hook : hooks(installed())) {
                List<String> args = hook.args().subList(1, hook.args().size());

                var ended = container.run(args.toArray(String[]::new));

                assertThat(ended.errors())
                        .doesNotContain("unknown")
                        .satisfiesAnyOf(
                                errors -> assertThat(ended.status()).isZero(),
                                errors -> assertThat(errors).contains("root can't be entered"));
            }
            assertThat(container.root().resolve("usr/lib/x86_64-linux-gnu/libcuda.so"))
                    .isSymbolicLink();
        }
    }

    @Nested
    class OfTheAdministrator {

        @Test
        void isTakenAsItIs() throws IOException {
            Files.delete(node.hook());
            Path other = Files.createFile(folder.resolve("nvidia-container-hook"));
            other.toFile().setExecutable(true);

            assertThat(hooks(HookProgram.at(other))).hasSize(4).allSatisfy(hook -> {
                assertThat(hook.path()).isEqualTo(other.toString());
                assertThat(hook.args()).startsWith("nvidia-cdi-hook");
            });
        }

        @Test
        void mayBeTheToolkitsCommand() throws IOException {
            Path ctk = Files.createFile(folder.resolve("nvidia-ctk"));
            ctk.toFile().setExecutable(true);

            assertThat(hooks(HookProgram.at(ctk)))
                    .extracting(hook -> String.join(" ", hook.args()))
                    .anyMatch(args -> args.startsWith("nvidia-ctk hook create-symlinks --link "))
                    .contains("nvidia-ctk hook disable-device-node-modification")
                    .allMatch(args -> args.startsWith("nvidia-ctk hook "));
        }

        @Test
        void hasAnAbsolutePath() {
            assertThatThrownBy(() -> HookProgram.at(Path.of("nvidia-cdi-hook")))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("--nvidia-cdi-hook-path");
        }
    }
}
