// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1.Device;
import io.dra4j.kubelet.dra.v1.NodePrepareResourceResponse;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesRequest;
import io.dra4j.kubelet.health.v1.DRAResourceHealthGrpc;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesRequest;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationStatus;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.health.HealthReports;
import io.dra4j.runtime.internal.kubelet.KubeletPlugin.StaleSockets;
import io.dra4j.runtime.internal.kubelet.SocketClient.Named;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

/** Over real sockets. */
class KubeletPluginTest extends SocketFixture implements ScenarioSteps {

    private static final Claim CLAIM = claim(UID);
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final FakeClaims claims = new FakeClaims();

    @AutoClose
    private final SocketClient client = new SocketClient();

    @AutoClose
    private KubeletPlugin plugin;

    private KubeletPlugin successor;
    private Object inode;
    private final CountDownLatch release = new CountDownLatch(1);
    private CompletableFuture<Map<String, NodePrepareResourceResponse>> call;

    @BeforeEach
    void start() {
        plugin = startPlugin();
    }

    private KubeletPlugin startPlugin() {
        KubeletPlugin started = KubeletPlugin.start(sockets, claims, null, Meters.none(), Clock.systemUTC());
        started.publish();
        return started;
    }

    private DRAPluginGrpc.DRAPluginBlockingStub service() {
        return DRAPluginGrpc.newBlockingStub(client.channel(sockets.service(), "localhost"))
                .withDeadlineAfter(LIMIT);
    }

    private RegistrationGrpc.RegistrationBlockingStub registration() {
        return RegistrationGrpc.newBlockingStub(client.channel(sockets.registration(), "localhost"))
                .withDeadlineAfter(LIMIT);
    }

    private DRAResourceHealthGrpc.DRAResourceHealthBlockingStub health() {
        return DRAResourceHealthGrpc.newBlockingStub(client.channel(sockets.service(), "localhost"))
                .withDeadlineAfter(LIMIT);
    }

    private static String name(RegistrationGrpc.RegistrationBlockingStub registration) {
        return registration.getInfo(InfoRequest.getDefaultInstance()).getName();
    }

    private static Claim claim(String uid) {
        return Claim.newBuilder()
                .setNamespace("ns")
                .setName("claim")
                .setUid(uid)
                .build();
    }

    private static NodePrepareResourcesRequest request(Claim... claims) {
        return NodePrepareResourcesRequest.newBuilder()
                .addAllClaims(List.of(claims))
                .build();
    }

    private Map<String, NodePrepareResourceResponse> prepare(Claim... claims) {
        return service().nodePrepareResources(request(claims)).getClaimsMap();
    }

    /** Unprepares a claim, and returns its error. */
    private static String unprepare(DRAPluginGrpc.DRAPluginBlockingStub service, Claim claim) {
        return service.nodeUnprepareResources(NodeUnprepareResourcesRequest.newBuilder()
                        .addClaims(claim)
                        .build())
                .getClaimsOrThrow(claim.getUid())
                .getError();
    }

    @Nested
    class Registration {

        @Test
        void saysWhatTheKubeletMustKnow() {
            PluginInfo info = registration().getInfo(InfoRequest.getDefaultInstance());

            assertThat(info.getType()).isEqualTo("DRAPlugin");
            assertThat(info.getName()).isEqualTo("gpu.example.com");
            assertThat(info.getEndpoint()).isEqualTo(sockets.service().toString());
            assertThat(info.getSupportedVersionsList()).containsExactly("v1.DRAPlugin", "v1beta1.DRAPlugin");
        }

        @Test
        void isConfirmedOrRefusedAnyNumberOfTimes() throws InterruptedException {
            RegistrationStatus refused =
                    RegistrationStatus.newBuilder().setError("no").build();
            registration().notifyRegistrationStatus(refused);
            assertThat(plugin.awaitRegistered(Duration.ZERO)).isFalse();

            RegistrationStatus confirmed =
                    RegistrationStatus.newBuilder().setPluginRegistered(true).build();
            registration().notifyRegistrationStatus(confirmed);
            registration().notifyRegistrationStatus(refused);

            assertThat(plugin.awaitRegistered(Duration.ZERO)).isTrue();
            assertThat(plugin.isRegistered()).as("since the kubelet refused it").isFalse();
            assertThat(name(registration())).isEqualTo(DRIVER);
        }

        @Test
        void answersWhileEveryPrepareHangs() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            var first = hanging(release);
            var second = hanging(release);

