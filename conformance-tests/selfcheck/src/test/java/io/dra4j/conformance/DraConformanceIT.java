// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.inprocess.ProviderDriver;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.example.FakeGpuProvider;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opentest4j.TestAbortedException;

/** The in-process form of the suite, as a vendor writes it: its tests, their reports and names, and drivers in this JVM. */
class DraConformanceIT {

    /** More than a minute by contract: every night. */
    private static final String LONG =
            Boolean.getBoolean("dra4j.nightly") ? "" : "skip: [DRA-SLICE-06, DRA-SLICE-14, DRA-SLICE-22]";

    @TestFactory
    @Tag("counts")
    Stream<DynamicNode> conformance() {
        return DraConformance.of("gpu.example.com", place -> new FakeGpuProvider(place.driver(), place.node(), 40))
                .settings(LONG)
                .tests();
    }

    private final Set<Path> roots = ConcurrentHashMap.newKeySet();

    private List<DynamicTest> tests() {
        return tests(
                "DRA-INFO-01, DRA-PREP-01, DRA-PREP-09, DRA-PREP-32, DRA-SLICE-01, DRA-SLICE-19, DRA-CDI-02", roots);
    }

    private static List<DynamicTest> tests(String ids, Set<Path> roots) {
        return DraConformance.of("gpu.example.com", place -> {
                    roots.add(place.root());
                    return new FakeGpuProvider(place.driver(), place.node(), 4);
                })
                .settings("only: [" + ids + "]")
                .tests()
                .flatMap(DraConformanceIT::leaves)
                .toList();
    }

    private static Stream<DynamicTest> leaves(DynamicNode node) {
        return node instanceof DynamicContainer container
                ? container.getChildren().flatMap(DraConformanceIT::leaves)
                : Stream.of((DynamicTest) node);
    }

    @Test
    void nothingOfItStaysInTheTemporaryDirectory() throws Throwable {
        int passed = 0;
        for (DynamicTest test : tests()) {
            try {
                test.getExecutable().execute();
                passed++;
            } catch (TestAbortedException e) {
                assertThat(e).hasMessageContaining("Assumption failed");
            }
        }

        assertThat(passed).isGreaterThanOrEqualTo(7);
        assertThat(roots).isNotEmpty().allSatisfy(root -> assertThat(root).doesNotExist());
    }

    /** Hostile input, in a JVM with the logging that tests of a vendor have by default. */
    public static void main(String[] args) throws Throwable {
        for (DynamicTest test : tests("DRA-SEC-03", new HashSet<>())) {
            if (test.getDisplayName().startsWith("DRA-SEC-03")) {
                test.getExecutable().execute();
            }
        }
        System.exit(0);
    }

    @Test
    void aRunPrintsNothingOfTheLibraries() throws Exception {
        List<String> command = List.of(Ended.jdk("java"), "-cp", System.getProperty("java.class.path"));

        assertThat(Ended.of(Map.of(), command, getClass().getName()).printed())
                .doesNotContain(
                        "SEVERE", "INFO", "io.grpc.okhttp", "SerializingExecutor", "io.netty", "org.eclipse.jetty");
    }

    /** Surefire names dynamic tests by their numbers unless they have a source of their own. */
    @Test
    void eachTestHasASourceOfItsOwn() {
        assertThat(tests())
                .allSatisfy(test -> assertThat(test.getTestSourceUri())
                        .get()
                        .hasToString("classpath:/io/dra4j/conformance/requirements/requirements.yaml"))
                .extracting(DynamicTest::getDisplayName)
                .anyMatch(name -> name.startsWith("DRA-PREP-01: "));
        assertThat(roots).isEmpty();
    }

    private static final Map<String, JsonNode> NAMED = Map.of(
            "/driver/name", TextNode.valueOf("gpu.example.com"),
            "/driver/kind", TextNode.valueOf("in-process"));

