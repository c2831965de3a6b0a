// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.kubelet.dra.v1.DRAPluginGrpc;
import io.dra4j.kubelet.registration.v1.RegistrationGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Calls the driver's own sockets as the kubelet does, each over a connection of its own.
 *
 * <p>A first call loads most of the classes that a call needs. The kubelet waits one second for its
 * first answer; a JVM that loads them then may miss it.
 */
final class SelfCall {

    private static final int LONGEST_PATH = 106; // bytes that the JDK takes; the kernel takes 107

    private final PluginSockets sockets;
    private final Duration limit;

    /**
     * Calls sockets in the directories of some.
     *
     * @param limit the longest time of each call
     */
    SelfCall(PluginSockets sockets, Duration limit) {
        this.sockets = sockets;
        this.limit = limit;
    }

    /**
     * Asks both sockets what the kubelet asks, with effects on nothing.
     *
     * @throws DraException if one does not answer
     */
    void toBoth(Path registration, Path service) {
        call(registration, RegistrationGrpc.getGetInfoMethod().getFullMethodName());
        call(service, DRAPluginGrpc.getNodePrepareResourcesMethod().getFullMethodName());
    }

    private void call(Path socket, String method) {
        try {
            if (PluginSockets.length(socket) <= LONGEST_PATH) {
                RawCall.unary(socket, method, limit);
            } else {
                callByShorterName(socket, method);
            }
        } catch (IOException e) {
            throw new DraException("The driver's own socket " + socket + " does not answer: " + e.getMessage(), e);
        }
    }

    private void callByShorterName(Path socket, String method) throws IOException {
        Path link = Files.createLink(sockets.hidden(socket), socket);
        try {
            RawCall.unary(link, method, limit);
        } finally {
            Files.deleteIfExists(link);
        }
    }
}
