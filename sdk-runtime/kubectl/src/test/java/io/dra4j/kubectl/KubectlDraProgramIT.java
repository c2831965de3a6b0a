// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.Traffic;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plugin as it is installed: what is in the tarball, and the jar, from which classes were left out. */
class KubectlDraProgramIT {

    private static final int STARTS = 10;
    private static final String TARBALL =
            Path.of("target/kubectl-dra.tar.gz").toAbsolutePath().toString();

    @TempDir
    private Path folder;

    @Test
    void showsTheDevicesOfACluster() throws Exception {
        Path place = installed("my programs");
        Files.writeString(folder.resolve("file"), "");
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().start()) {
            ManifestObjects.putText("""
                    {apiVersion: v1, kind: Node, metadata: {name: worker-1}}
                    ---
                    {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: worker-1-gpu},
                     spec: {driver: gpu.example.com, nodeName: worker-1,
                            pool: {name: worker-1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}
                    ---
                    {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu},
                     spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}
                    ---
                    {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: train, namespace: default},
                     spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
                    """, server.store());
            String kubeconfig = "--kubeconfig=" + server.writeKubeconfig(folder.resolve("kubeconfig"));
            Map<String, String> unwritable = Map.of("XDG_CACHE_HOME", folder + "/file", "KUBECTL_DRA_ARCHIVE", "now");
            String tree = run(unwritable, place.resolve("kubectl-dra"), "tree", "-o", "json", kubeconfig);

            assertThat(new JsonMapper().readTree(tree).at("/places/0/node").asText())
                    .isEqualTo("worker-1");
            assertThat(run(
                            unwritable,
                            place.resolve("kubectl-dra"),
                            "explain",
                            "claim/train",
                            "-o",
                            "json",
                            kubeconfig))
                    .as("no warning of the JVM, of CEL's parser for example")
                    .startsWith("{")
                    .endsWith("}\n");
            String options = "-Xshare:off -Duser.language=ar -Duser.country=EG"; // no archive can be made
            Map<String, String> arabic = Map.of("KUBECTL_DRA_ARCHIVE", "now", "JAVA_TOOL_OPTIONS", options);
            assertThat(run(arabic, place.resolve("kubectl-dra"), "tree", kubeconfig))
                    .contains("worker-1  (1 device, 0 in use)");
            assertThat(archives()).as("left for ten minutes").isNotEmpty();
            assertThat(run(unwritable, place.resolve("kubectl_complete-dra"), "exp"))
                    .isEqualTo("explain\n:4\n");
        }
    }

    @Test
    void anArchiveOfItsClassesIsMadeOnceAndUsed() throws Exception {
        Path script = installed("programs").resolve("kubectl-dra");
        Map<String, String> now = Map.of("KUBECTL_DRA_ARCHIVE", "now");
        CompletableFuture.allOf(
                        CompletableFuture.runAsync(() -> version(now, script), task -> new Thread(task).start()),
                        CompletableFuture.runAsync(() -> version(now, script), task -> new Thread(task).start()))
                .join();

        assertThat(archives())
                .extracting(file -> file.getFileName().toString())
                .containsExactly("archive", "archive.key");
        Path archive = archives().get(0);
        for (Path one = archive.getParent(); !one.equals(folder.resolve("cache")); one = one.getParent()) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(one)))
                    .isEqualTo("rwx------");
        }
        long before = classesOutsideOfTheArchive(Map.of("KUBECTL_DRA_ARCHIVE", "no"), script, "--help");
        assertThat(classesOutsideOfTheArchive(Map.of(), script, "--help"))
                .isLessThan(before * 7 / 10); // picocli's are too old for archives
    }

    /** Each archive takes seconds of processor time. */
    @Test
    @Tag("nightly")
    void anArchiveThatIsDamagedOrOfAnotherJavaOrJarIsMadeAgain() throws Exception {
        Path script = installed("programs").resolve("kubectl-dra");
        Path jar = script.resolveSibling("kubectl-dra.jar");
        Path java = Path.of(System.getProperty("java.home"));
        Path home = Files.createDirectory(folder.resolve("jdk"));
        Path bin = Files.createSymbolicLink(home.resolve("bin"), java.resolve("bin"));
        Path lib = Files.createSymbolicLink(home.resolve("lib"), java.resolve("lib"));
        Path release = Files.copy(java.resolve("release"), home.resolve("release"));
        Map<String, String> now = Map.of("KUBECTL_DRA_ARCHIVE", "now", "JAVA_HOME", home.toString());
        version(now, script);
        Path archive = archives().get(0);
        long size = Files.size(archive);

        Files.write(archive, Arrays.copyOf(Files.readAllBytes(archive), (int) size / 2));
        version(now, script);
        assertThat(Files.size(archive)).as("damaged").isGreaterThan(size / 2 + 1);

        assertThat(isMadeAgain(now, script, archive)).as("nothing changed").isFalse();
        Files.writeString(
                release, Files.readString(release).replace("JAVA_RUNTIME_VERSION=\"", "JAVA_RUNTIME_VERSION=\"x"));
        assertThat(isMadeAgain(now, script, archive)).as("another Java").isTrue();
        FileTime built = Files.getLastModifiedTime(jar);
        byte[] content = Files.readAllBytes(jar);
        content[10] ^= 1; // the time of the first entry
        Files.write(jar, content);
        Files.setLastModifiedTime(jar, built);
        assertThat(isMadeAgain(now, script, archive)).as("another build").isTrue();
        Files.setLastModifiedTime(jar, FileTime.from(Instant.parse("2025-01-01T00:00:00Z")));
        assertThat(isMadeAgain(now, script, archive)).as("another time").isTrue();
        Files.delete(bin);
        Files.delete(lib);
    }

    /** Prints what a start takes; counts hold on any machine. */
    @Test
    @Tag("nightly")
    void tenStartsOnAHundredNodes() throws Exception {
        Path script = installed("programs").resolve("kubectl-dra");
        version(Map.of("KUBECTL_DRA_ARCHIVE", "now"), script);
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().tls().start()) {
            LargeCluster.put(server.store(), 100, 10, 1);
            String file = "--kubeconfig=" + server.writeKubeconfig(folder.resolve("kubeconfig"), server.tlsUrl());
            int lists = starts(server, script, "node-99  ", "tree", file);

            assertThat(lists)
                    .as("requests of tree: version, group, resources of it, and a list each of claims,"
                            + " slices, classes and nodes")
                    .isEqualTo(7);
            assertThat(starts(server, script, "any of 100 nodes", "explain", "pod/train", file))
                    .as("also the pod, its claim and its events, and two pods that have devices")
                    .isEqualTo(lists + 5);
        }
    }

    /** Runs a command ten times, and returns its requests, the same of each run. */
    private int starts(EmbeddedApiServer server, Path script, String printed, String... command) throws Exception {
        List<Long> times = new ArrayList<>();
        Traffic before = all(server);
        for (int i = 0; i < STARTS; i++) {
            long start = System.nanoTime();
            Ended ended = Ended.of(environment(Map.of()), List.of(script.toString()), command);
            times.add((System.nanoTime() - start) / 1_000_000);
            assertThat(ended.output()).containsPattern(printed);
        }
        Traffic after = all(server);
        long bytes = (long) (after.sent() - before.sent()) / STARTS;
        long classes = classesOutsideOfTheArchive(Map.of(), script, command);
        Collections.sort(times);
        System.out.printf(
                "kubectl dra %s: p50 of %d starts %d ms, %,d bytes received, %d classes outside of the archive%n",
                command[0], STARTS, times.get(STARTS / 2), bytes, classes);
        assertThat(bytes).as("compressed").isLessThan(150_000);
        assertThat(classes).as("classes that are not in the archive").isLessThan(500);
        assertThat(server.protocols()).containsOnlyKeys("HTTP/2.0");
        double requests = (after.requests() - before.requests()) / STARTS;
        assertThat(requests % 1).isZero();
        return (int) requests;
    }

    private static Traffic all(EmbeddedApiServer server) {
        return server.traffic().values().stream().reduce(Traffic.NONE, (sum, one) -> sum.and(one, 1));
    }

    /** A server by a CA that the JVM trusts, but not the kubeconfig. */
    @Test
    void theCaThatAKubeconfigNamesIsTrustedAlone() throws Exception {
        Path script = installed("programs").resolve("kubectl-dra");
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().tls().start()) {
            String another = "--kubeconfig=" + server.writeKubeconfig(folder.resolve("another"), server.tlsUrl());
            server.replaceAuthority();
            String none = "--kubeconfig=" + Connections.writeKubeconfig(folder.resolve("none"), server.tlsUrl());
            Path authority = Files.writeString(folder.resolve("authority"), server.authority());
            String trusted = folder.resolve("trusted").toString();
            Ended.of(
                            Map.of(),
                            List.of(Ended.jdk("keytool"), "-importcert", "-noprompt", "-file", authority.toString()),
                            "-storepass",
                            "password",
                            "-keystore",
                            trusted)
                    .printed();
            Map<String, String> jvm = Map.of(
                    "KUBECTL_DRA_ARCHIVE",
                    "no",
                    "JAVA_TOOL_OPTIONS",
                    "-Djavax.net.ssl.trustStorePassword=password -Djavax.net.ssl.trustStore=" + trusted);

            assertThat(run(jvm, script, "tree", none)).isNotEmpty();
            Ended refused = Ended.of(environment(jvm), List.of(script.toString()), "tree", another);
            assertThat(refused.status()).isEqualTo(3);
            assertThat(refused.output()).contains("can't be reached", "PKIX");
        }
    }

    @Test
    void theManifestForKrewNamesFilesOfTheTarball() throws Exception {
        JsonNode krew = new YAMLMapper().readTree(Path.of("krew.yaml").toFile());
        JsonNode platform = krew.at("/spec/platforms/0");
        String listed = Ended.of(Map.of(), List.of("tar", "-tvzf", TARBALL)).printed();

        assertThat(listed.lines()).allMatch(line -> line.startsWith("-rw"));
        assertThat(krew.at("/metadata/name").asText()).isEqualTo("dra");
        assertThat(krew.at("/spec/version").asText()).isEqualTo("v@version@");
        assertThat(platform.path("sha256").asText()).isEqualTo("@sha256@");
        assertThat(platform.path("uri").asText()).isEqualTo("@url@/releases/download/v@version@/kubectl-dra.tar.gz");
        assertThat(Path.of("../../.github/workflows/release.yml"))
                .content()
                .contains("target/release/kubectl-dra.tar.gz", "target/release/dra.yaml")
                .contains(" artifacts/kubectl-dra.tar.gz artifacts/dra.yaml");
        assertThat(platform.path("files")
                        .valueStream()
                        .map(one -> one.path("from").asText()))
                .contains(platform.path("bin").asText(), "LICENSE")
                .allMatch(file -> listed.lines().anyMatch(line -> line.endsWith(" " + file)));
    }

    private Path installed(String name) throws Exception {
        Path place = Files.createDirectory(folder.resolve(name));
        Ended.of(Map.of(), List.of("tar", "-xzf", TARBALL, "-C", place.toString()))
                .printed();
        return place;
    }

    private void version(Map<String, String> environment, Path script) {
        assertThat(run(environment, script, "--version")).matches("kubectl dra [^\\n]*\\n");
    }

    private Map<String, String> environment(Map<String, String> more) {
        Map<String, String> environment = new HashMap<>(Map.of(
                "JAVA_HOME",
                System.getProperty("java.home"),
                "XDG_CACHE_HOME",
                folder.resolve("cache").toString()));
        environment.putAll(more);
        return environment;
    }

    private String run(Map<String, String> more, Path script, String... arguments) {
        try {
            return Ended.of(environment(more), List.of(script.toString()), arguments)
                    .printed();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private boolean isMadeAgain(Map<String, String> now, Path script, Path archive) throws IOException {
        Object before = Files.readAttributes(archive, BasicFileAttributes.class).fileKey();
        version(now, script);
        return !before.equals(
                Files.readAttributes(archive, BasicFileAttributes.class).fileKey());
    }

    /** The files of the cache. */
    private List<Path> archives() throws IOException {
        try (Stream<Path> all = Files.walk(folder.resolve("cache"))) {
            return all.filter(Files::isRegularFile).sorted().toList();
        }
    }

    /** Returns how many classes a command loads that are in no archive, neither its own nor the JDK's. */
    private long classesOutsideOfTheArchive(Map<String, String> more, Path script, String... command) throws Exception {
        Path log = folder.resolve("classes");
        Map<String, String> environment = environment(more);
        environment.put("JAVA_TOOL_OPTIONS", "-Xlog:class+load:file=" + log);
        Ended.of(environment, List.of(script.toString()), command);
        return Files.readAllLines(log).stream()
                .filter(line -> line.contains("source: ") && !line.contains("shared objects file"))
                .count();
    }
}
