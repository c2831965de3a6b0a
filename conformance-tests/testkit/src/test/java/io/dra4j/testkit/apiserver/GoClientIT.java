// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The real client-go through the proxy to the server: {@code src/test/go/client.go} is built and run, and prints what
 * each step saw.
 *
 * <p>It needs Go and the sources of client-go, as Debian's unstable suite has them in the packages golang-go and
 * golang-k8s-client-go-dev. They can be unpacked into any folder, by a separate apt configuration; then {@code
 * GOROOT} names Go, and {@code GOPATH} the folder {@code usr/share/gocode} there. Skips itself elsewhere. The first
 * build takes minutes, later ones use Go's cache.
 */
@Timeout(1_800)
class GoClientIT {

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
                .filter(GoClientIT::hasClient)
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
