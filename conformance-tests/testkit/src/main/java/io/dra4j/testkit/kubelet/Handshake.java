// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import io.dra4j.testkit.kubelet.RegistrationCalls.Info;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * One attempt to register a driver, with the kubelet's timeouts and checks.
 *
 * <p>Dial within 10 s, GetInfo within 1 s, then NotifyRegistrationStatus within 5 s. A connection
 * is opened, used and closed. Paths of the driver are mapped to those of the kubelet by {@code outside}.
 */
record Handshake(SocketChannels channels, Path socket, UnaryOperator<Path> outside) {

    private static final Duration DIAL = Duration.ofSeconds(10);
    private static final Duration GET_INFO = Duration.ofSeconds(1);
    private static final Duration NOTIFY = Duration.ofSeconds(5);
    private static final String TYPE = "DRAPlugin";
    private static final String CSI = "CSIPlugin";

    static final class Failed extends Exception {
        private static final long serialVersionUID = 1L;

        Failed(String message) {
            super(message);
        }
    }

    /** Accepts a driver with a valid response, or refuses it. */
    @FunctionalInterface
    interface Acceptance {
        void accept(PluginInfo info) throws Failed;
    }

    /** Performs the handshake; the response to GetInfo is accepted or not before the driver is notified. */
    PluginInfo run(Acceptance acceptance) throws Failed, InterruptedException {
        ManagedChannel channel = channels.toRegistration(socket);
        try (RegistrationCalls calls = new RegistrationCalls(channel)) {
            if (!SocketChannels.connect(channel, DIAL)) {
                throw new Failed("no connection within " + DIAL.toSeconds() + " s");
            }
            Info response = info(calls);
            PluginInfo info;
            try {
                info = validate(response);
                acceptance.accept(info);
            } catch (Failed e) {
                if (!response.type().equals(CSI)) { // on a node, the real kubelet has registered it, and it would end
                    refuse(calls, e);
                }
                throw e;
            }
            notify(calls, "");
            return info;
        }
    }

    private static Info info(RegistrationCalls calls) throws Failed {
        try {
            return calls.info(GET_INFO);
        } catch (RegistrationCalls.Failed e) {
            throw new Failed("GetInfo failed: " + e.getMessage());
        }
    }

    private PluginInfo validate(Info response) throws Failed {
        if (!response.type().equals(TYPE)) {
            throw new Failed("no handler is registered for plugin type \"" + response.type() + '"');
        }
        if (response.name().isEmpty()) {
            throw new Failed("the plugin has no name");
        }
        Path endpoint = response.endpoint().isEmpty() ? socket : outside.apply(Path.of(response.endpoint()));
        return new PluginInfo(response.name(), endpoint, response.versions(), service(response));
    }

    private static PluginInfo.Service service(Info response) throws Failed {
        for (String version : response.versions()) {
            for (PluginInfo.Service service : PluginInfo.Service.values()) {
                if (service.wireName().equals(version)) {
                    return service;
                }
            }
        }
        throw new Failed("none of the plugin's versions is supported: " + response.versions());
    }

    private static void notify(RegistrationCalls calls, String error) throws Failed {
        try {
            calls.notify(error, NOTIFY);
        } catch (RegistrationCalls.Failed e) {
            throw new Failed("NotifyRegistrationStatus failed: " + e.getMessage());
        }
    }

    private static void refuse(RegistrationCalls calls, Failed reason) {
        try {
            notify(calls, String.valueOf(reason.getMessage()));
        } catch (Failed e) {
            reason.addSuppressed(e);
        }
    }
}
