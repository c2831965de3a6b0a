// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.JavaProgram;
import io.dra4j.testkit.driver.MountNamespace;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The folder to which JNA unpacks its library, once in a process. */
class JnaFolderTest {

    private static final String NOEXEC = "mount -t tmpfs -o noexec tmpfs \"$0\" && exec \"$@\"";

    @TempDir
    private Path folder;

    private List<String> opened(List<String> before, Path temporary) throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "t4");
        List<String> options = new ArrayList<>(JavaProgram.SHORT_LIVED);
        options.add("-Djna.tmpdir=" + temporary);
        List<String> command = new ArrayList<>(before);
        command.addAll(
                new JavaProgram(folder, options, JavaProgram.ownClassPath(), TwoOpenings.class.getName()).command());
        command.add(node.library().toString());
        Process process =
                new ProcessBuilder(command).redirectError(Redirect.DISCARD).start();
        process.getOutputStream().close();
        List<String> lines = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(process.waitFor()).as(lines.toString()).isZero();
        return lines;
    }

    @Test
    void mayBeAnother() throws Exception {
        assertThat(opened(List.of(), folder.resolve("other"))).hasSize(2).allMatch(line -> line.startsWith("opened: "));
    }

    @Test
    void thatCanNotBeWrittenIsNamedEachTime() throws Exception {
        Path none = Files.createFile(folder.resolve("file")).resolve("none");

        assertThat(opened(List.of(), none))
                .hasSize(2)
                .allMatch(line -> line.contains(none.toString()) && line.contains("-Djna.tmpdir=DIR"));
    }

    @Test
    void fromWhichNoProgramMayRunIsNamedEachTime() throws Exception {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), missing);
        Path noexec = Files.createDirectory(folder.resolve("noexec"));
        List<String> inNamespace =
                List.of("unshare", "--mount", "--propagation", "private", "sh", "-c", NOEXEC, noexec.toString());

        assertThat(opened(inNamespace, noexec))
                .hasSize(2)
                .allMatch(line -> line.contains(noexec.toString()) && line.contains("-Djna.tmpdir=DIR"));
    }

    /** A program that opens NVML twice, and prints why it can't. */
    private static final class TwoOpenings {

        private TwoOpenings() {}

        /** Takes the path of the library. */
        public static void main(String[] args) {
            for (int i = 0; i < 2; i++) {
                try (Nvml nvml = Nvml.open(Path.of(args[0]))) {
                    System.out.println("opened: " + nvml.read().gpus().size() + " GPUs");
                } catch (NvmlException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }
}
