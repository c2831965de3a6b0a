// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.UnknownFieldSet;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1.NodePrepareResourceResponse;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesResponse;
import io.dra4j.kubelet.health.v1.DRAResourceHealthGrpc;
import io.dra4j.kubelet.health.v1.NodeWatchResourcesRequest;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationStatus;
import io.dra4j.runtime.internal.claim.ClaimOperations;
import io.dra4j.runtime.internal.claim.PrepareOutcome;
import io.dra4j.runtime.internal.claim.PrepareOutcome.DeviceResult;
import io.dra4j.runtime.internal.claim.UnprepareOutcome;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.health.HealthReports;
import io.dra4j.runtime.internal.kubelet.SocketClient.Named;
import io.dra4j.runtime.internal.observe.Meters;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over real sockets, with a client of the test's own. */
class KubeletPluginTest {

    private static final String UID = "0f8fad5b-d9cb-469f-a165-70867728950e";

    private final SocketClient client = new SocketClient();
    private final FakeClaims claims = new FakeClaims();
    private Path root;
    private PluginSockets sockets;
    private KubeletPlugin plugin;

    @BeforeEach
    void start() throws IOException {
        root = Files.createTempDirectory(Path.of("/tmp"), "dk-");
        Files.createDirectory(root.resolve("registry"));
        Files.createDirectory(root.resolve("data"));
        sockets =
                new PluginSockets(
                        "gpu.example.com", root.resolve("registry"), root.resolve("data"), null);
        plugin = startPlugin();
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        plugin.close();
        try (Stream<Path> left = Files.walk(root)) {
            left.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }

    private KubeletPlugin startPlugin() {
        return KubeletPlugin.start(sockets, claims, null, Meters.none(), Clock.systemUTC());
    }

    private DRAPluginGrpc.DRAPluginBlockingStub service() {
        return DRAPluginGrpc.newBlockingStub(client.channel(sockets.service(), "localhost"))
                .withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    private RegistrationGrpc.RegistrationBlockingStub registration() {
        return RegistrationGrpc.newBlockingStub(client.channel(sockets.registration(), "localhost"))
                .withDeadlineAfter(20, TimeUnit.SECONDS);
    }

    private static Claim claim(String uid) {
        return Claim.newBuilder().setNamespace("ns").setName("claim").setUid(uid).build();
    }

    private static NodePrepareResourcesRequest request(Claim... claims) {
        return NodePrepareResourcesRequest.newBuilder().addAllClaims(List.of(claims)).build();
    }

    private static NodeUnprepareResourcesResponse unprepare(
            DRAPluginGrpc.DRAPluginBlockingStub service, Claim claim) {
        return service.nodeUnprepareResources(
                NodeUnprepareResourcesRequest.newBuilder().addClaims(claim).build());
    }

    /** Returns one device for every claim; can be made to wait or to fail. */
    private static final class FakeClaims implements ClaimOperations {
        private final List<ClaimRef> requested = new CopyOnWriteArrayList<>();
        private volatile Runnable before = () -> {};

        @Override
        public Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline) {
            requested.addAll(claims);
            before.run();
            Map<ClaimRef, PrepareOutcome> outcomes = new LinkedHashMap<>();
            for (ClaimRef claim : claims) {
                DeviceResult device =
                        new DeviceResult(
                                List.of("r"), "pool", "gpu-0", List.of("v/c=d"), "share-1");
                outcomes.put(claim, new PrepareOutcome.Prepared(List.of(device)));
            }
            return outcomes;
        }

        @Override
        public Map<String, UnprepareOutcome> unprepare(List<String> uids, Instant deadline) {
            Map<String, UnprepareOutcome> outcomes = new LinkedHashMap<>();
            uids.forEach(claim -> outcomes.put(claim, new UnprepareOutcome.Failed("busy")));
            return outcomes;
        }
    }

    @Nested
    class Registration {

        @Test
        void saysWhatTheKubeletMustKnow() {
            PluginInfo info = registration().getInfo(InfoRequest.getDefaultInstance());

            assertThat(info.getType()).isEqualTo("DRAPlugin");
            assertThat(info.getName()).isEqualTo("gpu.example.com");
            assertThat(info.getEndpoint()).isEqualTo(sockets.service().toString());
            assertThat(info.getSupportedVersionsList())
                    .containsExactly("v1.DRAPlugin", "v1beta1.DRAPlugin");
        }

        @Test
        void isConfirmedOrRefusedAnyNumberOfTimes() throws InterruptedException {
            RegistrationStatus refused = RegistrationStatus.newBuilder().setError("no").build();
            registration().notifyRegistrationStatus(refused);
            assertThat(plugin.awaitRegistered(Duration.ZERO)).isFalse();

            RegistrationStatus confirmed =
                    RegistrationStatus.newBuilder().setPluginRegistered(true).build();
            registration().notifyRegistrationStatus(confirmed);
            registration().notifyRegistrationStatus(refused);

            assertThat(plugin.awaitRegistered(Duration.ZERO)).isTrue();
            assertThat(plugin.isRegistered()).as("since the kubelet refused it").isFalse();
            assertThat(registration().getInfo(InfoRequest.getDefaultInstance()).getName())
                    .isNotEmpty();
        }

        @Test
        void answersWhileEveryPrepareHangs() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            claims.before = () -> awaitQuietly(release);
            Supplier<NodePrepareResourcesResponse> call =
                    () -> service().nodePrepareResources(request(claim(UID)));
            List<CompletableFuture<NodePrepareResourcesResponse>> hanging =
                    List.of(
                            CompletableFuture.supplyAsync(call),
                            CompletableFuture.supplyAsync(call));

            assertThat(
                            registration()
                                    .withDeadlineAfter(5, TimeUnit.SECONDS)
                                    .getInfo(InfoRequest.getDefaultInstance())
                                    .getName())
                    .isEqualTo("gpu.example.com");
            release.countDown();
            for (CompletableFuture<NodePrepareResourcesResponse> one : hanging) {
                assertThat(one.get(20, TimeUnit.SECONDS).getClaimsMap()).hasSize(1);
            }
        }
    }

