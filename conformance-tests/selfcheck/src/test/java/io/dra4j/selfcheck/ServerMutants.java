// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.grpc.BindableService;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** The sockets, and the servers on them. */
final class ServerMutants {

    private ServerMutants() {}

    /** Takes no percent sign for part of an authority. */
    static final class Picky implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            if (String.valueOf(call.getAuthority()).contains("%")) {
                call.close(Status.INTERNAL.withDescription("invalid authority"), new Metadata());
                return new ServerCall.Listener<>() {};
            }
            return next.startCall(call, headers);
        }
    }

    @Mutant(
            id = "M-11",
            what = "cannot bind because of its own stale socket",
            collateral = {"DRA-REG-09", "DRA-CDI-11"})
    @Violation("DRA-REG-07: t start: java.io.IOException: bind: address already in use")
    static final class Unreplaced extends SocketServer {
        @Override
        void publish(Path hidden) throws IOException {
            if (Files.exists(path)) {
                throw new IOException("bind: address already in use: " + path);
            }
            super.publish(hidden);
        }
    }

    @Mutant(id = "M-13", what = "leaves its sockets after SIGTERM")
    @Violation("DRA-REG-08: after SIGTERM there are still the sockets")
    static final class Left extends SocketServer {
        @Override
        void remove() {}
    }

    @Mutant(id = "M-100", what = "makes its socket writable for everybody", from = Build.PLAIN)
    @Violation("DRA-SEC-01: every user may connect to the socket")
    static final class Open extends SocketServer {
        @Override
        void protect(Path socket) throws IOException {
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
    }

    private static HandlerRegistry unknown(boolean fatal) {
        return new HandlerRegistry() {
            @Override
            public ServerMethodDefinition<?, ?> lookupMethod(String method, String authority) {
                if (fatal) {
                    Life.current().log("panic: no method " + method);
                    Life.current().end(2);
                }
                MethodDescriptor<byte[], byte[]> descriptor = MethodDescriptor.newBuilder(
                                new RawBytes(), new RawBytes())
                        .setType(MethodDescriptor.MethodType.UNKNOWN)
                        .setFullMethodName(method)
                        .build();
                return ServerMethodDefinition.create(descriptor, (call, headers) -> {
                    call.close(Status.INTERNAL.withDescription("oops"), new Metadata());
                    return new ServerCall.Listener<>() {};
                });
            }
        };
    }

    /** Dies of a message that it can't parse. */
    @Mutant(id = "M-103", what = "ends on a garbage frame")
    @Violation("DRA-SEC-03: after bad messages, the driver ended: it ended with exit")
    static final class Fragile extends BareDriver {
        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .<BindableService>map(service -> () -> fragile(service.bindService()))
                    .toList();
        }
    }

    private static ServerServiceDefinition fragile(ServerServiceDefinition service) {
        var copy =
                ServerServiceDefinition.builder(service.getServiceDescriptor().getName());
        service.getMethods().forEach(method -> copy.addMethod(fragile(method)));
        return copy.build();
    }

    private static <Q, A> ServerMethodDefinition<Q, A> fragile(ServerMethodDefinition<Q, A> method) {
        MethodDescriptor<Q, A> descriptor = method.getMethodDescriptor();
        var dying = new MethodDescriptor.Marshaller<Q>() {
            @Override
            public InputStream stream(Q value) {
                return descriptor.getRequestMarshaller().stream(value);
            }

            @Override
            public Q parse(InputStream stream) {
                try {
                    return descriptor.getRequestMarshaller().parse(stream);
                } catch (StatusRuntimeException e) {
                    Life.current().log("panic: " + e.getMessage());
                    Life.current().end(2);
                    throw e;
                }
            }
        };
        return ServerMethodDefinition.create(
                descriptor.toBuilder(dying, descriptor.getResponseMarshaller()).build(), method.getServerCallHandler());
    }

    @Mutant(
            id = "M-10",
            what = "refuses an :authority with \"%2F\"",
            collateral = {
                "DRA-REG-03", "DRA-INFO-01",
                "DRA-INFO-02", "DRA-INFO-03",
                "DRA-INFO-04"
            },
            timeoutFactor = 0.3)
    @Violation("DRA-REG-05: failed: INTERNAL: invalid authority")
    static final class StrictAuthority extends SocketServer {
        @Override
        void configure(NettyServerBuilder builder) {
            builder.intercept(new Picky());
        }
    }

    @Mutant(
            id = "M-15a",
            what = "an unknown method ends the process",
            collateral = {"DRA-INFO-05", "DRA-PREP-01", "DRA-SEC-03"})
    @Violation("DRA-VER-03: where UNIMPLEMENTED is due")
    static final class EndsOnUnknownMethod extends SocketServer {
        @Override
        void configure(NettyServerBuilder builder) {
            builder.fallbackHandlerRegistry(unknown(true));
        }
    }

    @Mutant(id = "M-15b", what = "an unknown method is answered by INTERNAL")
    @Violation("DRA-VER-03: is answered INTERNAL: oops, where UNIMPLEMENTED is due")
    static final class InternalOnUnknownMethod extends SocketServer {
        @Override
        void configure(NettyServerBuilder builder) {
            builder.fallbackHandlerRegistry(unknown(false));
        }
    }

    /** Messages as they are on the wire. */
    private static final class RawBytes implements MethodDescriptor.Marshaller<byte[]> {

        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw Status.INTERNAL.withCause(e).asRuntimeException();
            }
        }
    }
}
