// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The jar as people start it: what was left out of it is not needed. */
@Timeout(120)
class PackagedProgramIT {

    private static final Path JAR = Path.of("../target/dra-conformance.jar");

    @TempDir
    private Path folder;

    @Test
    void readsAKubeconfig() throws Exception {
        Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), """
                        apiVersion: v1
                        kind: Config
                        current-context: nowhere
                        clusters:
                        - {name: closed, cluster: {server: "http://127.0.0.1:1"}}
                        users:
                        - {name: somebody, user: {token: secret}}
                        contexts:
                        - {name: nowhere, context: {cluster: closed, user: somebody}}
                        """);

        assertThat(said("run", "--kubeconfig=" + kubeconfig, "--driver-name=gpu.example.com", "--", "sleep", "100"))
                .contains("http://127.0.0.1:1 of context \"nowhere\"", "connection refused");
    }

    private static String said(String... words) throws IOException, InterruptedException {
        String[] command = new String[words.length + 3];
        command[0] = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        command[1] = "-jar";
        command[2] = JAR.toRealPath().toString();
        System.arraycopy(words, 0, command, 3, words.length);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isEqualTo(3);
        return said;
    }
}