    @Nested
    class Calls {

        @Test
        void areAnsweredInV1WithTheShare() {
            NodePrepareResourceResponse answer =
                    service().nodePrepareResources(request(claim(UID))).getClaimsOrThrow(UID);

            assertThat(answer.getError()).isEmpty();
            assertThat(answer.getDevices(0).getRequestNamesList()).containsExactly("r");
            assertThat(answer.getDevices(0).getPoolName()).isEqualTo("pool");
            assertThat(answer.getDevices(0).getDeviceName()).isEqualTo("gpu-0");
            assertThat(answer.getDevices(0).getCdiDeviceIdsList()).containsExactly("v/c=d");
            assertThat(answer.getDevices(0).getShareId()).isEqualTo("share-1");
        }

        @Test
        void areAnsweredInV1beta1TheSameButForTheShare() {
            String name = "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin";
            var v1beta1 = service().withInterceptors(new Named(name));
            var inV1 = service().nodePrepareResources(request(claim(UID))).getClaimsOrThrow(UID);

            var prepared = v1beta1.nodePrepareResources(request(claim(UID))).getClaimsOrThrow(UID);
            var unprepared = unprepare(v1beta1, claim(UID));

            assertThat(prepared.getDevices(0))
                    .isEqualTo(inV1.getDevices(0).toBuilder().clearShareId().build());
            assertThat(unprepared.getClaimsOrThrow(UID).getError()).isEqualTo("busy");
        }

