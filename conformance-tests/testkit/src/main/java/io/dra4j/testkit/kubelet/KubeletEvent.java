// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Something that the kubelet saw or did.
 *
 * @param at the time since the kubelet was started
 * @param socket the registration socket that it is about
 */
public record KubeletEvent(Duration at, Kind kind, Path socket, String detail) {

    public enum Kind {
        /** A registration socket appeared. */
        SOCKET_APPEARED,
        /** The driver answered GetInfo; the detail is the time since the socket appeared. */
        INFO,
        /** The driver is registered. */
        REGISTERED,
        /** An attempt to register failed; another follows. */
        REGISTRATION_FAILED,
        /** The socket is gone, and the driver with it. */
        UNREGISTERED,
        /** The kubelet's health stream ended; the detail is its gRPC status. */
        HEALTH_ENDED
    }
}
