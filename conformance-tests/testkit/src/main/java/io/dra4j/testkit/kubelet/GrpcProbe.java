// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import com.google.protobuf.CodedInputStream;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The gRPC probe of a driver's pod, as the kubelet calls it.
 *
 * @see <a href="https://github.com/grpc/grpc/blob/master/doc/health-checking.md">The protocol</a>
 */
public final class GrpcProbe implements AutoCloseable {

    private static final Pattern PORT = // in the text format or in JSON
            Pattern.compile("health checks on port (?:\\{}[^0-9]*)?(\\d+)");
    private static final List<String> STATUSES = List.of("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN");
    private static final int LIMIT_SECONDS = 60;
    private static final int SERVICE = 0x0a; // field 1, a text
    private static final int STATUS = 0x08; // field 1, a number

    private static final MethodDescriptor<byte[], byte[]> CHECK = MethodDescriptor.newBuilder(
                    RawCalls.BYTES, RawCalls.BYTES)
            .setType(MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .build();

    private final ManagedChannel channel;

    private GrpcProbe(int port) {
        channel =
                NettyChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    }

    /** Returns the probe at a port of this machine. */
    public static GrpcProbe at(int port) {
        return new GrpcProbe(port);
    }

    /** Returns the probe of a driver of the SDK that was started with port 0, from its log; empty if it has none. */
    public static Optional<GrpcProbe> ofLog(String log) {
        Matcher port = PORT.matcher(log);
        return port.find() ? Optional.of(at(Integer.parseInt(port.group(1)))) : Optional.empty();
    }

    /**
     * Returns the status of a service, for instance {@code SERVING}.
     *
     * @throws io.grpc.StatusRuntimeException if the service does not exist, or does not answer
     */
    public String check(String service) {
        CallOptions limit = CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS);
        byte[] response = ClientCalls.blockingUnaryCall(channel, CHECK, limit, request(service));
        CodedInputStream message = CodedInputStream.newInstance(response);
        try {
            return STATUSES.get(message.readTag() == STATUS ? message.readEnum() : 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] request(String service) {
        byte[] name = service.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        if (name.length > 0) {
            request.write(SERVICE);
            request.write(name.length);
            request.writeBytes(name);
        }
        return request.toByteArray();
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
