// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.kubelet.probe.v1.HealthCheckRequest;
import io.dra4j.kubelet.probe.v1.HealthGrpc;
import io.dra4j.testkit.TestNode;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The gRPC probes of a driver process that was started with {@link #OPTION}. */
final class GrpcProbe implements AutoCloseable {

    /** Any port that is free: the driver's log says which. */
    static final String OPTION = "--healthcheck-port=0";

    private static final Pattern PORT = // in the text format or in JSON
            Pattern.compile("health checks on port (?:\\{}[^0-9]*)?(\\d+)");

    private final ManagedChannel channel;

    /** Of the first process on the node, which is ready. */
    GrpcProbe(TestNode node) {
        Matcher port = PORT.matcher(node.log());
        assertThat(port.find()).as(node.log()).isTrue();
        channel =
                NettyChannelBuilder.forAddress("localhost", Integer.parseInt(port.group(1)))
                        .usePlaintext()
                        .build();
    }

    /** The status of a service, for instance {@code SERVING}. */
    String check(String service) {
        return HealthGrpc.newBlockingStub(channel)
                .withDeadlineAfter(TestNode.TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                .check(HealthCheckRequest.newBuilder().setService(service).build())
                .getStatus()
                .name();
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
