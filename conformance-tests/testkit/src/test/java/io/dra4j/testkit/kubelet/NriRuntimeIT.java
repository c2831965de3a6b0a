// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes between a plugin and the runtime: frames of a connection, with messages of ttrpc. */
@Timeout(30)
class NriRuntimeIT {

    private static final HexFormat HEX = HexFormat.of();

    /** RegisterPlugin of "00-dracpu" on stream 1: the header of 10 bytes, and the request. */
    private static final String REGISTER = "0000003c0000000101000a1c6e72692e706b672e6170692e7631616c706861312e52756e"
            + "74696d65120e5265676973746572506c7567696e1a0c0a0664726163707512023030";

    private static final String OK = "0a00";

    @TempDir
    Path folder;

    private NriRuntime runtime;
    private SocketChannel plugin;
    private DataInputStream in;

    @BeforeEach
    void start() throws IOException {
        runtime = NriRuntime.at(folder.resolve("nri.sock"));
        connect();
    }

    private void connect() throws IOException {
        plugin = SocketChannel.open(UnixDomainSocketAddress.of(folder.resolve("nri.sock")));
        in = new DataInputStream(Channels.newInputStream(plugin));
    }

    @AfterEach
    void end() throws IOException {
        plugin.close();
        runtime.close();
    }

    private void send(int connection, String bytes) throws IOException {
        byte[] frame = HEX.parseHex(bytes);
        ByteBuffer all = ByteBuffer.allocate(8 + frame.length);
        plugin.write(all.putInt(connection).putInt(frame.length).put(frame).flip());
    }

    private String frame(int connection) throws IOException {
        assertThat(in.readInt()).isEqualTo(connection);
        return HEX.formatHex(in.readNBytes(in.readInt()));
    }

    private static String words(String bytes) {
        return new String(HEX.parseHex(bytes), StandardCharsets.US_ASCII);
    }

    /** A client may write header and request as two frames. */
    @Test
    void aPluginIsAcceptedConfiguredAndSynchronized() throws IOException {
        send(2, REGISTER.substring(0, 20));
        send(2, REGISTER.substring(20));

        assertThat(frame(2)).isEqualTo("00000002" + "00000001" + "0200" + OK);
        String configure = frame(1);
        assertThat(configure.substring(8))
                .startsWith("00000001" + "0100" + "0a1b")
                .endsWith("20882728d00f");
        assertThat(words(configure)).contains("nri.pkg.api.v1alpha1.Plugin", "Configure", "dra-conformance");

        send(1, "00000002" + "00000001" + "0200" + OK);
        String synchronize = frame(1);
        assertThat(synchronize.substring(8))
                .startsWith("00000003" + "0100" + "0a1b")
                .endsWith("1a00");
        assertThat(words(synchronize)).contains("Synchronize");
    }

    /** UpdateContainers is a request without consequences, and a driver connects at each start. */
    @Test
    void otherRequestsAndOtherPluginsAreAnswered() throws IOException {
        send(2, "00000012" + "00000003" + "0100" + "1210557064617465436f6e7461696e657273");
        assertThat(frame(2)).isEqualTo("00000002" + "00000003" + "0200" + OK);

        plugin.close();
        connect();
        send(2, REGISTER);
        assertThat(frame(2)).endsWith(OK);
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000002ffffffff", "000000027fffffff", "000000020000000affffffff000000010100"})
    void nonsenseEndsItsConnectionAlone(String bytes) throws IOException {
        plugin.write(ByteBuffer.wrap(HEX.parseHex(bytes)));

        assertThat(in.read()).isEqualTo(-1);
        connect();
        send(2, REGISTER);
        assertThat(frame(2)).endsWith(OK);
    }
}
