// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.cluster.ApiRequestException;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.driver.UnusedPorts;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.Fault;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A test context: its hooks, and one in front of an external API server or at a port that others expect. */
class TestContextIT {

    @Nested
    class Hooks {

        private static final String SETTINGS = """
                driver:
                  name: gpu.example.com
                  process: {command: [x]}
                  hooks:
                    unplug: [sh, -c, 'echo "gpu-0 absent" > {ROOT}/faults; echo $NODE_NAME is less']
                    plug: [printf, 'gr\\374n']
                    fault: [sh, -c, 'echo no such slot; exit 3']
                    recover: [/no/such/program]
                """;

        @AutoClose
        private TestContext context;

        @BeforeEach
        void open() {
            context = TestContext.open(
                    SettingsReader.parse(SETTINGS, "the test", Map.of()),
                    new ProcessDriver(List.of("x"), Map.of(), Duration.ofSeconds(1)),
                    "hooks");
        }

        @Test
        void aHookKnowsThePlaceAndIsUndoneInTheEndAndItsOutputInAnyEncodingIsEvidence() throws Exception {
            TestContext.Mark mark = context.mark();

            context.hook("unplug", "plug");

            Path faults = context.place().root().resolve("faults");
            assertThat(Files.readString(faults)).isEqualTo("gpu-0 absent\n");
            context.close();
            assertThat(context.callsSince(mark).toString())
                    .matches(".*hook unplug: dra-conformance-hooks is less, .*hook plug: gr\ufffdn]");
        }

