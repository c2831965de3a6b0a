// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.proxy.TcpConnection.Direction;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Both ends of connections through the proxy, over real sockets. */
@Timeout(60)
class TcpProxyIT {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private ServerSocket listener;
    private TcpProxy proxy;

    @BeforeEach
    void listen() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        listener.setSoTimeout((int) LIMIT.toMillis());
        proxy = TcpProxy.before(URI.create("http://127.0.0.1:" + listener.getLocalPort()));
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        listener.close();
    }

    /** A connection with both of its ends. */
    private record Ends(Socket client, Socket server, TcpConnection connection) {

        void passToServer(String text) throws IOException {
            send(client, text);
            assertThat(read(server, text.length())).isEqualTo(text);
        }

        void passToClient(String text) throws IOException {
            send(server, text);
            assertThat(read(client, text.length())).isEqualTo(text);
        }
    }

    private Ends connect() throws IOException {
        Socket client = new Socket("127.0.0.1", proxy.port());
        Socket server = listener.accept();
        client.setSoTimeout((int) LIMIT.toMillis());
        server.setSoTimeout((int) LIMIT.toMillis());
        TcpConnection connection = proxy.connections().get(proxy.connections().size() - 1);
        return new Ends(client, server, connection);
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(US_ASCII));
    }

    private static String read(Socket socket, int count) throws IOException {
        return new String(socket.getInputStream().readNBytes(count), US_ASCII);
    }

    private static void awaitReceived(TcpConnection connection, Direction direction, int count) {
        while (connection.received(direction) < count) {
            Thread.onSpinWait();
        }
    }

    @Test
    void bytesAndEndsPassInBothDirections() throws Exception {
        Ends ends = connect();
        ends.passToServer("ping");
        ends.passToClient("pong");
        assertThat(ends.connection.isOpen()).isTrue();

        ends.client.shutdownOutput();
        assertThat(ends.server.getInputStream().read()).isEqualTo(-1);
        ends.passToClient("rest");
        ends.server.close();

        assertThat(ends.client.getInputStream().read()).isEqualTo(-1);
        assertThat(ends.connection.isOpen()).isFalse();
    }

    @Test
    void aSilentConnectionStaysOpenAndPassesNothingWhileOthersWork() throws Exception {
        Ends silent = connect();
        silent.passToServer("before");
        silent.connection.silence();
        Ends other = connect();

        send(silent.server, "lost");
        awaitReceived(silent.connection, Direction.TO_CLIENT, 4);
        assertThat(silent.client.getInputStream().available()).isZero();
        send(silent.client, "lost");
        silent.client.close();

        other.passToServer("ping");
        other.passToClient("pong");
        assertThat(silent.connection.awaitEnd(LIMIT)).isTrue();
        assertThat(silent.connection.received(Direction.TO_SERVER)).isEqualTo(10);
        silent.server.setSoTimeout(100);
        assertThatThrownBy(() -> silent.server.getInputStream().read())
                .isInstanceOf(IOException.class)
                .hasMessage("Read timed out");
    }

    @Test
    void aDirectionIsSilentAlone() throws Exception {
        Ends ends = connect();
        ends.connection.silence(Direction.TO_CLIENT);

        send(ends.server, "lost");
        awaitReceived(ends.connection, Direction.TO_CLIENT, 4);

        ends.passToServer("ping");
        assertThat(ends.client.getInputStream().available()).isZero();
    }

    @Test
    void whatIsHeldComesLater() throws Exception {
        Ends ends = connect();
        ends.passToServer("before");
        ends.connection.hold();
        send(ends.client, "a");
        send(ends.client, "b");
        connect().passToServer("ping");
        assertThat(ends.server.getInputStream().available()).isZero();

        ends.connection.resume();

        assertThat(read(ends.server, 2)).isEqualTo("ab");
        ends.passToClient("pong");
    }

    @Test
    void aResetReachesBothEnds() throws Exception {
        Ends ends = connect();
        ends.passToServer("ping");

        ends.connection.reset();

        assertThatThrownBy(() -> ends.client.getInputStream().read())
                .isInstanceOf(SocketException.class)
                .hasMessage("Connection reset");
        assertThatThrownBy(() -> ends.server.getInputStream().read())
                .isInstanceOf(SocketException.class)
                .hasMessage("Connection reset");
        assertThat(ends.connection.isOpen()).isFalse();
    }

    @Test
    void ofAHalfClosedConnectionTheOtherDirectionGoesOn() throws Exception {
        Ends ends = connect();

        ends.connection.halfClose(Direction.TO_CLIENT);

        assertThat(ends.client.getInputStream().read()).isEqualTo(-1);
        ends.passToServer("ping");
    }

    @Test
    void aSlowConnectionPassesItsBytesASecond() throws Exception {
        Ends ends = connect();
        ends.connection.slow(1000);
        long start = System.nanoTime();

        ends.passToServer("x".repeat(500));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(400));
    }

    @Test
    void newConnectionsAreRefusedWhileOpenOnesGoOn() throws Exception {
        Ends open = connect();
        proxy.refuse();

        assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
        open.passToServer("ping");

        proxy.accept();
        connect().passToServer("ping");
        assertThat(proxy.connections()).hasSize(2);
    }

    @Test
    void newConnectionsAreRefusedAlsoWhileProcessesAreStarted() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<?> processes = CompletableFuture.runAsync(() -> {
            while (!done.get()) {
                try {
                    new ProcessBuilder("true").start().waitFor(); // has all sockets of this one for a moment
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        for (int i = 0; i < 50; i++) {
            proxy.refuse();
            assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
            proxy.accept();
        }
        done.set(true);
        processes.join();
    }

    @Test
    void itsPortIsNeverThatOfAnother() throws Exception {
        AtomicInteger taken = new AtomicInteger();
        Thread other = new Thread(() -> {
            while (!Thread.interrupted()) {
                try (ServerSocket socket = new ServerSocket(proxy.port(), 1, InetAddress.getLoopbackAddress())) {
                    taken.addAndGet(socket.isBound() ? 1 : 0);
                } catch (IOException e) {
                    Thread.onSpinWait(); // the port is held
                }
            }
        });
        other.start();
        for (int i = 0; i < 2_000; i++) {
            proxy.refuse();
            proxy.accept();
        }
        other.interrupt();
        other.join();

        assertThat(taken).hasValue(0);
    }

    @Test
    void newConnectionsAreResetWhereThereIsNoServer() throws Exception {
        listener.close();
        try (Socket refused = new Socket("127.0.0.1", proxy.port())) {
            assertThatThrownBy(() -> refused.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void closingEndsAllConnections() throws Exception {
        Ends ends = connect();
        Ends silent = connect();
        silent.connection.silence();

        proxy.close();

        assertThat(ends.client.getInputStream().read()).isEqualTo(-1);
        assertThat(silent.client.getInputStream().read()).isEqualTo(-1);
        assertThatThrownBy(this::connect) // another process may have got the port since, and then nothing is accepted
                .isInstanceOfAny(ConnectException.class, SocketTimeoutException.class);
    }
}
