// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.Scenarios;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The real kubectl and the real client-go against the server; each skips itself where it is missing. */
class RealClientsIT {

    @Nested
    @Timeout(120)
    class Kubectl {

        private static final String MANIFEST = """
                apiVersion: resource.k8s.io/v1
                kind: ResourceSlice
                metadata: {name: s1}
                spec:
                  driver: gpu.example.com
                  nodeName: node-1
                  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
                  devices:
                  - name: gpu-0
                ---
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {name: c1, namespace: default}
                spec:
                  devices:
                    requests:
                    - name: gpu
                      exactly: {deviceClassName: gpu.example.com}
                """;

        @AutoClose
        private final EmbeddedApiServer server = EmbeddedApiServer.builder()
                .version(KubernetesVersion.V1_34)
                .node("node-1")
                .start();

        @TempDir
        private Path folder;

        private Path kubeconfig;

        @BeforeAll
        static void needsKubectl() {
            assumeTrue(Ended.onPath("kubectl").isPresent(), "no kubectl on the PATH: nothing to try the server with");
        }

        @BeforeEach
        void login() throws IOException {
            kubeconfig = server.writeKubeconfig(folder.resolve("kubeconfig"));
            Files.writeString(folder.resolve("both.yaml"), MANIFEST);
        }

        private List<String> command(String... arguments) {
            List<String> command = new ArrayList<>(List.of("kubectl", "--cache-dir", folder + "/cache"));
            command.addAll(List.of("--kubeconfig", kubeconfig.toString()));
            command.addAll(List.of(arguments));
            return command;
        }

        private Ended kubectl(String line) throws Exception {
            String[] arguments = line.replaceAll("\\w+\\.yaml", folder + "/$0").split(" ");
            return Ended.of(Map.of(), command(arguments));
        }

        @Scenarios("kubectl-scenarios.txt")
        void understandsTheServer(String scenario) throws Exception {
            Path file = folder;
            Ended ended = new Ended(0, "");
            for (String line : scenario.split("\n")) {
                String rest = line.substring(line.indexOf(' ') + 1);
                switch (line.substring(0, line.indexOf(' '))) {
                    case "#" -> {} // its title
                    case "file" -> file = Files.createFile(folder.resolve(rest));
                    case "" -> Files.writeString(file, line.substring(2) + "\n", StandardOpenOption.APPEND);
                    case "change" -> {
                        String[] words = rest.split(" ");
                        Path changed = folder.resolve(words[0]);
                        Files.writeString(changed, Files.readString(changed).replace(words[1], words[2]));
                    }
                    case "kubectl" -> {
                        ended = kubectl(rest);
                        assertThat(ended.status()).as(ended.output()).isZero();
                    }
                    case "refused" -> {
                        ended = kubectl(rest);
                        assertThat(ended.status()).as(ended.output()).isNotZero();
                    }
                    case "prints" -> assertThat(ended.output()).contains(rest);
                    case "matches" -> assertThat(ended.output()).containsPattern(rest);
                    case "lacks" -> assertThat(ended.output()).doesNotContain(rest);
                    default -> throw new IllegalArgumentException(line);
                }
            }
        }

