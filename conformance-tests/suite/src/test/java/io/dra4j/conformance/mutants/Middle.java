// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.google.protobuf.InvalidProtocolBufferException;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.testkit.stubs.dra.v1.NodeUnprepareResourcesResponse;
import io.dra4j.testkit.stubs.registration.v1.InfoRequest;
import io.dra4j.testkit.stubs.registration.v1.PluginInfo;
import io.dra4j.testkit.stubs.registration.v1.RegistrationGrpc;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;

/**
 * What passes between a real driver and the suite, and what is changed on the way.
 *
 * <p>The messages of v1beta1 are read as those of v1, which they are on the wire.
 */
final class Middle {

    UnaryOperator<PluginInfo> info = UnaryOperator.identity();
    Prepared prepared = (request, answer) -> answer;
    UnaryOperator<NodeUnprepareResourcesResponse> unprepared = UnaryOperator.identity();
    final CdiMirror mirror = new CdiMirror();
    boolean relayApi;

    /** What is changed of the body of a write, by method and path. */
    BinaryOperator<String> toApi = (path, body) -> body;

    /** What is changed of each line that the server sends. */
    UnaryOperator<String> fromApi = UnaryOperator.identity();

    /** What is asked before a claim is read. */
    UnaryOperator<String[]> beforeClaim = paths -> paths;

    private final MultiThreadIoEventLoopGroup group =
            new MultiThreadIoEventLoopGroup(
                    1, new DefaultThreadFactory("middle", true), EpollIoHandler.newFactory());
    private ManagedChannel registration;
    private ManagedChannel service;
    private Path ownSocket;

    /** Changes the answer to a Prepare. */
    @FunctionalInterface
    interface Prepared {
        NodePrepareResourcesResponse apply(
                NodePrepareResourcesRequest request, NodePrepareResourcesResponse answer);
    }

    /** Learns where the driver is. */
    void backend(Path registrationSocket, Path own) {
        ownSocket = own;
        registration = channel(registrationSocket);
        PluginInfo given =
                RegistrationGrpc.newBlockingStub(registration)
                        .withWaitForReady()
                        .getInfo(InfoRequest.getDefaultInstance());
        service = channel(Path.of(given.getEndpoint()));
    }

    private ManagedChannel channel(Path socket) {
        return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(group)
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .overrideAuthority("localhost")
                .usePlaintext()
                .build();
    }

    HandlerRegistry relay() {
        return new RawRelay(
                method -> method.startsWith("pluginregistration.") ? registration : service,
                this::changed);
    }

    private byte[] changed(String method, byte[] request, byte[] answer) {
        try {
            if (method.endsWith("/GetInfo")) {
                PluginInfo given = PluginInfo.parseFrom(answer);
                return info.apply(given.toBuilder().setEndpoint(ownSocket.toString()).build())
                        .toByteArray();
            }
            if (method.endsWith("/NodePrepareResources")) {
                mirror.copy();
                return prepared.apply(
                                NodePrepareResourcesRequest.parseFrom(request),
                                NodePrepareResourcesResponse.parseFrom(answer))
                        .toByteArray();
            }
            if (method.endsWith("/NodeUnprepareResources")) {
                mirror.copy();
                return unprepared
                        .apply(NodeUnprepareResourcesResponse.parseFrom(answer))
                        .toByteArray();
            }
            return answer;
        } catch (InvalidProtocolBufferException e) {
            throw Status.INTERNAL.withCause(e).asRuntimeException();
        }
    }
}
