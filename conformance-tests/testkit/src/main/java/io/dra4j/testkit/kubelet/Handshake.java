// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.dra4j.testkit.stubs.registration.v1.InfoRequest;
import io.dra4j.testkit.stubs.registration.v1.RegistrationGrpc;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatus;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * One attempt to register a driver, with the kubelet's timeouts and checks.
 *
 * <p>Dial within 10 s, GetInfo within 1 s, then NotifyRegistrationStatus within 5 s. A connection
 * of its own is used and closed.
 */
final class Handshake {

    private static final Duration DIAL = Duration.ofSeconds(10);
    private static final Duration GET_INFO = Duration.ofSeconds(1);
    private static final Duration NOTIFY = Duration.ofSeconds(5);
    private static final String TYPE = "DRAPlugin";

    private final SocketChannels channels;
    private final Path socket;
    private final UnaryOperator<Path> outside;

    /**
     * @param outside where the kubelet finds what the driver calls so
     */
    Handshake(SocketChannels channels, Path socket, UnaryOperator<Path> outside) {
        this.channels = channels;
        this.socket = socket;
        this.outside = outside;
    }

    /** The failure of an attempt. */
    static final class Failed extends Exception {
        private static final long serialVersionUID = 1L;

        Failed(String message) {
            super(message);
        }
    }

    /** Takes a driver on, once its response was found valid, or refuses it. */
    @FunctionalInterface
    interface Acceptance {
        void accept(PluginInfo info) throws Failed;
    }

    /**
     * Plays the handshake.
     *
     * @param acceptance decides on the driver's response to GetInfo before the driver is notified
     */
    PluginInfo run(Acceptance acceptance) throws Failed, InterruptedException {
        ManagedChannel channel = channels.toRegistration(socket);
        try {
            if (!SocketChannels.connect(channel, DIAL)) {
                throw new Failed("no connection within " + DIAL.toSeconds() + " s");
            }
            io.dra4j.testkit.stubs.registration.v1.PluginInfo answer = getInfo(channel);
            PluginInfo info;
            try {
                info = validate(answer);
                acceptance.accept(info);
            } catch (Failed e) {
                refuse(channel, e);
                throw e;
            }
            notify(channel, RegistrationStatus.newBuilder().setPluginRegistered(true).build());
            return info;
        } finally {
            channel.shutdownNow();
        }
    }

    private static io.dra4j.testkit.stubs.registration.v1.PluginInfo getInfo(ManagedChannel channel)
            throws Failed {
        try {
            return RegistrationGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(GET_INFO.toMillis(), TimeUnit.MILLISECONDS)
                    .getInfo(InfoRequest.getDefaultInstance());
        } catch (StatusRuntimeException e) {
            throw new Failed("GetInfo failed: " + e.getStatus());
        }
    }

    private PluginInfo validate(io.dra4j.testkit.stubs.registration.v1.PluginInfo answer)
            throws Failed {
        if (!answer.getType().equals(TYPE)) {
            throw new Failed(
                    "no handler is registered for plugin type \"" + answer.getType() + '"');
        }
        if (answer.getName().isEmpty()) {
            throw new Failed("the plugin has no name");
        }
        Path endpoint =
                answer.getEndpoint().isEmpty()
                        ? socket
                        : outside.apply(Path.of(answer.getEndpoint()));
        PluginInfo.Service service =
                answer.getSupportedVersionsList().stream()
                        .flatMap(
                                version ->
                                        Arrays.stream(PluginInfo.Service.values())
                                                .filter(s -> s.wireName().equals(version)))
                        .findFirst()
                        .orElseThrow(
                                () ->
                                        new Failed(
                                                "none of the plugin's versions is supported: "
                                                        + answer.getSupportedVersionsList()));
        return new PluginInfo(
                answer.getName(), endpoint, answer.getSupportedVersionsList(), service);
    }

    private static void notify(ManagedChannel channel, RegistrationStatus status) throws Failed {
        try {
            RegistrationGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(NOTIFY.toMillis(), TimeUnit.MILLISECONDS)
                    .notifyRegistrationStatus(status);
        } catch (StatusRuntimeException e) {
            throw new Failed("NotifyRegistrationStatus failed: " + e.getStatus());
        }
    }

    private static void refuse(ManagedChannel channel, Failed reason) {
        try {
            notify(
                    channel,
                    RegistrationStatus.newBuilder()
                            .setPluginRegistered(false)
                            .setError(String.valueOf(reason.getMessage()))
                            .build());
        } catch (Failed e) {
            reason.addSuppressed(e);
        }
    }
}
