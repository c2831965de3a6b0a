// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.Scenarios;
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
import java.util.HashMap;
import java.util.Map;
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

        Socket end(String name) {
            return Map.of("client", client, "server", server).get(name);
        }

        void pass(String to, String text) throws IOException {
            send(to.equals("client") ? server : client, text);
            assertThat(read(end(to), text.length())).isEqualTo(text);
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

    @Scenarios("tcp-scenarios.txt")
    void connectionsPassBytesAndFail(String scenario) throws Exception {
        Map<String, Ends> all = new HashMap<>();
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ", 4);
            switch (words[0]) {
                case "#" -> {} // its title
                case "connect" -> all.put(words[1], connect());
                case "refuse" -> proxy.refuse();
                case "accept" -> proxy.accept();
                case "stop" -> proxy.close();
                case "refused" -> assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
                case "unreachable" -> // another process may have got the port since, and then nothing is accepted
                    assertThatThrownBy(this::connect)
                            .isInstanceOfAny(ConnectException.class, SocketTimeoutException.class);
                case "connections" -> assertThat(proxy.connections()).hasSize(Integer.parseInt(words[1]));
                default -> play(all.get(words[1]), words);
            }
        }
    }

    private static void play(Ends ends, String[] words) throws Exception {
        TcpConnection connection = ends.connection;
        Socket socket = words.length > 2 ? ends.end(words[2]) : ends.client;
        switch (words[0]) {
            case "pass" -> ends.pass(words[2], words[3]);
            case "send" -> send(socket, words[3]);
            case "read" -> assertThat(read(socket, words[3].length())).isEqualTo(words[3]);
            case "finish" -> socket.shutdownOutput();
            case "close" -> socket.close();
            case "silence" -> {
                if (words.length > 2) {
                    connection.silence(Direction.valueOf(words[2]));
                } else {
                    connection.silence();
                }
            }
            case "hold" -> connection.hold();
            case "resume" -> connection.resume();
            case "reset" -> connection.reset();
            case "half-close" -> connection.halfClose(Direction.valueOf(words[2]));
            case "taken" -> {
                Direction direction = Direction.valueOf(words[2]);
                while (connection.received(direction) < Integer.parseInt(words[3])
                        && !Thread.currentThread().isInterrupted()) {
                    Thread.onSpinWait();
                }
                assertThat(connection.received(direction)).isEqualTo(Integer.parseInt(words[3]));
            }
            case "nothing" -> assertThat(socket.getInputStream().available()).isZero();
            case "eof" -> assertThat(socket.getInputStream().read()).isEqualTo(-1);
            case "broken" -> {
                socket.setSoTimeout(words[3].equals("Read timed out") ? 100 : (int) LIMIT.toMillis());
                assertThatThrownBy(() -> socket.getInputStream().read())
                        .isInstanceOf(IOException.class)
                        .hasMessage(words[3]);
            }
            case "open" -> assertThat(connection.isOpen()).isTrue();
            case "ended" -> assertThat(connection.isOpen()).isFalse();
            case "awaited" -> assertThat(connection.awaitEnd(LIMIT)).isTrue();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Test
    void aSlowConnectionPassesItsBytesASecond() throws Exception {
        Ends ends = connect();
        ends.connection.slow(1000);
        long start = System.nanoTime();

        ends.pass("server", "x".repeat(500));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(400));
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
}
