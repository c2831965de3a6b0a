// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.google.protobuf.ByteString;
import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.dra.v1.NodePrepareResourceResponse;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.dra.v1.NodeUnprepareResourcesRequest;
import io.dra4j.kubelet.registration.v1.InfoRequest;
import io.dra4j.kubelet.registration.v1.PluginInfo;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationStatus;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The kubelet, as far as a play needs it: one driver, one call at a time, and no impatience.
 *
 * <p>Not thread-safe but for {@link #close}.
 */
final class PlayedKubelet implements AutoCloseable {

    private static final long CALL_SECONDS = 45; // the kubelet's own deadline
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final PlaySettings settings;
    private final Folders folders;
    private final EventLoopGroup group =
            new MultiThreadIoEventLoopGroup(
                    1,
                    new DefaultThreadFactory("dra4j-play-io", true),
                    EpollIoHandler.newFactory());
    private volatile @Nullable ManagedChannel driver;

    PlayedKubelet(PlaySettings settings, Folders folders) {
        this.settings = settings;
        this.folders = folders;
    }

    /** What the driver answered for one claim, also as the bytes that came over the socket. */
    record Answer(List<Device> devices, ByteString bytes) {}

    /** One prepared device. */
    record Device(List<String> requests, String pool, String name, List<String> cdiIds) {
        String path() {
            return pool + "/" + name;
        }
    }

    /**
     * Waits for the driver's registration socket, and registers the driver as the kubelet does.
     *
     * @return the plugin's own description
     */
    PluginInfo register(Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (System.nanoTime() < end) {
            Optional<PluginInfo> info = registrationSocket().flatMap(this::handshake);
            if (info.isPresent()) {
                driver = channel(Path.of(info.get().getEndpoint()));
                return info.get();
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        throw new StepFailed(
                "no driver has registered as %s within %d s"
                        .formatted(settings.driverName(), patience.toSeconds()));
    }

    private Optional<Path> registrationSocket() {
        return folders.sockets().stream()
                .filter(socket -> socket.startsWith(folders.registry()))
                .findFirst();
    }

    private Optional<PluginInfo> handshake(Path socket) {
        ManagedChannel channel = channel(socket);
        try {
            var registration =
                    RegistrationGrpc.newBlockingStub(channel)
                            .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS);
            PluginInfo info = registration.getInfo(InfoRequest.getDefaultInstance());
            if (!info.getName().equals(settings.driverName())) {
                return Optional.empty();
            }
            registration.notifyRegistrationStatus(
                    RegistrationStatus.newBuilder().setPluginRegistered(true).build());
            return Optional.of(info);
        } catch (StatusRuntimeException e) {
            return Optional.empty(); // the socket of a driver that was killed: look again
        } finally {
            channel.shutdownNow();
        }
    }

    private ManagedChannel channel(Path socket) {
        return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(group)
                // gRPC asks for keep-alive, which a unix socket does not know: unset it
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .overrideAuthority("localhost")
                .usePlaintext()
                .build();
    }

    /** Forgets the driver: it is about to end. */
    void forgetDriver() {
        ManagedChannel known = driver;
        if (known != null) {
            known.shutdownNow();
        }
        driver = null;
    }

    /** Prepares claims in one call, and returns each answer by the claim's UID. */
    Map<String, Answer> prepare(Collection<PlayedClaim> claims) {
        NodePrepareResourcesRequest.Builder request = NodePrepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(named(claim)));
        var response = stub().nodePrepareResources(request.build());
        return answers(claims, response.getClaimsMap(), PlayedKubelet::answer);
    }

    /** Unprepares claims in one call. */
    void unprepare(Collection<PlayedClaim> claims) {
        NodeUnprepareResourcesRequest.Builder request = NodeUnprepareResourcesRequest.newBuilder();
        claims.forEach(claim -> request.addClaims(named(claim)));
        var response = stub().nodeUnprepareResources(request.build());
        answers(
                claims,
                response.getClaimsMap(),
                answer -> {
                    StepFailed.unless(
                            answer.getError().isEmpty(), "not unprepared: " + answer.getError());
                    return answer;
                });
    }

    private static <A, B> Map<String, B> answers(
            Collection<PlayedClaim> claims, Map<String, A> given, Function<A, B> reading) {
        Map<String, B> answers = new LinkedHashMap<>();
        for (PlayedClaim claim : claims) {
            A answer = given.get(claim.uid());
            StepFailed.unless(answer != null, "the driver gave no answer for claim " + claim);
            answers.put(claim.uid(), reading.apply(answer));
        }
        return answers;
    }

    private static Answer answer(NodePrepareResourceResponse response) {
        StepFailed.unless(response.getError().isEmpty(), "not prepared: " + response.getError());
        List<Device> devices =
                response.getDevicesList().stream()
                        .map(
                                device ->
                                        new Device(
                                                device.getRequestNamesList(),
                                                device.getPoolName(),
                                                device.getDeviceName(),
                                                device.getCdiDeviceIdsList()))
                        .toList();
        return new Answer(devices, response.toByteString());
    }

    private DRAPluginGrpc.DRAPluginBlockingStub stub() {
        Channel channel = driver;
        StepFailed.unless(channel != null, "the driver is not registered");
        return DRAPluginGrpc.newBlockingStub(channel)
                .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS);
    }

    private static Claim named(PlayedClaim claim) {
        return Claim.newBuilder()
                .setNamespace(claim.namespace())
                .setName(claim.name())
                .setUid(claim.uid())
                .build();
    }

    @Override
    public void close() {
        forgetDriver();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
