// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

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
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.function.Consumer;

/** The sockets, and the servers on them. */
final class ServerFaults {

    private ServerFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-10" -> bothConfigured(parts, builder -> builder.intercept(new Picky()));
            case "M-11" -> both(parts, Unreplaced::new);
            case "M-13" -> both(parts, Left::new);
            case "M-15a" ->
                    bothConfigured(
                            parts, builder -> builder.fallbackHandlerRegistry(unknown(true)));
            case "M-15b" ->
                    bothConfigured(
                            parts, builder -> builder.fallbackHandlerRegistry(unknown(false)));
            case "M-100" -> both(parts, Open::new);
            case "M-103" -> parts.driver = given -> new Fragile(given, parts);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void both(Parts parts, java.util.function.Function<Path, SocketServer> made) {
        parts.registrationSocket = made;
        parts.serviceSocket = made;
    }

    private static void bothConfigured(Parts parts, Consumer<NettyServerBuilder> configured) {
        both(
                parts,
                path ->
                        new SocketServer(path) {
                            @Override
                            void configure(NettyServerBuilder builder) {
                                configured.accept(builder);
                            }
                        });
    }

    /** Takes no percent sign for part of an authority. */
    private static final class Picky implements ServerInterceptor {
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

    private static final class Unreplaced extends SocketServer {
        Unreplaced(Path path) {
            super(path);
        }

        @Override
        void publish(Path hidden) throws IOException {
            if (Files.exists(path)) {
                throw new IOException("bind: address already in use: " + path);
            }
            super.publish(hidden);
        }
    }

    private static final class Left extends SocketServer {
        Left(Path path) {
            super(path);
        }

        @Override
        void remove() {}
    }

    private static final class Open extends SocketServer {
        Open(Path path) {
            super(path);
        }

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
                    Life.current().say("panic: no method " + method);
                    Life.current().end(2);
                }
                MethodDescriptor<byte[], byte[]> descriptor =
                        MethodDescriptor.newBuilder(new RawBytes(), new RawBytes())
                                .setType(MethodDescriptor.MethodType.UNKNOWN)
                                .setFullMethodName(method)
                                .build();
                return ServerMethodDefinition.create(
                        descriptor,
                        (call, headers) -> {
                            call.close(Status.INTERNAL.withDescription("oops"), new Metadata());
                            return new ServerCall.Listener<>() {};
                        });
            }
        };
    }

    /** Dies of a message that it can't parse. */
    private static final class Fragile extends BareDriver {
        Fragile(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .<BindableService>map(service -> () -> fragile(service.bindService()))
                    .toList();
        }
    }

    private static ServerServiceDefinition fragile(ServerServiceDefinition service) {
        var copy = ServerServiceDefinition.builder(service.getServiceDescriptor().getName());
        service.getMethods().forEach(method -> copy.addMethod(fragile(method)));
        return copy.build();
    }

    private static <Q, A> ServerMethodDefinition<Q, A> fragile(
            ServerMethodDefinition<Q, A> method) {
        MethodDescriptor<Q, A> descriptor = method.getMethodDescriptor();
        var dying =
                new MethodDescriptor.Marshaller<Q>() {
                    @Override
                    public InputStream stream(Q value) {
                        return descriptor.getRequestMarshaller().stream(value);
                    }

                    @Override
                    public Q parse(InputStream stream) {
                        try {
                            return descriptor.getRequestMarshaller().parse(stream);
                        } catch (StatusRuntimeException e) {
                            Life.current().say("panic: " + e.getMessage());
                            Life.current().end(2);
                            throw e;
                        }
                    }
                };
        return ServerMethodDefinition.create(
                descriptor.toBuilder(dying, descriptor.getResponseMarshaller()).build(),
                method.getServerCallHandler());
    }
}
