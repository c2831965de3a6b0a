// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RawCallsTest {

    @Test
    @Timeout(20)
    void aDriverThatReadsNothingDoesNotBlockItsCaller(@TempDir Path folder) throws Exception {
        Path socket = folder.resolve("dra.sock");
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(socket));
            try (RawCalls calls = new RawCalls(socket);
                    SocketChannel raw = calls.connect(Duration.ofMillis(300))) {

                assertThatThrownBy(() -> {
                            while (raw.isOpen()) {
                                raw.write(ByteBuffer.allocate(100_000));
                            }
                            raw.write(ByteBuffer.allocate(1));
                        })
                        .isInstanceOf(ClosedChannelException.class);
            }
        }
    }
}