        @Test
        void followsAChangeAsARowOfATable() throws Exception {
            kubectl("apply -f both.yaml").printed();
            Process watch = new ProcessBuilder(command("get", "resourceslices", "--watch"))
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader lines = watch.inputReader(StandardCharsets.UTF_8)) {
                assertThat(lines.readLine()).matches("NAME +NODE +DRIVER +POOL +AGE");
                assertThat(lines.readLine()).matches("s1 +node-1 +gpu.example.com +node-1.*");

                server.store().put(Trees.tree(slice("s1", 2)));

                assertThat(lines.readLine()).matches("s1 +node-1 +gpu.example.com +node-1 +[0-9a-z]+");
            } finally {
                watch.destroy();
                assertThat(watch.waitFor(30, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    /**
     * The real client-go through the proxy to the server: {@code src/test/go/client.go} is built and run, and prints what
     * each step saw.
     *
     * <p>It needs Go and the sources of client-go, as Debian's unstable suite has them in the packages golang-go and
     * golang-k8s-client-go-dev. They can be unpacked into any folder, by a separate apt configuration; then {@code
     * GOROOT} names Go, and {@code GOPATH} the folder {@code usr/share/gocode} there. The first build takes minutes,
     * later ones use Go's cache.
     */
    @Nested
    @Timeout(1_800)
    class ClientGo {

        private static final Path SOURCE = Path.of("src/test/go/client.go").toAbsolutePath();
        private static final int FIRST_STEPS = 12;
        private static final String CLIENT = "src/k8s.io/client-go/kubernetes/typed/resource/v1";
        private static final String DEBIAN_GOPATH = "/usr/share/gocode";

        @TempDir
        private static Path folder;

        @AutoClose
        private final EmbeddedApiServer server =
                EmbeddedApiServer.builder().node("node-1").historySize(4).start();

        @AutoClose
        private final ApiProxy proxy = ApiProxy.before(server.url());

        @BeforeAll
        static void build() throws Exception {
            Optional<Path> go = go();
            assumeTrue(go.isPresent(), "no Go in GOROOT or on the PATH: client-go cannot be tried");
            Optional<String> gopath = gopath();
            assumeTrue(gopath.isPresent(), "no client-go in GOPATH or in " + DEBIAN_GOPATH);
            String program = folder.resolve("client").toString();
            Ended build = Ended.of(
                    Map.of("GO111MODULE", "off", "GOPATH", gopath.get(), "CGO_ENABLED", "0"),
                    List.of(go.get().toString(), "build", "-o", program, SOURCE.toString()));
            assertThat(build.output()).as("go build").isEmpty();
        }

        private static Optional<Path> go() {
            Stream<Path> root = Stream.ofNullable(System.getenv("GOROOT")).map(place -> Path.of(place, "bin/go"));
            return root.filter(Files::isExecutable).findFirst().or(() -> Ended.onPath("go"));
        }

        private static Optional<String> gopath() {
            return Stream.of(System.getenv().getOrDefault("GOPATH", ""), DEBIAN_GOPATH)
                    .filter(ClientGo::hasClient)
                    .findFirst();
        }

        private static boolean hasClient(String places) {
            return Arrays.stream(places.split(File.pathSeparator))
                    .anyMatch(place -> Files.isDirectory(Path.of(place, CLIENT)));
        }

        private List<String> run(String contentType) throws Exception {
            String program = folder.resolve("client").toString();
            Path kubeconfig = proxy.writeKubeconfig(folder.resolve("kubeconfig"));
            String output = Ended.of(Map.of(), List.of(program, kubeconfig.toString(), contentType))
                    .output();
            System.out.println("client-go with \"" + contentType + "\":\n" + output);
            return output.lines().toList();
        }

        /** The output of each step, with the wire format of its last request and response. */
        private static List<String> expected(String format) {
            return """
                   create: one uid=true devices=gpu-0 model=T4 [POST FORMAT -> 201 FORMAT]
                   get: one same=true [GET - -> 200 FORMAT]
                   update: devices=gpu-0,gpu-1 generation=2 newer=true [PUT FORMAT -> 200 FORMAT]
                   patch: label=b [PATCH merge-patch+json -> 200 FORMAT]
                   list: 1 items, revision=true [GET - -> 200 FORMAT]
                   delete: ok [DELETE FORMAT -> 200 FORMAT]
                   get: notFound=true resourceslices.resource.k8s.io "one" not found [GET - -> 404 FORMAT]
                   create: exists=true resourceslices.resource.k8s.io "two" already exists [POST FORMAT -> 409 FORMAT]
                   update: conflict=true Operation cannot be fulfilled on resourceslices.resource.k8s.io "two": \
                   the object has been modified; please apply your changes to the latest version and try again \
                   [PUT FORMAT -> 409 FORMAT]
                   create: invalid=true cause=spec.devices[0].name [POST FORMAT -> 422 FORMAT]
                   delete: conflict=true [DELETE FORMAT -> 409 FORMAT]
                   get: resourceslices.resource.k8s.io "a;b" not found [GET - -> 404 FORMAT]
                   """.replace("FORMAT", format).lines().toList();
        }

        @ParameterizedTest
        @ValueSource(strings = {"", "application/vnd.kubernetes.protobuf", "application/json"})
        void everyStepOfADriverWorks(String contentType) throws Exception {
            String format = contentType.isEmpty() ? "vnd.kubernetes.protobuf" : contentType.substring(12);

            List<String> lines = run(contentType);

            assertThat(lines).startsWith(expected(format).toArray(String[]::new));
            String watched = format.equals("json") ? "json" : format + ";stream=watch";
            assertThat(lines.get(FIRST_STEPS + 3)).endsWith("[GET - -> 200 " + watched + "]");
            assertThat(lines.subList(FIRST_STEPS, lines.size()))
                    .extracting(line -> line.replaceFirst(" \\[[A-Z-].*", ""))
                    .containsExactly(
                            "apply: applied label=one manager=first",
                            "apply: conflict=true Apply failed with 1 conflict: conflict with \"first\" using resource.k8s.io/v1: .metadata.labels.a",
                            "apply: label=two managers=2",
                            "watch-list: ADDED,BOOKMARK",
                            "watch: DELETED listed",
                            "watch: expired=true",
                            "informer: add seen",
                            "informer: update gpu-0,gpu-1",
                            "informer: delete seen",
                            "claim: generated=true mode=ExactCount config={\"kind\":\"GpuConfig\",\"share\":2}",
                            "done");
            assertThat(proxy.requests(RecordedRequest::write))
                    .filteredOn(request -> !request.body().isEmpty())
                    .allSatisfy(request -> assertThat(request.body()).startsWith("{"));
        }
    }
}
