// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.driver.EndedProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuntimeCdiCheckTest {

    @TempDir
    private Path root;

    private List<Finding> look(String runtime) {
        return new RuntimeCdiCheck(() -> runtime, new HostRoot(root), Path.of("/var/run/cdi"))
                .look()
                .findings();
    }

    @Scenarios("runtime-cdi-scenarios.txt")
    void theConfigurationOfTheRuntimeIsRead(String scenario) throws IOException {
        Path file = root;
        List<Finding> found = List.of();
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ", 2);
            switch (words[0]) {
                case "#" -> {} // its title
                case "file" -> {
                    file = root.resolve(words[1].substring(1));
                    Files.createDirectories(file.getParent());
                    Files.createFile(file);
                }
                case "" -> Files.writeString(file, line.substring(2) + "\n", StandardOpenOption.APPEND);
                case "healthy" -> assertThat(look(words[1])).isEmpty();
                case "found" -> {
                    found = look(words[1]);
                    assertThat(found).hasSize(1);
                }
                case "has" -> assertThat(found.toString()).contains(words[1]);
                case "unchecked" ->
                    assertThatThrownBy(() -> look(words[1].split(" : ")[0]))
                            .isInstanceOf(NotCheckedException.class)
                            .hasMessageContaining(words[1].split(" : ")[1]);
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    /** A program in a pod has another root than the node. */
    @Test
    void linksLeadToFilesOfTheNode() throws Exception {
        Path crio = Files.createDirectories(root.resolve("data/crio"));
        Files.createDirectories(crio.resolve("crio.conf.d/folder"));
        Files.writeString(crio.resolve("crio.conf.d/10-cdi.conf"), "[crio.runtime]\ncdi_spec_dirs = []\n");
        Files.createDirectory(root.resolve("etc"));
        Files.createSymbolicLink(root.resolve("etc/crio"), Path.of("/moved/../data/now"));
        Files.createSymbolicLink(root.resolve("data/now"), Path.of("crio"));
        Files.createSymbolicLink(root.resolve("etc/loop"), Path.of("/etc/loop"));

        assertThat(look("cri-o://1.34.0")).extracting(Finding::what).containsExactly("CDI is off in CRI-O 1.34.0");
        assertThat(new HostRoot(root).exists("/etc/loop")).isFalse();
    }

    /** The folder {@code net} of a process that ended can be opened, and not be listed. */
    @Test
    void aFolderThatCanNotBeListedHasNoFiles() throws Exception {
        try (EndedProcess ended = new EndedProcess()) {
            assertThat(new HostRoot(Path.of("/")).files(ended.folder() + "/net", "*"))
                    .isEmpty();
        }
    }

    @Test
    void aPodThatDoesNotSeeTheNodeDoesNotCheck(@TempDir Path proc) throws Exception {
        Map<String, String> pod = Map.of("KUBERNETES_SERVICE_HOST", "10.96.0.1");
        process(proc.resolve("self"), "mnt:[1]");
        Path first = process(proc.resolve("1"), "mnt:[1]");

        assertThatThrownBy(() -> HostRoot.of(null, proc, pod).file("/etc"))
                .isInstanceOf(NotCheckedException.class)
                .hasMessageContaining("--host-root");
        assertThat(HostRoot.of(null, proc, Map.of()).path()).isEqualTo(Path.of("/"));
        assertThat(HostRoot.of(root, proc, pod).path()).isEqualTo(root);
        assertThat(HostRoot.of(root.resolve("none"), proc, pod).path()).isNull();

        Files.delete(first.resolve("ns/mnt"));
        Files.createSymbolicLink(first.resolve("ns/mnt"), Path.of("mnt:[2]"));
        assertThat(HostRoot.of(null, proc, pod).path()).isEqualTo(first.resolve("root"));
    }

    private static Path process(Path process, String mounts) throws Exception {
        Files.createDirectories(process.resolve("ns"));
        Files.createDirectories(process.resolve("root/etc"));
        Files.createSymbolicLink(process.resolve("ns/mnt"), Path.of(mounts));
        return process;
    }
}
