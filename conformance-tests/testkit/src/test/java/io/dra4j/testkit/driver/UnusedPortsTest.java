// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class UnusedPortsTest {

    @Test
    void arePortsThatNoOutgoingConnectionGets() throws IOException {
        int port = UnusedPorts.next();

        assertThat(port).isBetween(10_000, 29_999);
        new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
    }

    @Test
    void skipPortsThatAreInUse() throws IOException {
        int used = UnusedPorts.next() + 1;
        try (ServerSocket socket = new ServerSocket(used, 1, InetAddress.getLoopbackAddress())) {
            assertThat(UnusedPorts.next()).isNotEqualTo(socket.getLocalPort());
        }
    }
}
