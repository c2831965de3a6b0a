// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.dra4j.testkit.stubs.dra.v1.DRAPluginGrpc;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourcesResponse;
import io.dra4j.testkit.stubs.health.v1.DRAResourceHealthGrpc.DRAResourceHealthImplBase;
import io.dra4j.testkit.stubs.registration.v1.InfoRequest;
import io.dra4j.testkit.stubs.registration.v1.PluginInfo;
import io.dra4j.testkit.stubs.registration.v1.RegistrationGrpc;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatus;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatusResponse;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A plugin on one socket with scripted responses, without the SDK. */
final class ScriptedPlugin implements AutoCloseable {

    static final String DRIVER = "gpu.example.com";

    /** Each call's {@code :authority} and full method name, with a space between. */
    final List<String> calls = new CopyOnWriteArrayList<>();

    /** The same of calls for health, all of which it answers with UNIMPLEMENTED. */
    final List<String> healthCalls = new CopyOnWriteArrayList<>();

    final BlockingQueue<RegistrationStatus> statuses = new LinkedBlockingQueue<>();
    volatile PluginInfo info;
    volatile Status getInfoFailure = Status.OK;
    volatile Status notifyFailure = Status.OK;
    volatile UnaryOperator<NodePrepareResourcesResponse> prepared = answer -> answer;

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    private final Server server;

    /** Serves both services on one socket: an empty endpoint names it. */
    ScriptedPlugin(Path socket) throws IOException {
        info = PluginInfo.newBuilder()
                .setType("DRAPlugin")
                .setName(DRIVER)
                .addSupportedVersions("v1.DRAPlugin")
                .build();
        server = NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .withChildOption(ChannelOption.SO_KEEPALIVE, null)
                .intercept(new Recorder())
                .addService(new Registration())
                .addService(new Dra())
                .addService(new ServiceName("k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin").bind(new Dra()))
                .addService(new NoHealth())
                .addService(new ServiceName("v1alpha1.DRAResourceHealth").bind(new NoHealth()))
                .build()
                .start();
    }

    RegistrationStatus awaitStatus() throws InterruptedException {
        RegistrationStatus status = statuses.poll(20, TimeUnit.SECONDS);
        if (status == null) {
            throw new AssertionError("The kubelet sent no RegistrationStatus within 20 s");
        }
        return status;
    }

    @Override
    public void close() {
        server.shutdownNow();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private final class Recorder implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            String method = call.getMethodDescriptor().getFullMethodName();
            (method.contains("Health") ? healthCalls : calls).add(call.getAuthority() + " " + method);
            return next.startCall(call, headers);
        }
    }

    private static <T> void answer(StreamObserver<T> response, Status failure, T answer) {
        if (failure.isOk()) {
            response.onNext(answer);
            response.onCompleted();
        } else {
            response.onError(failure.asRuntimeException());
        }
    }

    private final class Registration extends RegistrationGrpc.RegistrationImplBase {
        @Override
        public void getInfo(InfoRequest request, StreamObserver<PluginInfo> response) {
            answer(response, getInfoFailure, info);
        }

        @Override
        public void notifyRegistrationStatus(
                RegistrationStatus status, StreamObserver<RegistrationStatusResponse> response) {
            Status failure = notifyFailure;
            answer(response, failure, RegistrationStatusResponse.getDefaultInstance());
            statuses.add(status);
        }
    }

    private static final class NoHealth extends DRAResourceHealthImplBase {}

    private final class Dra extends DRAPluginGrpc.DRAPluginImplBase {
        @Override
        public void nodePrepareResources(
                NodePrepareResourcesRequest request, StreamObserver<NodePrepareResourcesResponse> response) {
            answer(response, Status.OK, prepared.apply(NodePrepareResourcesResponse.getDefaultInstance()));
        }
    }
}
