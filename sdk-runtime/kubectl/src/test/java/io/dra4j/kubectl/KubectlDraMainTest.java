// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.http.Connections;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class KubectlDraMainTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        CommandLine command = KubectlDraMain.commandLine(args);
        command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return command.execute(args);
    }

    @Test
    void aWrongCommandLineHasStatus2() {
        assertThat(run("tree", "--nodes=a")).isEqualTo(2);
        assertThat(err.toString()).contains("--nodes=a", "Run it with --help");
    }

    @Test
    void aClusterOrAFileThatCannotBeReadHasStatus3(@TempDir Path folder) throws Exception {
        assertThat(run("tree", "--kubeconfig=" + folder.resolve("none"))).isEqualTo(3);
        assertThat(err.toString()).contains("There is no kubeconfig file " + folder);

        try (Socket silent = new Socket()) { // bound: no other process gets the port
            silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            URI server = URI.create("http://127.0.0.1:" + silent.getLocalPort());
            Path kubeconfig = Connections.writeKubeconfig(folder.resolve("kubeconfig"), server);
            assertThat(run("tree", "--kubeconfig=" + kubeconfig)).isEqualTo(3);
        }
        assertThat(err.toString()).contains("can't be reached");

        String file = "--filename=" + Files.writeString(folder.resolve("file"), """
                kind: ResourceClaimTemplate
                spec: {spec: {devices: {requests: [{exactly: {capacity: {requests: {memory: 10 Gi}}}}]}}}
                """);
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().start()) {
            Path kubeconfig = server.writeKubeconfig(folder.resolve("kubeconfig"));
            assertThat(run("explain", file, "--kubeconfig=" + kubeconfig)).isEqualTo(3);
        }
        assertThat(err.toString()).contains("10 Gi");
    }

    @Test
    void theOptionsOfOneCommandAreReadToRunIt() {
        assertThat(KubectlDraMain.commandLine("tree", "--help").getSubcommands().keySet())
                .containsExactly("tree");
    }

    @Test
    void thePageOfTreeNamesOptionsThatThereAre() throws Exception {
        String page = Files.readString(Path.of("../../docs-site/how-to/debug-a-pending-claim.md"));
        String section =
                page.substring(page.indexOf("## See who has which device"), page.indexOf("## Install the plugin"));
        CommandSpec spec =
                KubectlDraMain.commandLine().getSubcommands().get("tree").getCommandSpec();
        List<String> named = Pattern.compile("(?<![\\w-])--[a-z][a-z-]*")
                .matcher(section)
                .results()
                .map(MatchResult::group)
                .toList();

        assertThat(named).isNotEmpty();
        assertThat(spec.optionsMap().keySet()).containsAll(named);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"tr|tree :4", "tree --no|--node :4", "tree --output=j|--output=json :4", "explain --filename x|:0"
            })
    void aWordIsCompletedAsKubectlWantsIt(String words, String expected) {
        assertThat(KubectlDraMain.completions(words.split(" "))).hasToString(expected.replace(' ', '\n') + "\n");
    }

    @Test
    void theScriptFindsItsJarThroughALink(@TempDir Path folder) throws Exception {
        Path script = Files.copy(Path.of("bin/kubectl-dra"), folder.resolve("kubectl-dra"));
        assertThat(script.toFile().setExecutable(true)).isTrue();
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("kubectl-dra"));
        ProcessBuilder version = new ProcessBuilder(link.toString(), "--version");
        version.environment().put("KUBECTL_DRA_ARCHIVE", "no");
        Process missing = version.start();
        assertThat(new String(missing.getErrorStream().readAllBytes())).contains("there is no kubectl-dra.jar next to");
        assertThat(missing.waitFor()).isEqualTo(3);

        Files.writeString(folder.resolve("kubectl-dra.jar"), "no jar");
        Process found = version.start();
        assertThat(new String(found.getErrorStream().readAllBytes()))
                .contains("kubectl-dra.jar")
                .doesNotContain("there is no");
    }

    @Test
    void theScriptRefusesAnOldJava(@TempDir Path folder) throws Exception {
        Path java = Files.createDirectory(folder.resolve("bin")).resolve("java");
        Files.writeString(java, "#!/bin/sh\necho UnsupportedClassVersionError >&2\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.writeString(folder.resolve("release"), "JAVA_VERSION=\"11.0.24\"\n");
        ProcessBuilder version = new ProcessBuilder("bin/kubectl-dra", "--version");
        version.environment()
                .putAll(Map.of(
                        "JAVA_HOME", folder.toString(), "KUBECTL_DRA_JAR", java.toString(), "HOME", folder.toString()));

        Process old = version.start();

        assertThat(new String(old.getErrorStream().readAllBytes())).contains(java + " is older than Java 17");
        assertThat(old.waitFor()).isEqualTo(3);
    }
}
