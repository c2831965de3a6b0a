// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.HttpProbe;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.driver.UnusedPorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command {@code apiserver}, as a process where it starts. */
@Tag("gate")
@Timeout(120)
class ApiServerMainIT {

    private static final Pattern SERVER = Pattern.compile("server: (.*)");
    private static final String CLAIM = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata: {name: c1, namespace: team}
            spec:
              devices:
                requests:
                - name: gpu
                  exactly: {deviceClassName: gpu.example.com}
            """;

    @TempDir
    private Path folder;

    private final List<Process> processes = new ArrayList<>();

    /** A server that is ready: it printed what to do next. */
    private record Running(Process process, String printed, Path kubeconfig) {

        URI url() throws IOException {
            Matcher server = SERVER.matcher(Files.readString(kubeconfig));
            assertThat(server.find()).isTrue();
            return URI.create(server.group(1));
        }

        HttpProbe http() throws IOException {
            return new HttpProbe(url());
        }

        int ended(String signal) throws Exception {
            new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                    .start()
                    .waitFor();
            return process.waitFor();
        }
    }

    private Process started(String... options) throws IOException {
        List<String> command =
                new ArrayList<>(List.of(Ended.jdk("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ConformanceMain.class.getName()));
        command.add("apiserver");
        command.addAll(Arrays.asList(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        processes.add(process);
        return process;
    }

    private Running running(String... options) throws IOException {
        Process process = started(options);
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder printed = new StringBuilder();
        Path kubeconfig = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            printed.append(line).append('\n');
            if (line.startsWith("  export KUBECONFIG=")) {
                kubeconfig = Path.of(line.substring(line.indexOf('=') + 1));
            }
            if (line.startsWith("Ctrl-C")) {
                break;
            }
        }
        assertThat(kubeconfig).as(printed.toString()).isNotNull();
        return new Running(process, printed.toString(), kubeconfig);
    }

    /** The error of a server that could not start, which is a line or two; in this process. */
    private static String refused(String... options) {
        StringWriter err = new StringWriter();
        List<String> line = new ArrayList<>(List.of("apiserver"));
        line.addAll(Arrays.asList(options));
        int status =
                ConformanceMain.commandLine().setErr(new PrintWriter(err, true)).execute(line.toArray(String[]::new));
        assertThat(status).as(err.toString()).isEqualTo(3);
        assertThat(err.toString().lines()).as(err.toString()).hasSizeBetween(1, 2);
        return err.toString();
    }

    private Path manifest(String name, String text) throws IOException {
        Path manifests = Files.createDirectories(folder.resolve("manifests"));
        return Files.writeString(manifests.resolve(name), text);
    }

    @AfterEach
    void end() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void servesOnceTheKubeconfigIsThereAndTakesItAlongAtTheEnd() throws Exception {
        Running server = running();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(server.kubeconfig())))
                .isEqualTo("rw-------");
        assertThat(server.kubeconfig().getParent().toFile().list()).containsExactly("kubeconfig");
        assertThat(server.http().get("/version").text("gitVersion")).startsWith("v1.36.");
        assertThat(server.printed()).contains(server.url().toString(), "kubectl get resourceslices");

        assertThat(server.ended("-TERM")).isEqualTo(143);

        assertThat(server.kubeconfig()).doesNotExist();
        assertThat(server.kubeconfig().getParent()).doesNotExist();
    }

    @Test
    void takesThePlaceOfItsOwnKubeconfigAndRemovesNoOther() throws Exception {
        Path file = folder.resolve("kubeconfig");
        Running killed = running("--kubeconfig=" + file);
        killed.ended("-KILL");
        assertThat(file).exists();

        Running first = running("--kubeconfig=" + file);
        Running second = running("--kubeconfig=" + file);
        first.ended("-TERM");

        assertThat(second.kubeconfig()).isEqualTo(file);
        assertThat(second.http().get("/readyz").status()).isEqualTo(200);
        second.ended("-TERM");
        assertThat(file).doesNotExist();
    }

    @Test
    void playsTheReleaseWithItsGatesOnThePort() throws Exception {
        int port = UnusedPorts.next();
        Running server = running(
                "--port=" + port, "--kubernetes=1.34", "--feature-gates=DRADeviceTaints=true,DRAPrioritizedList=false");

        assertThat(server.url().getPort()).isEqualTo(port);
        HttpProbe http = server.http();
        assertThat(http.get("/version").text("gitVersion")).startsWith("v1.34.");
        String tainted = HttpProbe.slice("s1", 1)
                .replace("\"gpu-0\"", "\"gpu-0\",\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]");
        assertThat(http.post(HttpProbe.SLICES, tainted)
                        .body()
                        .at("/spec/devices/0/taints/0/key")
                        .asText())
                .isEqualTo("a");
        assertThat(refused("--port=" + port)).contains("127.0.0.1:" + port, "taken");
    }

    @Nested
    class Manifests {

        @Test
        void areCreatedNamespacesFirstAndWithTheirStatus() throws Exception {
            String allocated = CLAIM
                    + "status: {allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: node-1, device: gpu-0}]}}}\n";
            Path first = manifest("1.yaml", "---\n" + allocated);
            manifest(
                    "2.json", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" + HttpProbe.slice("s1", 1) + "]}");
            manifest("3.yml", "{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {a: b}}}");
            manifest("notes.txt", "not a manifest");

            Running server = running("--manifests=" + first.getParent());

            HttpProbe http = server.http();
            assertThat(server.printed()).contains("3 objects");
            assertThat(http.get("/api/v1/namespaces/team").text("metadata", "labels", "a"))
                    .isEqualTo("b");
            assertThat(http.get("/api/v1/namespaces/team").text("metadata", "resourceVersion"))
                    .as("is older than the claim")
                    .isLessThan(claim(http).text("metadata", "resourceVersion"));
            assertThat(claim(http).body().at("/status/allocation/devices/results/0/device"))
                    .hasToString("\"gpu-0\"");
            assertThat(http.get(HttpProbe.SLICES + "/s1").status()).isEqualTo(200);
        }

        private static HttpProbe.Answer claim(HttpProbe http) {
            return http.get("/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/c1");
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        exactly: | exactlyy: | ResourceClaim team/c1 | unknown field "spec.devices.requests[0].exactlyy"
                        gpu.example.com | GPU_1 | ResourceClaim team/c1 | spec.devices.requests[0].exactly.deviceClassName: Invalid value: "GPU_1"
                        ResourceClaim | Secret | Secret team/c1 | serves no resource.k8s.io/v1 Secret
                        kind: ResourceClaim | | no kind | serves no resource.k8s.io/v1
                        spec: | spec: [ | line | can't read
                        metadata: {name: c1, namespace: team} | metadata: x | ResourceClaim | metadata
                        """)
        void thatAreBadNameTheFileTheDocumentAndTheReason(String part, String instead, String object, String reason)
                throws Exception {
            String changed = CLAIM.replace(part, instead == null ? "" : instead);
            Path file = manifest("claims.yaml", CLAIM.replace("c1", "c0") + "---\n" + changed);

            assertThat(refused("--manifests=" + file.getParent()))
                    .startsWith("dra-conformance: --manifests: ")
                    .contains(file + ", document 2", object, reason);
        }

        @Test
        void mustBeThere() {
            assertThat(refused("--manifests=" + folder)).contains("no object in " + folder);
            assertThat(refused("--manifests=" + folder.resolve("no")))
                    .contains("no such file: " + folder.resolve("no"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--kubernetes=1.33 choose one of 1.34, 1.35, 1.36, 1.37, 1.38",
                "--release=1.33 choose one of",
                "--port=70000 from 0 to 65535",
                "--feature-gates=DRANothing=true there is no feature gate DRANothing",
                "--feature-gates=DRAPartitionableDevicesType=true has no feature gate DRAPartitionableDevicesType",
                "--feature-gates=DRADeviceTaints=maybe 'maybe' is not a boolean",
            })
    void saysWhatIsWrongWithAnOption(String line) {
        int space = line.indexOf(' ');

        assertThat(refused(line.substring(0, space))).contains(line.substring(space + 1));
    }

    @Test
    void leavesAnyOtherFileAlone() throws Exception {
        Path own = Files.writeString(folder.resolve("config"), "apiVersion: v1\nkind: Config\n");
        Path nowhere = folder.resolve("no/kubeconfig");

        assertThat(refused("--kubeconfig=" + own)).contains(own.toString(), "was not written by this command");
        assertThat(own).hasContent("apiVersion: v1\nkind: Config\n");
        assertThat(refused("--kubeconfig=" + nowhere)).contains("can't write " + nowhere);
    }
}