    /** The kubelet of a run registers an external driver before the suite starts it. */
    @Test
    void nothingOfItIsLeftWhenTheBenchIsClosed() throws Exception {
        TestContext context = TestContext.open(
                SettingsReader.parse("", "none", NAMED),
                ProviderDriver.of(place -> new FakeGpuProvider(place.driver(), place.node(), 1), builder -> {}),
                "one");
        Instance driver = context.driver().start();
        Place at = context.place();
        Path log = Files.writeString(at.root().resolve("its.log"), "it runs");
        Settings external = SettingsReader.parse(
                "driver: {name: gpu.example.com, kind: external, external: {node: %s, registry: %s, cdi: %s, log: %s}, hooks: {start: [touch, %4$s], stop: [x], kill: [rm, %4$s]}}"
                        .formatted(at.node(), at.registry(), at.cdi(), log),
                "none",
                Map.of());
        try (TestContext other = TestContext.open(external, DriverAdapters.of(external.driver()), "two")) {
            assertThat(other.kubelet().awaitRegistered(at.driver(), Duration.ofMinutes(1)))
                    .isTrue();
            assertThat(other.driver().start().isAlive()).isTrue();
            assertThat(other.driver().log()).isEqualTo("it runs");
            assertThat(List.of(
                            RegistrationSocket.of(other).path(), at.registry().resolve("csi-reg.sock")))
                    .extracting(socket -> RegistrationSocket.isOwn(other, socket))
                    .containsExactly(true, false);
        }
        assertThat(driver.isAlive()).isTrue();
        assertThat(log).hasContent("it runs");
        context.close();
        assertThat(driver.isAlive()).isFalse();
    }

    private static RunOutcome run(String settings, Function<Place, DeviceProvider> provider) {
        return new Engine(
                        SettingsReader.parse(settings, "none", NAMED),
                        ProviderDriver.of(provider, builder -> {}),
                        Catalogue.load(),
                        Progress.NONE)
                .run();
    }

    @Test
    void aProviderWithoutAnInventoryGetsTheTypeToReturn() {
        RunOutcome outcome =
                run("only: [DRA-PREP-01]\ntimeoutFactor: 0.1\n", place -> new LyingProvider(null, place.root()));

        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.notes())
                .anyMatch(note -> note.contains("DeviceProvider.inventory() returned null; return Inventory.of()"));
    }

    @ParameterizedTest
    @CsvSource({
        "   , [], PASS, ''",
        "plugins/gpu.example.com, [], FAIL, gpu-0 is left in the driver's directory",
        "'', ['{ROOT}/gpu-*'], FAIL, 1 files still match",
        "'', [], FAIL, can't be prepared"
    })
    void aProviderThatSaysThatItChangesNothingIsTried(String folder, String empty, Verdict verdict, String message) {
        RunOutcome outcome = run(
                "driver: {emptyWhenUnprepared: %s}\nonly: [DRA-RST-13]\n".formatted(empty),
                place -> folder == null
                        ? new FakeGpuProvider(place.driver(), place.node(), 1)
                        : new LyingProvider(place.node(), place.root().resolve(folder)));

        assertThat(outcome.results())
                .filteredOn(result -> result.requirement().id().equals("DRA-RST-13"))
                .singleElement()
                .satisfies(result ->
                        assertThat(result.verdict() + " " + result.message()).contains(verdict + " ", message));
    }

    /** It says that it changes nothing, and makes a file of each device in use; without a pool it is not finished. */
    private record LyingProvider(@Nullable String pool, Path folder) implements DeviceProvider {
        @Override
        @SuppressWarnings("NullAway")
        public Inventory inventory() {
            List<Device> one = List.of(Device.builder("gpu-0").build());
            return pool == null ? null : Inventory.of(Pool.ofNode(pool, one));
        }

        @Override
        public boolean changesNothing(AllocatedClaim claim) {
            return true;
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws IOException {
            Files.createFile(folder.resolve("gpu-0"));
            return PreparedClaim.empty();
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) throws IOException {
            Files.deleteIfExists(folder.resolve("gpu-0"));
        }
    }
}
