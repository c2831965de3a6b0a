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
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    @Scenarios("program-scenarios.txt")
    void isThatOfTheImageOfTheJarOrOfTheAdministrator(String scenario) throws IOException {
        HookProgram program = null;
        InputStream running = null;
        String filled = scenario.replace("{copy}", copy().toString()).replace("{folder}", folder.toString());
        for (String line : filled.split("\n")) {
            String[] words = line.split(" ");
            String text = line.substring(line.indexOf(' ') + 1);
            switch (words[0]) {
                case "#" -> {} // its title
                case "image" -> ofImage(line.split(" ", 3)[2], words[1]);
                case "install" -> program = installed();
                case "not-installed" ->
                    assertThatThrownBy(this::installed)
                            .isInstanceOf(DraException.class)
                            .hasMessageContaining(text);
                case "at" -> program = HookProgram.at(executable(words[1]));
                case "note" -> Files.setLastModifiedTime(plugin, FileTime.fromMillis(0));
                case "same" -> // and no file was created, for which a full disk has no room
                    assertThat(Files.getLastModifiedTime(plugin).toMillis()).isZero();
                case "open" -> running = Files.newInputStream(copy());
                case "running" -> {
                    assertThat(running).hasContent(text);
                    running.close();
                }
                case "hooks" ->
                    assertThat(hooks(program)).extracting(Hook::path).containsOnly(text);
                case "commands" -> assertThat(commands(program)).containsExactly(text.split(" "));
                case "all-begin" ->
                    assertThat(hooks(program))
                            .allSatisfy(hook -> assertThat(hook.args()).startsWith(text));
                case "missed" -> {
                    HookProgram gone = program;
                    assertThatThrownBy(() -> hooks(gone))
                            .isInstanceOf(PrepareException.class)
                            .hasMessageContainingAll(text.split(" \\| "));
                }
                case "delete-hook" -> Files.delete(node.hook());
                case "delete-kubelet" -> Files.delete(plugin.getParent());
                default -> copied(words, text);
            }
        }
    }

    private void copied(String[] words, String text) throws IOException {
        Path file = words.length > 1 && words[1].equals("folder") ? plugin : copy();
        switch (words[0]) {
            case "copy" -> assertThat(copy()).hasContent(text);
            case "of-jar" -> {
                assertThat(Files.readAllBytes(copy())).startsWith(0x7f, 'E', 'L', 'F');
                assertThat(Files.size(copy())).isGreaterThan(100_000);
            }
            case "executable" -> assertThat(copy()).isExecutable();
            case "delete-copy" -> Files.delete(copy());
            case "mode-of" ->
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                        .isEqualTo(words[2]);
            case "set-mode" -> Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(words[2]));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private Path executable(String name) throws IOException {
        Path file = Files.createFile(folder.resolve(name));
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file;
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

    @Test
    void mayBeTheToolkitsCommand() throws IOException {
        assertThat(hooks(HookProgram.at(executable("nvidia-ctk"))))
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
