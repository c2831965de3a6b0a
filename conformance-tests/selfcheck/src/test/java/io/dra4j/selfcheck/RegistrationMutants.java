// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.stubs.registration.v1.PluginInfo;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatus;
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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Mutants that describe themselves wrongly, and the sockets with the servers on them. */
final class RegistrationMutants {

    private RegistrationMutants() {}

    @Altered(id = "M-02", with = LockedCalls.class)
    static final class Locked extends Registration {
        @Override
        PluginInfo info() {
            synchronized (driver) {
                return super.info();
            }
        }
    }

    static final class LockedCalls extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            synchronized (driver) {
                return super.prepare(version, claims);
            }
        }
    }

    @Altered(id = "M-108a")
    static final class Once extends Registration {
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        PluginInfo info() {
            if (asked.getAndIncrement() > 0) {
                throw Status.FAILED_PRECONDITION
                        .withDescription("already registered")
                        .asRuntimeException();
            }
            return super.info();
        }
    }

    /** Every answer but the first names a link to the socket. */
    @Altered(id = "M-108b")
    static final class Moving extends Registration {
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        String endpoint() {
            int number = asked.getAndIncrement();
            Path link = driver.service.path.resolveSibling("bare-" + number + ".sock");
            try {
                if (number > 0 && !Files.exists(link)) {
                    Files.createSymbolicLink(link, driver.service.path);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return number == 0 ? super.endpoint() : link.toString();
        }
    }

    @Altered(id = "M-112", with = NamesOfTheMoment.class)
    static final class Clearing extends Registration {
        private final AtomicInteger accepted = new AtomicInteger();

        @Override
        void notified(RegistrationStatus status) {
            super.notified(status);
            if (status.getPluginRegistered() && accepted.getAndIncrement() > 0) {
                driver.calls.work.state.write(Map.of());
            }
        }
    }

    @Altered(id = "M-107b")
    static final class PlainFile extends BareDriver {
        @Override
        void register() throws IOException {
            Files.writeString(registrationPath(), service.path.toString());
        }
    }

    @Altered(id = "M-107c")
    static final class SocketInFolder extends BareDriver {
        @Override
        void register() throws IOException {
            Files.createDirectories(registrationPath().getParent());
            super.register();
        }

        @Override
        Path registrationPath() {
            return settings.registry().resolve(settings.driver() + suffix() + "/reg.sock");
        }
    }

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

    @Altered(id = "M-11")
    static final class Unreplaced extends SocketServer {
        @Override
        void publish(Path hidden) throws IOException {
            if (Files.exists(path)) {
                throw new IOException("bind: address already in use: " + path);
            }
            super.publish(hidden);
        }
    }

    @Altered(id = "M-100")
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
    @Altered(id = "M-103")
    static final class Fragile extends BareDriver {
        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .<BindableService>map(service -> () -> fragile(service.bindService()))
                    .toList();
        }
    }

    @Altered(id = "M-103b")
    static final class Unlimited extends SocketServer {
        @Override
        void configure(NettyServerBuilder builder) {
            builder.maxInboundMessageSize(Integer.MAX_VALUE);
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

    @Altered(id = "M-10")
    static final class StrictAuthority extends SocketServer {
        @Override
        void configure(NettyServerBuilder builder) {
            builder.intercept(new Picky());
        }
    }

    @Altered(id = "M-15a")
    static final class EndsOnUnknownMethod extends SocketServer {
        @Override
        void configure(NettyServerBuilder builder) {
            builder.fallbackHandlerRegistry(unknown(true));
        }
    }

    @Altered(id = "M-15b")
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
