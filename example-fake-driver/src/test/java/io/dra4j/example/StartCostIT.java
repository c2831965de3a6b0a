// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cost of a start: each limit is about 5 % above what was counted last. */
@Tag("gate")
class StartCostIT {

    private static final Path JAR = Path.of("target/dra4j-example-fake-driver.jar");
    private static final long JAR_BYTES = 15_700_000;
    private static final int CLASSES = 7_100;
    private static final int VIRTUAL = 24; // the release whose virtual threads do what waits
    private static final int THREADS = Runtime.version().feature() >= VIRTUAL ? 36 : 38;
    private static final long HANDLES = Runtime.version().feature() >= VIRTUAL ? 310 : 440; // reflection makes no more
    private static final int CUSTOMIZED = 127; // calls after which a method handle would get code for itself
    private static final long OTHERS = 16; // may be loaded by tasks of some seconds; handles of calls would get 64
    private static final Path OPTIONS = Path.of("../sdk-runtime/deploy/jvm.options");

    @TempDir
    private Path folder;

    @Test
    void theJarIsNoLarger() throws IOException {
        assertThat(Files.size(JAR)).isLessThan(JAR_BYTES);
    }

    @Test
    void aStartLoadsNoMoreClassesAndNoModelOfKubernetesBeyondKubeconfigs() throws Exception {
        List<String> classes = loadedAtStart();

        System.out.printf("%d classes at start%n", classes.size());
        assertThat(classes).as("the log was read").hasSizeGreaterThan(1000);
        assertThat(classes.size()).isLessThan(CLASSES);
        assertThat(classes)
                .noneMatch(name -> name.startsWith("io.fabric8.kubernetes.api.model.Pod"))
                .noneMatch(name -> name.startsWith("io.prometheus."))
                .noneMatch(name -> name.startsWith("io.micrometer.core.instrument.binder."))
                .noneMatch(name -> name.startsWith("ch.qos.logback.classic.util.ContextInitializer"));
    }

    /**
     * Those of the JVM included; ten of them end in the minute after the start. Claims have virtual threads from JDK 24
     * on; before, each has one of its own.
     */
    @Test
    void aStartHasNoMoreThreadsAndACallOf32ClaimsNeedsFewMore() throws Exception {
        try (TestNode node = node()) {
            Instance driver = start(node);
            List<String> threads = threads(driver);
            System.out.printf("%d threads at start: %s%n", threads.size(), threads);
            assertThat(threads).hasSizeBetween(10, THREADS);

            KubeletClaim[] claims = IntStream.range(0, 32)
                    .mapToObj(i -> node.allocate("claim-" + i, "gpu-" + i))
                    .toArray(KubeletClaim[]::new);
            assertThat(node.prepare(claims).complaint()).isEmpty();
            threads = threads(driver);
            System.out.printf("%d threads after 32 claims: %s%n", threads.size(), threads);
            assertThat(threads)
                    .hasSizeBetween(10, THREADS + 6 + (Runtime.version().feature() >= VIRTUAL ? 0 : claims.length));
        }
    }

    /** Without options, a method gets code after 256 calls. */
    @Test
    void callsAfterTheFirstLoadNoCodeOfMethodHandlesAndAreCompiledSoon() throws Exception {
        Path log = folder.resolve("classes");
        try (TestNode node = node("-Xlog:class+load,jit+compilation=debug:file=" + log)) {
            start(node);
            KubeletClaim claim = node.allocate("claim", "gpu-0");
            long afterTheFirst = 0;
            for (int i = 0; i < CUSTOMIZED + 10; i++) {
                assertThat(node.prepare(claim).complaint()).isEmpty();
                assertThat(node.unprepare(claim).complaint()).isEmpty();
                afterTheFirst = i == 10 ? codeOfMethodHandles(log) : afterTheFirst;
            }

            long later = codeOfMethodHandles(log) - afterTheFirst;
            System.out.printf("%d classes of method handles after ten calls, %d later%n", afterTheFirst, later);
            assertThat(afterTheFirst).isBetween(1L, HANDLES);
            assertThat(later).isLessThan(OTHERS);
            assertThat(log).content().contains("internal.claim.ClaimLifecycle::take ");
        }
    }

    private static long codeOfMethodHandles(Path log) throws IOException {
        return loaded(log).stream()
                .filter(name -> name.startsWith("java.lang.invoke.LambdaForm"))
                .count();
    }

    private static TestNode node(String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(java(), "@" + OPTIONS.toRealPath()));
        command.addAll(List.of(more));
        command.addAll(List.of("-jar", JAR.toString(), "--num-devices=32"));
        return new TestNode("gpu.example.com", command);
    }

    private static Instance start(TestNode node) throws InterruptedException {
        Instance driver = node.start();
        node.awaitRegistered();
        node.awaitSlices(slices -> !slices.isEmpty());
        return driver;
    }

    /** Returns their names, cut by the kernel. */
    private static List<String> threads(Instance driver) throws IOException {
        List<String> names = new ArrayList<>();
        long pid = driver.pid().orElseThrow();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads) {
                names.add(Files.readString(thread.resolve("comm")).strip());
            }
        }
        return names;
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Returns the classes that a driver loads with a kubeconfig until its slices are published. */
    private List<String> loadedAtStart() throws Exception {
        Path log = folder.resolve("classes");
        List<String> command = List.of(java(), "-Xlog:class+load:file=" + log, "-jar", JAR.toString());
        try (TestNode node = new TestNode("gpu.example.com", command)) {
            node.start();
            node.awaitRegistered();
            node.awaitSlices(slices -> !slices.isEmpty());
            node.terminate();
        }
        return loaded(log);
    }

    private static List<String> loaded(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.contains(" source: "))
                    .map(line -> line.replaceFirst("^(\\[[^\\]]*\\])+ ", ""))
                    .map(line -> line.substring(0, line.indexOf(' ')))
                    .toList();
        }
    }
}
