// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection over a unix socket, as the {@link Socket} that gRPC's transport needs.
 *
 * <p>The JDK has channels of unix sockets, but no sockets. One thread may read while another writes; a close by any
 * thread ends writes immediately, and reads when the peer has also closed, or a second later. Reads wait without a
 * limit.
 */
final class UnixSocket extends Socket {

    private static final Logger LOG = LoggerFactory.getLogger(UnixSocket.class);
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SocketChannel channel;
    private final SocketAddress local;
    private final SocketAddress remote;
    private final InputStream input;
    private final OutputStream output;
    private volatile boolean isClosing;
    private volatile boolean isAtEnd;

    /** Takes over a connected channel in blocking mode. */
    UnixSocket(SocketChannel channel) throws IOException {
        super((SocketImpl) null); // nothing of TCP's
        this.channel = channel;
        local = channel.getLocalAddress();
        remote = channel.getRemoteAddress();
        PingReplies replies = new PingReplies(new Input(), new Output());
        input = replies.input();
        output = replies.output();
    }

    @Override
    public InputStream getInputStream() {
        return input;
    }

    @Override
    public OutputStream getOutputStream() {
        return output;
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return local;
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return remote;
    }

    @Override
    public boolean isConnected() {
        return true;
    }

    @Override
    public boolean isBound() {
        return true;
    }

    @Override
    public boolean isClosed() {
        return isClosing || !channel.isOpen();
    }

    @Override
    public void shutdownInput() throws IOException {
        channel.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    /** Does nothing: a unix socket delays nothing. */
    @Override
    public void setTcpNoDelay(boolean on) {}

    @Override
    public boolean getTcpNoDelay() {
        return true;
    }

    @Override
    public void setSoTimeout(int milliseconds) throws SocketException {
        if (milliseconds != 0) {
            throw new SocketException("Reads of a unix socket have no timeout");
        }
    }

    @Override
    public int getSoTimeout() {
        return 0;
    }

    /**
     * Ends the output, and lets the peer read all of it.
     *
     * <p>The kernel resets a connection that is closed before all input has been read: a peer that writes then may drop
     * the answer to its last call.
     */
    @Override
    public void close() throws IOException {
        boolean isFirst = !isClosing;
        isClosing = true;
        if (isAtEnd) {
            channel.close();
        } else if (isFirst && channel.isOpen()) {
            ShortLivedThreads.after(LINGER_NANOS).thenRun(this::closeNow);
            channel.shutdownOutput();
        }
    }

    private void closeNow() {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.atDebug().setCause(e).log("A connection failed to close");
        }
    }

    @Override
    public String toString() {
        return "unix socket " + local;
    }

    /** Not the JDK's stream of the channel: on JDK 17 its reads hold a lock that writes need. */
    private final class Input extends PingReplies.ArrayInput {

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int read = channel.read(ByteBuffer.wrap(bytes, offset, length));
            if (read < 0) {
                isAtEnd = true;
                if (isClosing) {
                    channel.close();
                }
            }
            return read;
        }

        @Override
        public void close() throws IOException {
            UnixSocket.this.close();
        }
    }

    private final class Output extends OutputStream {

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            ByteBuffer unsent = ByteBuffer.wrap(bytes, offset, length);
            while (unsent.hasRemaining()) {
                channel.write(unsent);
            }
        }

        @Override
        public void close() throws IOException {
            UnixSocket.this.close();
        }
    }

    /** Listens on a unix socket, as the {@link ServerSocket} that gRPC's transport needs. */
    static final class UnixServerSocket extends ServerSocket {

        /** Connections that the kernel keeps: a kubelet must get in even behind a flood of others. */
        private static final int WAITING = 1024;

        private final ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);

        UnixServerSocket() throws IOException {}

        @Override
        public void bind(SocketAddress path) throws IOException {
            channel.bind(path, WAITING);
        }

        @Override
        public Socket accept() throws IOException {
            return Accepting.one(this, this::next);
        }

        private Socket next() throws IOException {
            SocketChannel connection = channel.accept();
            try {
                return new UnixSocket(connection);
            } catch (IOException e) {
                connection.close();
                throw e;
            }
        }

        @Override
        public SocketAddress getLocalSocketAddress() {
            try {
                return channel.getLocalAddress();
            } catch (IOException e) {
                throw new IllegalStateException("The socket is closed", e);
            }
        }

        @Override
        public boolean isBound() {
            return true;
        }

        @Override
        public boolean isClosed() {
            return !channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
            super.close();
        }
    }
}
