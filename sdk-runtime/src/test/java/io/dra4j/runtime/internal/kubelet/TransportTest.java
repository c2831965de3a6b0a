// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.kubelet.WireBytes;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The transport below the kubelet's calls, over real sockets. */
@Tag("gate")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TransportTest extends SocketFixture {

    private static final int CALLS = 25_000; // more than twice the transport's limit of replies

    private final FakeClaims claims = new FakeClaims();
    private final List<SocketChannel> waiting = new ArrayList<>();

    @AutoClose
    private final SocketClient client = new SocketClient();

    @AutoClose
    private KubeletPlugin plugin;

    @BeforeEach
    void start() {
        plugin = KubeletPlugin.start(sockets, claims, null, Meters.none(), Clock.systemUTC());
        plugin.publish();
    }

    private PingingClient pinging() throws IOException {
        return new PingingClient(UnixDomainSocketAddress.of(sockets.service()));
    }

    private static String prepare() {
        return DRAPluginGrpc.getNodePrepareResourcesMethod().getFullMethodName();
    }

    @Test
    void aConnectionLastsForMoreCallsWithPingsAndPingsAloneThanTheTransportCounts() throws IOException {
        try (PingingClient kubelet = pinging()) {
            for (int i = 0; i < CALLS; i++) {
                kubelet.call(prepare());
            }
            for (int i = 0; i < CALLS; i++) {
                kubelet.ping();
            }
            kubelet.call(prepare());
        }
    }

    /** If this fails, a release of gRPC has fixed it: remove {@link PingReplies}. */
    @Test
    void theTransportAloneEndsTheConnection() throws IOException {
        Server bare = OkHttpServerBuilder.forPort(0, InsecureServerCredentials.create())
                .addService(new Info())
                .build()
                .start();
        String method = RegistrationGrpc.getGetInfoMethod().getFullMethodName();
        try (PingingClient kubelet = new PingingClient(bare.getListenSockets().get(0))) {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < CALLS; i++) {
                            kubelet.call(method);
                        }
                    })
                    .isInstanceOf(IOException.class);
        } finally {
            bare.shutdownNow();
        }
    }

    private static final class Info extends RegistrationGrpc.RegistrationImplBase {
        @Override
        public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
            response.onNext(PluginInfo.getDefaultInstance());
            response.onCompleted();
        }
    }

    @Test
    void sixtyFourCallsOfOneConnectionRunAtOnce() throws Exception {
        CountDownLatch begun = new CountDownLatch(64);
        CountDownLatch release = new CountDownLatch(1);
        claims.before = () -> {
            begun.countDown();
            awaitQuietly(release);
        };
        var stub = DRAPluginGrpc.newFutureStub(client.channel(sockets.service(), "localhost"));
        List<Future<NodePrepareResourcesResponse>> calls = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            calls.add(stub.nodePrepareResources(
                    NodePrepareResourcesRequest.newBuilder().build()));
        }
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        release.countDown();
        for (Future<?> call : calls) {
            assertThat(call.get(20, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theServerSeesThatACallIsCancelledOrPastItsDeadline(boolean cancels) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        claims.before = () -> {
            io.grpc.Context.current().addListener(context -> ended.countDown(), Runnable::run);
            begun.countDown();
            awaitQuietly(ended);
        };
        var stub = DRAPluginGrpc.newFutureStub(client.channel(sockets.service(), "localhost"))
                .withDeadlineAfter(Duration.ofSeconds(cancels ? 60 : 2));
        var call = stub.nodePrepareResources(NodePrepareResourcesRequest.getDefaultInstance());
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(claims.hasLeft.getAsBoolean()).isFalse();

        if (cancels) {
            call.cancel(true);
        } else {
            assertThatThrownBy(() -> call.get(20, TimeUnit.SECONDS)).hasMessageContaining("DEADLINE_EXCEEDED");
        }

        assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(claims.hasLeft.getAsBoolean()).isTrue();
    }

    @Test
    void aMessageOfFourMebibytesIsTakenAndALittleMoreIsRefusedWithItsSize() {
        var stub = DRAPluginGrpc.newBlockingStub(client.channel(sockets.service(), "localhost"));
        assertThat(stub.nodePrepareResources(sized(4 << 20)).getClaimsMap()).hasSize(1);
        assertThatThrownBy(() -> stub.nodePrepareResources(sized((4 << 20) + 1)))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessage("RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 4194304: 4194305");
        assertThat(stub.nodePrepareResources(sized(1 << 10)).getClaimsMap()).hasSize(1);
    }

    /**
     * The transport resets it unread. What was on its way by then stays subtracted from the window of the connection
     * (gRPC 1.82), so that later calls of this connection may wait for ever; on another they go on.
     */
    @Test
    void aMessageOfManyMebibytesIsResetAndAnotherConnectionWorks() {
        var first = DRAPluginGrpc.newBlockingStub(client.channel(sockets.service(), "localhost"));
        assertThatThrownBy(() -> first.nodePrepareResources(sized(20 << 20)))
                .isInstanceOf(StatusRuntimeException.class);
        var next = DRAPluginGrpc.newBlockingStub(client.channel(sockets.service(), "localhost"));
        assertThat(next.nodePrepareResources(sized(1 << 10)).getClaimsMap()).hasSize(1);
    }

    private static NodePrepareResourcesRequest sized(int bytes) {
        int name = bytes - 100;
        NodePrepareResourcesRequest request = named(name + bytes - named(name).getSerializedSize());
        assertThat(request.getSerializedSize()).isEqualTo(bytes);
        return request;
    }

    private static NodePrepareResourcesRequest named(int length) {
        return NodePrepareResourcesRequest.newBuilder()
                .addClaims(Claim.newBuilder().setNamespace("n").setUid(UID).setName("x".repeat(length)))
                .build();
    }

    @Test
    void aHalfClosedConnectionEndsAndAnotherWorks() throws IOException {
        try (PingingClient half = pinging()) {
            half.call(prepare());
            half.channel.shutdownOutput();
            assertThat(half.isEnded()).isTrue();
            try (PingingClient next = pinging()) {
                next.call(prepare());
            }
        }
    }

    @Test
    void aPathOfTheKernelsLongestLengthIsServedAlsoAfterAKillAndCalled() throws Exception {
        Path left = Files.createLink(root.resolve("left"), sockets.service()); // as a killed instance leaves it
        int missing = 107 - (root + "//dra.sock").length();
        Path deep = Files.createDirectory(root.resolve("d".repeat(missing)));
        sockets = new PluginSockets(DRIVER, registry, deep, null);
        assertThat(sockets.service().toString()).hasSize(107);
        plugin.close();
        Files.move(left, sockets.service());
        start();
        assertThatThrownBy(() -> new SocketFile(sockets.service(), left)).hasMessageContaining("Another driver");

        new SelfCall(sockets, Duration.ofSeconds(20)).toBoth(sockets.registration(), sockets.service());
        try (var files = Files.list(deep)) {
            assertThat(files).containsExactly(sockets.service());
        }
    }

    @Test
    void anOwnCallSaysWhatFailed() {
        claims.before = () -> {
            throw new IllegalStateException("secret");
        };
        SelfCall call = new SelfCall(sockets, Duration.ofSeconds(20));
        assertThatThrownBy(() -> call.toBoth(sockets.registration(), sockets.service()))
                .isInstanceOf(DraException.class)
                .hasMessage(
                        "The driver's own socket %s does not answer: INTERNAL: internal error"
                                + " of the driver; see its log",
                        sockets.service());

        CountDownLatch hung = new CountDownLatch(1);
        claims.before = () -> awaitQuietly(hung);
        assertThatThrownBy(() ->
                        new SelfCall(sockets, Duration.ofMillis(500)).toBoth(sockets.registration(), sockets.service()))
                .isInstanceOf(DraException.class)
                .hasMessageMatching(".*(DEADLINE_EXCEEDED.*|no answer in time|type 3)");
        hung.countDown();
    }

    @Test
    void anOwnCallDoesNotWaitForASocketThatAcceptsNoMore() throws IOException {
        var full = UnixDomainSocketAddress.of(root.resolve("full"));
        try (var socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(full, 1);
            while (isConnected(full)) {
                assertThat(waiting).hasSizeLessThan(10);
            }
            SelfCall call = new SelfCall(sockets, Duration.ofMillis(200));

            assertThatThrownBy(() -> call.toBoth(full.getPath(), full.getPath()))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("does not answer");
        } finally {
            for (SocketChannel channel : waiting) {
                channel.close();
            }
        }
    }

    private boolean isConnected(SocketAddress address) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        waiting.add(channel);
        channel.configureBlocking(false);
        try {
            return channel.connect(address);
        } catch (SocketException e) { // on Java 17
            return false;
        }
    }

    @Test
    @SuppressWarnings("try") // closing is what is tested
    void anErrorOfAnAcceptDoesNotEndTheServer() throws IOException {
        try (ServerSocket socket = new ServerSocket();
                Socket accepted = new Socket()) {
            List<String> errors = new ArrayList<>(List.of("Too many open files", "Too many again"));
            Accepting.Attempt attempt = () -> {
                if (!errors.isEmpty()) {
                    throw new IOException(errors.remove(0));
                }
                return accepted;
            };
            assertThat(Accepting.one(socket, attempt)).isSameAs(accepted);

            socket.close();
            errors.add("Socket closed");
            assertThatThrownBy(() -> Accepting.one(socket, attempt)).hasMessage("Socket closed");
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** One HTTP/2 connection in raw bytes, which sends a PING with each call as gRPC for Go does. */
    private static final class PingingClient implements AutoCloseable {

        private static final int PING_TYPE = 6;
        private static final byte[] PING = WireBytes.frame(PING_TYPE, 0, 0, new byte[] {2, 4, 16, 16, 9, 14, 7, 7});

        final SocketChannel channel;
        private final DataInputStream answers;
        private int stream = -1;

        PingingClient(SocketAddress address) throws IOException {
            channel = SocketChannel.open(address);
            answers = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)));
            byte[] largeWindow = WireBytes.frame(8, 0, 0, new byte[] {0x3f, 0, 0, 0});
            send(WireBytes.PREFACE, WireBytes.frame(WireBytes.SETTINGS, 0, 0, new byte[0]), largeWindow);
        }

        /** Calls a method with an empty message, and waits for its trailers and the PING's reply. */
        void call(String method) throws IOException {
            stream += 2;
            send(
                    WireBytes.frame(WireBytes.HEADERS, WireBytes.END_HEADERS, stream, WireBytes.headers(method)),
                    WireBytes.frame(WireBytes.DATA, WireBytes.END_STREAM, stream, new byte[5]),
                    PING);
            await(true);
        }

        /** Sends a PING alone, and waits for its reply. */
        void ping() throws IOException {
            send(PING);
            await(false);
        }

        private void await(boolean trailers) throws IOException {
            boolean ended = !trailers;
            boolean replied = false;
            while (!ended || !replied) {
                int length = answers.readUnsignedByte() << 16 | answers.readUnsignedShort();
                int type = answers.readUnsignedByte();
                int flags = answers.readUnsignedByte();
                answers.readInt();
                answers.skipNBytes(length);
                ended |= type == WireBytes.HEADERS && (flags & WireBytes.END_STREAM) != 0;
                replied |= type == PING_TYPE && (flags & 1) != 0;
                if (type == 3 || type == 7) {
                    throw new IOException("Reset or GOAWAY: " + type);
                }
            }
        }

        private void send(byte[]... parts) throws IOException {
            ByteBuffer unsent = ByteBuffer.wrap(WireBytes.join(parts));
            while (unsent.hasRemaining()) {
                channel.write(unsent);
            }
        }

        /** Returns whether the server has ended the connection; waits for it. */
        boolean isEnded() throws IOException {
            try {
                answers.readAllBytes(); // what it sent before
            } catch (IOException e) {
                return e.getMessage().contains("reset");
            }
            return true;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
