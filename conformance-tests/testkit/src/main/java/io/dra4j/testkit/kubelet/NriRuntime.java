// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A container runtime as an NRI plugin sees it: it accepts each plugin, configures it, synchronizes it with no pods
 * and no containers, and sends nothing more.
 *
 * <p>NRI has two ttrpc connections in one socket, one served by each side: each frame has the number of the connection
 * and a length. A message of ttrpc has a length, the number of its stream, a type and flags, then Protobuf.
 */
public final class NriRuntime implements AutoCloseable {

    private static final String SERVICE = "nri.pkg.api.v1alpha1.Plugin";
    private static final int PLUGIN_SERVES = 1;
    private static final int RUNTIME_SERVES = 2;
    private static final int HEADER = 10;
    private static final int LONGEST = 4 << 20; // of a message, as in ttrpc
    private static final byte REQUEST = 1;
    private static final byte RESPONSE = 2;

    /** The status OK, and an empty message. */
    private static final ByteString ACCEPTED =
            fields().mergeLengthDelimitedField(1, ByteString.EMPTY).build().toByteString();

    /** The runtime's name and version, and containerd's time limits in milliseconds. */
    private static final ByteString CONFIGURATION = fields().mergeLengthDelimitedField(2, text("dra-conformance"))
            .mergeLengthDelimitedField(3, text("1.0.0"))
            .mergeVarintField(4, 5_000)
            .mergeVarintField(5, 2_000)
            .build()
            .toByteString();

    private final ServerSocketChannel server;
    private final Set<SocketChannel> plugins = ConcurrentHashMap.newKeySet();

    private NriRuntime(ServerSocketChannel server) {
        this.server = server;
    }

    /** Listens at a socket, in an existing directory. */
    public static NriRuntime at(Path socket) {
        try {
            ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            NriRuntime runtime = new NriRuntime(server.bind(UnixDomainSocketAddress.of(socket)));
            start(runtime::accept);
            return runtime;
        } catch (IOException e) {
            throw new UncheckedIOException("Can't listen at " + socket, e);
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "dra4j-nri");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (server.isOpen()) {
                SocketChannel plugin = server.accept();
                plugins.add(plugin);
                start(() -> serve(plugin));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(SocketChannel channel) {
        try (channel) {
            DataInputStream in = new DataInputStream(Channels.newInputStream(channel));
            Plugin plugin = new Plugin(channel, new HashMap<>());
            while (server.isOpen()) {
                int connection = in.readInt();
                plugin.received(connection, in.readNBytes(length(in.readInt(), HEADER + LONGEST)));
            }
        } catch (IOException e) {
            // the plugin has ended, or sent an invalid message: its connection is closed
        } finally {
            plugins.remove(channel);
        }
    }

    private static int length(int length, int most) throws IOException {
        if (length < 0 || length > most) {
            throw new IOException("invalid length of an NRI message: " + length);
        }
        return length;
    }

    /** A plugin's socket, and the received part of a message for each connection. */
    private record Plugin(SocketChannel channel, Map<Integer, ByteArrayOutputStream> rests) {

        void received(int connection, byte[] frame) throws IOException {
            ByteArrayOutputStream rest = rests.computeIfAbsent(connection, key -> new ByteArrayOutputStream());
            rest.write(frame);
            ByteBuffer all = ByteBuffer.wrap(rest.toByteArray());
            while (all.remaining() >= HEADER
                    && all.remaining() - HEADER >= length(all.getInt(all.position()), LONGEST)) {
                byte[] message = new byte[all.getInt()];
                int stream = all.getInt();
                byte type = all.get();
                all.get(); // flags of calls with several messages
                all.get(message);
                received(connection, stream, type, UnknownFieldSet.parseFrom(message));
            }
            rest.reset();
            rest.write(all.array(), all.position(), all.remaining());
        }

        private void received(int connection, int stream, byte type, UnknownFieldSet message) throws IOException {
            if (connection == RUNTIME_SERVES && type == REQUEST) {
                send(RUNTIME_SERVES, stream, RESPONSE, ACCEPTED);
                if (message.getField(2).getLengthDelimitedList().contains(text("RegisterPlugin"))) {
                    call(1, "Configure", CONFIGURATION);
                }
            } else if (connection == PLUGIN_SERVES && stream == 1) {
                call(3, "Synchronize", ByteString.EMPTY);
            }
        }

        private void call(int stream, String method, ByteString payload) throws IOException {
            UnknownFieldSet request = fields().mergeLengthDelimitedField(1, text(SERVICE))
                    .mergeLengthDelimitedField(2, text(method))
                    .mergeLengthDelimitedField(3, payload)
                    .build();
            send(PLUGIN_SERVES, stream, REQUEST, request.toByteString());
        }

        private void send(int connection, int stream, byte type, ByteString message) throws IOException {
            ByteBuffer frame = ByteBuffer.allocate(8 + HEADER + message.size());
            frame.putInt(connection).putInt(HEADER + message.size());
            frame.putInt(message.size()).putInt(stream).put(type).put((byte) 0);
            message.copyTo(frame);
            frame.flip();
            while (frame.hasRemaining()) {
                channel.write(frame);
            }
        }
    }

    private static UnknownFieldSet.Builder fields() {
        return UnknownFieldSet.newBuilder();
    }

    private static ByteString text(String words) {
        return ByteString.copyFromUtf8(words);
    }

    /** Ends it, and cuts the plugins' connections. */
    @Override
    public void close() {
        try {
            server.close();
            for (SocketChannel plugin : plugins) {
                plugin.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
