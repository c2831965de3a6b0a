// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.standin.LoaderCache;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The files of a driver that containers get, wherever they are, and as they come, change and go. */
class DriverFilesTest {

    private static final Path SCENARIOS = Path.of("src/test/resources/io/dra4j/nvidia/file-scenarios.txt");

    @TempDir
    private Path folder;

    private StandInNode node;
    private Edits edits;
    private String version = StandInNode.VERSION;
    private List<String> noted;

    private static Stream<String> scenarios() throws IOException {
        return Stream.of(Files.readString(SCENARIOS).split("\n\n")).skip(1);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void areMountedAndLinked(String scenario) throws IOException {
        node = StandInNode.install(folder, "t4");
        edits = new Edits(node.roots(), HookProgram.at(node.hook()));
        for (String line : scenario.split("\n")) {
            String[] parts = line.replace("{root}", node.root().toString())
                    .replace("{l}", "usr/lib/x86_64-linux-gnu")
                    .replace("{v}", StandInNode.VERSION)
                    .split(" : ", 2);
            run(parts[0].split(" "), parts.length == 1 ? "" : parts[1].replace("{space}", " "));
        }
    }

    private void run(String[] words, String text) throws IOException {
        switch (words[0]) {
            case "#" -> {} // its title
            case "file" -> Files.writeString(inFolder(node.root().resolve(words[1])), text);
            case "proc" -> Files.writeString(inFolder(node.proc().resolve(words[1])), text + "\n");
            case "sys" -> Files.writeString(inFolder(node.sysfs().resolve(words[1])), text + "\n");
            case "link" -> Files.createSymbolicLink(inFolder(node.root().resolve(words[1])), Path.of(words[2]));
            case "delete" -> Files.delete(node.root().resolve(words[1]));
            case "move" ->
                Files.move(
                        node.root().resolve(words[1]),
                        inFolder(node.root().resolve(words[2])),
                        StandardCopyOption.ATOMIC_MOVE);
            case "cache" -> LoaderCache.write(node.root(), Arrays.copyOfRange(words, 1, words.length));
            case "version" -> version = words[1];
            case "look" ->
                edits = words.length == 1
                        ? new Edits(node.roots(), HookProgram.at(node.hook()))
                        : new Edits(node.roots(), HookProgram.at(node.hook()), Set.of(DaemonSocket.valueOf(words[1])));
            case "note" -> noted = entries("mounts");
            case "as-noted" -> assertThat(entries("mounts")).isEqualTo(noted);
            case "is" -> {
                String part = words.length > 2 ? words[2] : "";
                List<String> meant = entries(words[1]).stream()
                        .filter(entry -> entry.contains(part))
                        .toList();
                assertThat(meant).hasToString(text);
            }
            case "has" -> assertThat(entries(words[1])).contains(text.split(" \\| "));
            case "lacks" -> assertThat(entries(words[1])).noneMatch(entry -> entry.contains(text));
            case "refused" ->
                assertThatThrownBy(() -> edits.common(version))
                        .isInstanceOf(PrepareException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static Path inFolder(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        return file;
    }

    private List<String> entries(String kind) {
        ContainerEdits common = edits.common(version);
        List<String> entries = switch (kind) {
            case "mounts" -> common.mounts().stream().map(Mount::containerPath).toList();
            case "sources" -> common.mounts().stream().map(Mount::hostPath).toList();
            case "places" ->
                common.mounts().stream()
                        .map(mount -> mount.containerPath() + " < " + mount.hostPath())
                        .sorted()
                        .toList();
            case "options" ->
                common.mounts().stream()
                        .map(mount -> mount.containerPath() + " " + String.join(" ", mount.options()))
                        .toList();
            case "links" ->
                common.hooks().get(0).args().stream()
                        .filter(arg -> arg.contains("::"))
                        .toList();
            case "folders" -> common.hooks().get(2).args();
            default ->
                common.hooks().stream().flatMap(hook -> hook.args().stream()).toList();
        };
        assertThat(common.mounts()).extracting(Mount::containerPath).doesNotHaveDuplicates();
        return entries;
    }
}