            assertThat(name(registration().withDeadlineAfter(Duration.ofSeconds(5))))
                    .isEqualTo(DRIVER);
            release.countDown();
            assertThat(first.get(20, TimeUnit.SECONDS)).hasSize(1);
            assertThat(second.get(20, TimeUnit.SECONDS)).hasSize(1);
        }
    }

    @Nested
    class Calls {

        @Test
        void areAnsweredInV1WithTheShare() {
            NodePrepareResourceResponse result = prepare(CLAIM).get(UID);

            assertThat(result.getError()).isEmpty();
            assertThat(result.getDevicesList())
                    .containsExactly(Device.newBuilder()
                            .addRequestNames("r")
                            .setPoolName("pool")
                            .setDeviceName("gpu-0")
                            .addCdiDeviceIds("v/c=d")
                            .setShareId("share-1")
                            .build());
        }

        @Test
        void areAnsweredInV1beta1TheSameButForTheShare() {
            String name = "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin";
            var v1beta1 = service().withInterceptors(new Named(name));

            var prepared = v1beta1.nodePrepareResources(request(CLAIM)).getClaimsOrThrow(UID);

            assertThat(prepared.getDevices(0))
                    .isEqualTo(prepare(CLAIM).get(UID).getDevices(0).toBuilder()
                            .clearShareId()
                            .build());
            assertThat(unprepare(v1beta1, CLAIM)).isEqualTo("busy");
        }

        @Test
        void forTheHealthOfDevicesAreAnsweredInBothVersions() {
            plugin.close();
            Inventory inventory = Inventory.of(Pool.ofNode(
                    "pool", List.of(io.dra4j.api.device.Device.builder("gpu-0").build())));
            HealthFeed feed = new HealthFeed(new HealthReports(), () -> Optional.of(inventory));
            plugin = KubeletPlugin.start(sockets, claims, feed, Meters.none(), Clock.systemUTC());
            plugin.publish();
            var v1alpha1 = health().withInterceptors(new Named("v1alpha1.DRAResourceHealth"));

            for (var version : List.of(health(), v1alpha1)) {
                var first = version.nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance())
                        .next();
                assertThat(first.getDevicesList())
                        .extracting(device -> device.getDevice().getDeviceName())
                        .containsExactly("gpu-0");
            }
        }

        @Test
        void unprepareByTheUidWithAnyNames() {
            Claim odd = CLAIM.toBuilder().setNamespace("").setName("../x").build();

            assertThat(unprepare(service(), odd)).as("it was requested for").isEqualTo("busy");
        }

        @Test
        void haveAnIdForAllThatTheyLogEach() {
            Set<String> ids = ConcurrentHashMap.newKeySet();
            claims.before = () -> ids.add(MDC.get("op.id"));

            prepare(CLAIM);
            prepare(CLAIM);

            assertThat(ids).hasSize(2).allMatch(id -> id.matches("\\d+"));
        }

        @Test
        void thatNameAClaimTwiceAskForItOnce() {
            assertThat(prepare(CLAIM, CLAIM)).hasSize(1);
            assertThat(claims.requested).hasSize(1);
        }

        @ParameterizedTest
        @ValueSource(strings = {"../../etc/passwd", "", "a/b", "\u0000", "ü", "-x"})
        void thatNameNoClaimGoNoFurther(String uid) {
            var prepared = prepare(claim(uid), CLAIM);
            assertThat(prepared.get(uid).getError()).contains("Not the UID of a claim");
            assertThat(prepared.get(UID).getError()).isEmpty();

            assertThat(unprepare(service(), claim(uid)))
                    .as("unknown is unprepared")
                    .isEmpty();
            assertThat(claims.requested).extracting(ClaimRef::uid).containsExactly(UID);
        }

        @Test
        void thatFailUnexpectedlyAreInternalAndTheNextOneWorks() {
            claims.before = () -> {
                throw new IllegalStateException("secret");
            };
            assertThatThrownBy(() -> prepare(CLAIM)).hasMessage("INTERNAL: internal error of the driver; see its log");

            claims.before = () -> {};
            assertThat(prepare(CLAIM)).hasSize(1);
        }

        @Test
        void ofServicesThatAreNotServedAreUnimplementedAtOnce() {
            assertThatThrownBy(() -> health().nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance())
                            .hasNext())
                    .hasMessageStartingWith("UNIMPLEMENTED");
        }

        @ParameterizedTest
        @ValueSource(strings = {"localhost", "%2Ftmp%2Fx%2Fgpu.example.com-reg.sock", "a:1"})
        void comeWithAnyAuthority(String authority) {
            var registrar = client.channel(sockets.registration(), authority);
            var service = client.channel(sockets.service(), authority);
            assertThat(name(RegistrationGrpc.newBlockingStub(registrar))).isEqualTo(DRIVER);
            var prepared = DRAPluginGrpc.newBlockingStub(service).nodePrepareResources(request());
            assertThat(prepared.getClaimsMap()).isEmpty();
        }

        @Test
        void inFlightEndWhenThePluginCloses() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            var call = hanging(release);

            CompletableFuture<Void> closed = CompletableFuture.runAsync(plugin::close);
            release.countDown();

            assertThat(call.get(20, TimeUnit.SECONDS)).hasSize(1);
            closed.get(20, TimeUnit.SECONDS);
        }
    }

    /** The JDK refuses a socket outside the default file system, not with a DraException. */
    @Test
    void aStartThatFailsUnexpectedlyLeavesNothing() throws Exception {
        plugin.close();
        HealthFeed feed = new HealthFeed(new HealthReports(), Optional::empty);
        CountDownLatch ended = new CountDownLatch(1);
        try (FileSystem zip = FileSystems.newFileSystem(root.resolve("z.zip"), Map.of("create", "true"))) {
            PluginSockets unusable = new PluginSockets(DRIVER, zip.getPath("/"), data, null);

            assertThatThrownBy(() -> KubeletPlugin.start(unusable, claims, feed, Meters.none(), Clock.systemUTC()))
                    .isInstanceOf(IllegalArgumentException.class);
        }

        assertThat(data).isEmptyDirectory();
        feed.join(new HealthFeed.Listener() {
            @Override
            public void update(List<HealthReports.Current> devices) {}

            @Override
            public void end() {
                ended.countDown();
            }
        });
        assertThat(ended.getCount()).as("the feed is closed").isZero();
    }

    /** During an update two instances may start at the same time. */
    @Test
    void hiddenSocketsThatAreGoneWhenAStartLooksAtThemDoNotDisturbIt() throws IOException {
        plugin.close();
        List<Path> hidden = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            hidden.add(Files.createFile(sockets.hidden(sockets.service())));
        }

        InstantSource removing = () -> {
            hidden.forEach(path -> path.toFile().delete());
            return Instant.now();
        };

        assertThatCode(() -> new StaleSockets(sockets, removing).remove()).doesNotThrowAnyException();
    }

    private Path path(String word) {
        return switch (word) {
            case "service" -> sockets.service();
            case "registration" -> sockets.registration();
            case "registry" -> registry;
            default -> root.resolve(word);
        };
    }

    private Stream<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(path -> !Files.isDirectory(path)).sorted().toList().stream();
        }
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "close" -> plugin.close();
            case "start" -> plugin = startPlugin();
            case "start-fails" ->
                assertThatThrownBy(this::startPlugin)
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            case "successor-starts" -> successor = startPlugin();
            case "successor-looks" -> successor.look();
            case "successor-closes" -> successor.close();
            case "look" -> plugin.look();
            case "look-fails" ->
                assertThatThrownBy(plugin::look).hasMessageContaining(text.replace("{registry}", registry.toString()));
            case "create" -> Files.createFile(path(words[1]));
            case "create-directory" -> Files.createDirectory(path(words[1]));
            case "delete" -> Files.delete(path(words[1]));
            case "move" -> Files.move(path(words[1]), path(words[2]));
            case "bind-and-close" ->
                ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                        .bind(UnixDomainSocketAddress.of(path(words[1])))
                        .close();
            case "remember" -> inode = SocketFile.inode(path(words[1]));
            case "same" -> assertThat(SocketFile.inode(path(words[1]))).isEqualTo(inode);
            case "files" -> assertThat(list(files().map(root::relativize))).isEqualTo(text);
            case "owner-only" ->
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path(words[1]))))
                        .isEqualTo("rw-------");
            case "call-hangs" -> call = hanging(release);
            case "call-ends" -> {
                release.countDown();
                assertThat(call.get(20, TimeUnit.SECONDS)).hasSize(1);
            }
            case "serves" -> assertThat(prepare(CLAIM)).hasSize(1);
            case "registers" -> assertThat(name(registration())).isEqualTo(DRIVER);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("socket-files.txt")
    void socketsComeBackUnlessTheyAreOfAnother(String scenario) throws Exception {
        play(scenario);
    }

    /** Begins a call that ends when it is released. */
    private CompletableFuture<Map<String, NodePrepareResourceResponse>> hanging(CountDownLatch release)
            throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        claims.before = () -> {
            begun.countDown();
            awaitQuietly(release);
        };
        var call = CompletableFuture.supplyAsync(() -> prepare(CLAIM), task -> new Thread(task).start());
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        return call;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