        @Test
        void forTheHealthOfDevicesAreAnsweredInBothVersions() {
            plugin.close();
            Inventory inventory =
                    Inventory.of(Pool.ofNode("pool", List.of(Device.builder("gpu-0").build())));
            HealthFeed feed = new HealthFeed(new HealthReports(), () -> Optional.of(inventory));
            plugin = KubeletPlugin.start(sockets, claims, feed, Meters.none(), Clock.systemUTC());
            var stub =
                    DRAResourceHealthGrpc.newBlockingStub(
                                    client.channel(sockets.service(), "localhost"))
                            .withDeadlineAfter(20, TimeUnit.SECONDS);
            var v1alpha1 = stub.withInterceptors(new Named("v1alpha1.DRAResourceHealth"));

            for (var version : List.of(stub, v1alpha1)) {
                var first =
                        version.nodeWatchResources(NodeWatchResourcesRequest.getDefaultInstance())
                                .next();
                assertThat(first.getDevicesList())
                        .extracting(device -> device.getDevice().getDeviceName())
                        .containsExactly("gpu-0");
            }
        }

        @Test
        void reportTheErrorOfEachClaim() {
            var answer = unprepare(service(), claim(UID));

            assertThat(answer.getClaimsOrThrow(UID).getError()).isEqualTo("busy");
        }

        @Test
        void unprepareByTheUidWithAnyNames() {
            Claim odd = claim(UID).toBuilder().setNamespace("").setName("../x").build();

            var answer = unprepare(service(), odd);

            assertThat(answer.getClaimsOrThrow(UID).getError())
                    .as("it was requested for")
                    .isNotEmpty();
        }

        @Test
        void forNoClaimsAreAnsweredWithNone() {
            assertThat(service().nodePrepareResources(request()).getClaimsMap()).isEmpty();
        }

        @Test
        void thatNameAClaimTwiceAskForItOnce() {
            assertThat(
                            service()
                                    .nodePrepareResources(request(claim(UID), claim(UID)))
                                    .getClaimsMap())
                    .hasSize(1);
            assertThat(claims.requested).hasSize(1);
        }

        @ParameterizedTest
        @ValueSource(strings = {"../../etc/passwd", "", "a/b", "\u0000", "ü", "-x"})
        void thatNameNoClaimGoNoFurther(String uid) {
            NodePrepareResourcesResponse prepared =
                    service().nodePrepareResources(request(claim(uid), claim(UID)));
            assertThat(prepared.getClaimsOrThrow(uid).getError())
                    .contains("Not the UID of a claim");
            assertThat(prepared.getClaimsOrThrow(UID).getError()).isEmpty();

            var unprepared = unprepare(service(), claim(uid));
            assertThat(unprepared.getClaimsOrThrow(uid).getError())
                    .as("what is unknown is unprepared")
                    .isEmpty();
            assertThat(claims.requested).extracting(ClaimRef::uid).containsExactly(UID);
        }

