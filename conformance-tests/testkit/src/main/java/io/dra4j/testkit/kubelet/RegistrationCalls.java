// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.dra4j.testkit.stubs.registration.v1.InfoRequest;
import io.dra4j.testkit.stubs.registration.v1.PluginInfo;
import io.dra4j.testkit.stubs.registration.v1.RegistrationGrpc;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatus;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Calls to a registration socket one by one, without the checks of a kubelet.
 *
 * <p>Thread-safe; has its own connection.
 */
public final class RegistrationCalls implements AutoCloseable {

    private final ManagedChannel channel;

    /** Calls with the given {@code :authority}. */
    public RegistrationCalls(Path socket, String authority) {
        this(new SocketChannels().open(socket, authority));
    }

    /** Calls with the {@code :authority} of a kubelet, which is the path, percent-encoded. */
    public RegistrationCalls(Path socket) {
        this(socket, kubeletAuthority(socket));
    }

    RegistrationCalls(ManagedChannel channel) {
        this.channel = channel;
    }

    /** The authority that a kubelet has for a registration socket. */
    public static String kubeletAuthority(Path socket) {
        return SocketChannels.encoded(socket);
    }

    /** A call failed; the message is its gRPC status. */
    public static final class Failed extends Exception {
        private static final long serialVersionUID = 1L;

        Failed(Status status) {
            super(
                    status.getDescription() == null
                            ? status.getCode().name()
                            : status.getCode() + ": " + status.getDescription());
        }
    }

    /**
     * The response of GetInfo, unchanged.
     *
     * @param endpoint may be empty: the registration socket itself
     */
    public record Info(String type, String name, String endpoint, List<String> versions) {

        public Info {
            versions = List.copyOf(versions);
        }

        /** The path of the service socket. */
        public Path service(Path registration) {
            return endpoint.isEmpty() ? registration : Path.of(endpoint);
        }
    }

    public Info info(Duration timeout) throws Failed {
        try {
            PluginInfo info = stub(timeout).getInfo(InfoRequest.getDefaultInstance());
            return new Info(info.getType(), info.getName(), info.getEndpoint(), info.getSupportedVersionsList());
        } catch (StatusRuntimeException e) {
            throw new Failed(e.getStatus());
        }
    }

    /** Notifies the driver that it is registered or, with an error, that it is not. */
    public void notify(String error, Duration timeout) throws Failed {
        RegistrationStatus status = RegistrationStatus.newBuilder()
                .setPluginRegistered(error.isEmpty())
                .setError(error)
                .build();
        try {
            stub(timeout).notifyRegistrationStatus(status);
        } catch (StatusRuntimeException e) {
            throw new Failed(e.getStatus());
        }
    }

    private RegistrationGrpc.RegistrationBlockingStub stub(Duration timeout) {
        return RegistrationGrpc.newBlockingStub(channel).withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
