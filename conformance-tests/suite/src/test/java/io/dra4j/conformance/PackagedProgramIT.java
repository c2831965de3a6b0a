// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.driver.Ended;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The jar as users start it, without the classes that it does not need. */
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

    /** Logs as libraries do that meet a connection that the suite has cut. */
    public static void main(String[] args) {
        ConformanceMain.configureLogging();
        Logger.getLogger("io.grpc.netty.TcpMetrics").info("Epoll available");
        LoggerFactory.getLogger("org.eclipse.jetty.io.AbstractConnection").warn("Failed callback", new IOException());
        LoggerFactory.getLogger("io.dra4j").warn("heard");
    }

    @Test
    void printsNothingOfConnectionsThatAreCut() throws Exception {
        String classes = JAR.toRealPath()
                + File.pathSeparator
                + Path.of("target/test-classes").toRealPath();
        List<String> command = List.of(Ended.jdk("java"), "-cp", classes, PackagedProgramIT.class.getName());

        assertThat(Ended.of(Map.of(), command).printed()).isEqualTo("WARN dra4j - heard\n");
    }

    private static String said(String... words) throws IOException, InterruptedException {
        List<String> command =
                List.of(Ended.jdk("java"), "-jar", JAR.toRealPath().toString());
        Ended ended = Ended.of(Map.of(), command, words);
        assertThat(ended.status()).as(ended.output()).isEqualTo(3);
        return ended.output();
    }
}