        @Test
        void withFieldsOfTheFutureAreUnderstood() {
            UnknownFieldSet future =
                    UnknownFieldSet.newBuilder()
                            .addField(99, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                            .build();
            NodePrepareResourcesRequest request =
                    request(claim(UID)).toBuilder().setUnknownFields(future).build();

            assertThat(service().nodePrepareResources(request).getClaimsMap()).containsKey(UID);
        }

        @Test
        void thatFailUnexpectedlyAreInternalAndTheNextOneWorks() {
            claims.before =
                    () -> {
                        throw new IllegalStateException("secret");
                    };
            assertThatThrownBy(() -> service().nodePrepareResources(request(claim(UID))))
                    .hasMessage("INTERNAL: internal error of the driver; see its log");

            claims.before = () -> {};
            assertThat(service().nodePrepareResources(request(claim(UID))).getClaimsMap())
                    .hasSize(1);
        }

        @Test
        void ofMoreThanFourMebibytesAreRefusedAndTheNextOneWorks() {
            Claim large = claim(UID).toBuilder().setName("x".repeat(5 << 20)).build();

            assertStatus(
                    Status.Code.RESOURCE_EXHAUSTED,
                    () -> service().nodePrepareResources(request(large)));
            assertThat(service().nodePrepareResources(request(claim(UID))).getClaimsMap())
                    .hasSize(1);
        }

        @Test
        void ofServicesThatAreNotServedAreUnimplementedAtOnce() {
            assertStatus(
                    Status.Code.UNIMPLEMENTED,
                    () ->
                            DRAResourceHealthGrpc.newBlockingStub(
                                            client.channel(sockets.service(), "localhost"))
                                    .nodeWatchResources(
                                            NodeWatchResourcesRequest.getDefaultInstance())
                                    .hasNext());
        }

        private void assertStatus(Status.Code code, Runnable call) {
            assertThatThrownBy(call::run)
                    .isInstanceOf(StatusRuntimeException.class)
                    .extracting(e -> ((StatusRuntimeException) e).getStatus().getCode())
                    .isEqualTo(code);
        }

        @ParameterizedTest
        @ValueSource(strings = {"localhost", "%2Ftmp%2Fx%2Fgpu.example.com-reg.sock", "a:1"})
        void comeWithAnyAuthority(String authority) {
            assertThat(
                            RegistrationGrpc.newBlockingStub(
                                            client.channel(sockets.registration(), authority))
                                    .getInfo(InfoRequest.getDefaultInstance())
                                    .getName())
                    .isEqualTo("gpu.example.com");
            assertThat(
                            DRAPluginGrpc.newBlockingStub(
                                            client.channel(sockets.service(), authority))
                                    .nodePrepareResources(request())
                                    .getClaimsMap())
                    .isEmpty();
        }

        @Test
        void inFlightEndWhenThePluginCloses() throws Exception {
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            claims.before =
                    () -> {
                        begun.countDown();
                        awaitQuietly(release);
                    };
            DRAPluginGrpc.DRAPluginBlockingStub stub = service();
            CompletableFuture<NodePrepareResourcesResponse> call =
                    CompletableFuture.supplyAsync(
                            () -> stub.nodePrepareResources(request(claim(UID))));
            assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

            CompletableFuture<Void> closed = CompletableFuture.runAsync(plugin::close);
            release.countDown();

            assertThat(call.get(20, TimeUnit.SECONDS).getClaimsMap()).hasSize(1);
            closed.get(20, TimeUnit.SECONDS);
        }
    }

    @Nested
    class SocketFiles {

        @Test
        void areForTheOwnerAloneAndNothingElseIsLeft() throws IOException {
            assertThat(files())
                    .containsExactlyInAnyOrder(sockets.service(), sockets.registration());
            for (Path socket : files()) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                        .isEqualTo("rw-------");
            }

            plugin.close();
            assertThat(files()).isEmpty();
        }

        @Test
        void thatAKilledProcessLeftAreReplaced() throws IOException {
            Path stale = root.resolve("stale");
            Files.move(sockets.service(), stale); // a socket that stays
            plugin.close();
            Files.move(stale, sockets.service());

            plugin = startPlugin();

            assertThat(service().nodePrepareResources(request()).getClaimsMap()).isEmpty();
        }

        @Test
        void ofASuccessorAreNotRemoved() throws IOException {
            KubeletPlugin successor = startPlugin();
            plugin.close();

            assertThat(service().nodePrepareResources(request()).getClaimsMap()).isEmpty();
            successor.close();
            assertThat(files()).isEmpty();
        }

        @Test
        void ofOthersAreNotTouched() throws IOException {
            Path foreign = Files.writeString(root.resolve("registry/other-reg.sock"), "x");
            plugin.close();
            plugin = startPlugin();
            plugin.close();

            assertThat(foreign).hasContent("x");
        }

        @Test
        void areNotPutWhereADirectoryOrAFileIs() throws IOException {
            plugin.close();
            Files.createDirectory(sockets.registration());

            assertThatThrownBy(KubeletPluginTest.this::startPlugin)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("Something that is no socket is at the path")
                    .hasMessageContaining(sockets.registration() + "; remove it");
            assertThat(files()).as("no service socket is left").isEmpty();
        }

        @Test
        void needTheirDirectory() throws IOException {
            plugin.close();
            Files.delete(root.resolve("registry"));

            assertThatThrownBy(KubeletPluginTest.this::startPlugin)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("There is no directory " + root.resolve("registry"));
        }

        private List<Path> files() throws IOException {
            try (Stream<Path> all = Files.walk(root)) {
                return all.filter(path -> !Files.isDirectory(path)).toList();
            }
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
