// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dra4j.runtime.internal.kubelet.UnixSocket.UnixServerSocket;
import java.io.IOException;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The end of a connection, as its peer sees it. */
@Timeout(30)
class UnixSocketTest {

    @TempDir
    private Path folder;

    private UnixServerSocket server;
    private SocketChannel peer;
    private Socket socket;

    @BeforeEach
    void connect() throws IOException {
        UnixDomainSocketAddress path = UnixDomainSocketAddress.of(folder.resolve("s"));
        server = new UnixServerSocket();
        server.bind(path);
        peer = SocketChannel.open(path);
        socket = server.accept();
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        server.close();
    }

    private void write(String text) throws IOException {
        peer.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    private String readToTheEnd() throws IOException {
        ByteBuffer read = ByteBuffer.allocate(100);
        while (peer.read(read) >= 0) {
            assertThat(read.hasRemaining()).isTrue();
        }
        return new String(read.array(), 0, read.position(), StandardCharsets.UTF_8);
    }

    @Test
    void leavesTheAnswerToAPeerThatStillWrites() throws IOException {
        write("not read");
        socket.getOutputStream().write("answer".getBytes(StandardCharsets.UTF_8));
        socket.close();

        write("more"); // ends a peer of a connection that was reset
        assertThat(readToTheEnd()).isEqualTo("answer");
    }

    @Test
    void comesWithTheEndOfThePeer() throws IOException {
        socket.close();
        socket.close();
        peer.close();

        assertThat(socket.getInputStream().read()).isNegative();
        assertThat(socket.isClosed()).isTrue();
    }

    @Test
    void comesSoonWhateverThePeerDoes() {
        assertThat(catchThrowable(() -> {
                    socket.close();
                    while (true) {
                        write("more");
                    }
                }))
                .isInstanceOf(IOException.class);
    }

    @Test
    void endsAReadThatWaits() throws Exception {
        FutureTask<Throwable> read = new FutureTask<>(
                () -> catchThrowable(() -> socket.getInputStream().read()));
        Thread reader = new Thread(read);
        reader.start();
        while (reader.getState() == Thread.State.NEW) {
            Thread.onSpinWait();
        }

        socket.close();

        assertThat(read.get(20, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        assertThat(socket.isClosed()).isTrue();
    }
}