        @Test
        void aHookThatFailsIsAnErrorOfTheSuiteAndOneThatIsNotThereLeavesTheRuleUntested() {
            assertThatThrownBy(() -> context.hooks().run("fault"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("fault", "exit status 3", "no such slot");
            assertThatThrownBy(() -> context.hooks().run("recover"))
                    .hasMessageContainingAll("recover", "/no/such/program");
            assertThatThrownBy(() -> context.hooks().run("old"))
                    .isInstanceOf(Untested.class)
                    .hasMessageContaining("no hook old");
        }
    }

    @Nested
    class End {

        private static final Settings SETTINGS = SettingsReader.parse(
                "driver: {name: gpu.example.com, process: {command: [sleep, '60']}}", "the test", Map.of());

        private static final String WRAPPER = "sleep 600 & echo $! > {ROOT}/pid; wait";

        /** An embedded API server that does not answer is what each request would wait for, half a minute each. */
        @Test
        @Timeout(20)
        void asksNothingOfAServerThatEndsToo() {
            TestContext context = TestContext.open(SETTINGS, DriverAdapters.of(SETTINGS.driver()), "end");
            Path root = context.place().root();

            context.store()
                    .orElseThrow()
                    .await(
                            "nodes",
                            whileItIsLocked -> {
                                context.close();
                                return true;
                            },
                            Duration.ZERO);

            assertThat(context.isClosed()).isTrue();
            assertThat(root).doesNotExist();
        }

        @Test
        void killsEachInstanceEvenIfOneSurvives() {
            List<String> notes = new ArrayList<>();
            TestContext context = TestContext.open(SETTINGS, new Stubborn(), "end", notes::add);
            Path root = context.place().root();
            Instance one = context.driver().launch(Map.of());
            Instance other = context.driver().launch(Map.of());

            context.close();

            assertThat(List.of(one.isAlive(), other.isAlive())).containsExactly(false, false);
            assertThat(notes).containsExactly("it survived");
            assertThat(root).doesNotExist();
        }

        @ParameterizedTest
        @ValueSource(strings = {"runs", "was terminated", "was killed"})
        void killsWhatADriverHasStarted(String state) throws Exception {
            TestContext context = TestContext.open(
                    SETTINGS, new ProcessDriver(List.of("sh", "-c", WRAPPER), Map.of(), Duration.ofSeconds(1)), "end");
            Path pid = context.place().root().resolve("pid");
            Instance wrapper = context.driver().launch(Map.of());
            while (!Files.exists(pid) || Files.size(pid) == 0) {
                Thread.onSpinWait();
            }
            ProcessHandle driver = ProcessHandle.of(
                            Long.parseLong(Files.readString(pid).strip()))
                    .orElseThrow();
            if (state.equals("was terminated")) {
                wrapper.terminate();
                assertThat(wrapper.awaitExit(Duration.ofSeconds(10))).isPresent();
            } else if (state.equals("was killed")) {
                wrapper.kill();
            }

            context.close();

            assertThat(driver.onExit()).succeedsWithin(Duration.ofSeconds(10));
        }

        /** A driver of which no instance can be killed for sure. */
        private static final class Stubborn implements DriverAdapter {

            @Override
            public Duration startTimeout() {
                return Duration.ofSeconds(1);
            }

            @Override
            public Instance start(Place place, Map<String, String> more) {
                return new Instance() {
                    private boolean killed;

                    @Override
                    public boolean isAlive() {
                        return !killed;
                    }

                    @Override
                    public void terminate() {}

                    @Override
                    public void kill() {
                        killed = true;
                        throw new DriverUnusable("it survived");
                    }

                    @Override
                    public OptionalInt awaitExit(Duration timeout) {
                        return OptionalInt.empty();
                    }
                };
            }
        }
    }

    @Nested
    @Tag("gate")
    class RealApiServer {

        @TempDir
        private Path folder;

        @AutoClose
        private EmbeddedApiServer real;

        @BeforeEach
        void start() throws Exception {
            real = EmbeddedApiServer.builder().node("of-others").start();
            real.writeKubeconfig(folder.resolve("kubeconfig"));
        }

        private Settings settings(String driver) {
            String text = """
                    apiServer: {kubeconfig: %s}
                    driver:
                      name: gpu.example.com
                    %s""".formatted(folder.resolve("kubeconfig"), driver.indent(2));
            return SettingsReader.parse(text, "the test", Map.of());
        }

        private Settings external(int port) throws Exception {
            Path registry = Files.createDirectories(folder.resolve("registry"));
            return settings("""
                    kind: external
                    external: {node: of-others, registry: %s, cdi: %s, proxyPort: %d}
                    hooks: {start: [touch, %2$s/started], stop: [x], kill: [rm, %2$s/started]}
                    """.formatted(registry, folder, port));
        }

        private static TestContext open(Settings settings) {
            return TestContext.open(settings, DriverAdapters.of(settings.driver()), "real");
        }

        @Test
        void getsANodeAndANamespaceOfItsOwnWhichGoInTheEnd() {
            TestContext context = open(settings("process: {command: [x]}"));
            try (TestContext other = open(settings("process: {command: [x]}"))) {
                assertThat(own("namespaces"))
                        .containsExactlyInAnyOrder(
                                context.place().node(), other.place().node());
            }

            assertThat(context.place().kubeconfig())
                    .content()
                    .contains("server: https://127.0.0.1:", "tokenFile: service-account/token");
            assertThat(context.place().serviceAccount().resolve("namespace"))
                    .hasContent(context.place().node());
            assertThat(own("nodes")).containsExactly(context.place().node());
            assertThat(own("namespaces")).containsExactly(context.place().node());
            context.close();

            assertThat(own("nodes")).isEmpty();
            assertThat(own("namespaces")).isEmpty();
        }

        private List<String> own(String resource) {
            return real.store().list(resource).stream()
                    .map(object -> object.at("/metadata/name").asText())
                    .filter(name -> name.startsWith("dra-conformance-real-"))
                    .toList();
        }

        @Test
        void isAskedOnceMoreWhenItDoesNotAnswerInTheEnd() throws Exception {
            try (ApiProxy broken = ApiProxy.before(real.url())) {
                broken.writeKubeconfig(folder.resolve("kubeconfig"));
                List<String> notes = new ArrayList<>();
                Settings settings = settings("process: {command: [x]}");
                TestContext context =
                        TestContext.open(settings, DriverAdapters.of(settings.driver()), "real", notes::add);
                broken.inject(Fault.drop());

                context.close();

                assertThat(broken.requests(request -> request.method().equals("DELETE")))
                        .hasSize(1);
                assertThat(notes).hasSize(3).allMatch(note -> note.startsWith("Objects of this run are left"));
            }
        }

        /** A hook for signals waits while an execution group ends. */
        @Test
        void notesOnceWhatCannotBeRemoved() throws Exception {
            List<String> notes = new ArrayList<>();
            AtomicReference<TestContext> open = new AtomicReference<>();
            Thread hook = new Thread(() -> open.get().close());
            Settings settings = settings("process: {command: [x]}");
            open.set(TestContext.open(settings, DriverAdapters.of(settings.driver()), "real", note -> {
                notes.add(note + open.get().isClosed());
                if (notes.size() == 1) {
                    hook.start();
                    while (hook.isAlive() && hook.getState() != Thread.State.BLOCKED) {
                        Thread.onSpinWait();
                    }
                }
            }));
            String node = open.get().place().node();
            real.close();

            open.get().close();
            hook.join();

            assertThat(open.get().isClosed()).isTrue();
            assertThat(notes)
                    .hasSizeGreaterThan(1)
                    .doesNotHaveDuplicates()
                    .allMatch(note -> note.contains("are left on the API server") && note.endsWith("false"))
                    .anyMatch(note -> note.contains("/api/v1/namespaces/" + node));
        }

        @Test
        void keepsTheNodeOfAnExternalDriverAndListensWhereThatLooks() throws Exception {
            int port = UnusedPorts.next();

            TestContext context = open(external(port));
            assertThat(context.proxy().url()).hasPort(port);
            assertThat(context.place().kubeconfig()).content().contains("server: http://127.0.0.1:" + port + "\n");
            context.driver().use(context.driver().launch(Map.of()));
            context.close();

            assertThat(folder.resolve("started")).exists();
            assertThat(real.store().find("nodes", "", "of-others")).isPresent();
        }

        @Test
        void isRefusedInOneLineWhenItsPortIsTaken() throws Exception {
            try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                Settings settings = external(taken.getLocalPort());

                assertThatThrownBy(() -> open(settings))
                        .isInstanceOf(DriverUnusable.class)
                        .hasMessageContainingAll("proxyPort", ":" + taken.getLocalPort(), "taken?");
            }
        }

        @Test
        void isRefusedInOneLineWhenTheServerIsTooOldAndLeavesNothing() throws Exception {
            try (ApiProxy old = ApiProxy.before(real.url())) {
                old.inject(Fault.status(404, "NotFound")
                        .on(request -> request.path().equals("/apis/resource.k8s.io/v1")));
                old.writeKubeconfig(folder.resolve("kubeconfig"));
                Places places = new Places();

                assertThatThrownBy(() -> TestContext.open(settings("process: {command: [x]}"), places, "real"))
                        .isInstanceOf(ApiRequestException.class)
                        .hasMessageContainingAll("Kubernetes v1.36", "does not serve resource.k8s.io/v1", "1.34")
                        .hasMessageNotContaining("\n");

                assertThat(places.roots)
                        .singleElement()
                        .satisfies(r -> assertThat(r).doesNotExist());
                assertThat(own("nodes")).isEmpty();
            }
        }

        @Test
        void isUsedWhereItsMetricsCannotBeRead() throws Exception {
            try (ApiProxy broken = ApiProxy.before(real.url())) {
                broken.inject(Fault.drop().on(request -> request.path().equals("/metrics")));
                broken.writeKubeconfig(folder.resolve("kubeconfig"));
                try (TestContext context = open(settings("process: {command: [x]}"))) {
                    assertThat(context.kubernetes().text()).contains("Kubernetes v1.36", "gates: not known");
                }
                broken.inject(Fault.stall());
                assertThat(new ApiObjects(broken.url()).lines("/", "", Duration.ofMillis(300)))
                        .isEmpty();
            }
        }

        /** A driver that is never started, where it would be. */
        private static final class Places implements DriverAdapter {
            private final List<Path> roots = new ArrayList<>();

            @Override
            public Place place(String node, String driver) {
                Place place = Place.create(node, driver);
                roots.add(place.root());
                return place;
            }

            @Override
            public boolean controlsProcess() {
                return false;
            }

            @Override
            public Duration startTimeout() {
                return Duration.ofSeconds(1);
            }

            @Override
            public Instance start(Place place, Map<String, String> more) {
                throw new DriverUnusable("it is never started");
            }
        }
    }
}
