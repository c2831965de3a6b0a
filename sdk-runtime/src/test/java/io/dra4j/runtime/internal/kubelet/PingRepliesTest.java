// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PingRepliesTest {

    private static final byte[] PREFACE = new byte[24];
    private static final byte[] SETTINGS = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    private static final byte[] DATA = {0, 0, 3, 0, 1, 0, 0, 0, 1, 6, 6, 6};
    private static final byte[] PING = ping(0);
    private static final byte[] REPLY = ping(1);

    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

    private static byte[] ping(int flags) {
        return new byte[] {0, 0, 8, 6, (byte) flags, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    }

    private static byte[] all(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /** Received in pieces of a size, as the network cuts them. */
    private PingReplies receiving(int size, byte[]... parts) {
        InputStream pieces = new ByteArrayInputStream(all(parts)) {
            @Override
            public synchronized int read(byte[] bytes, int offset, int length) {
                return super.read(bytes, offset, Math.min(size, length));
            }
        };
        return new PingReplies(pieces, sent);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 10, 1000})
    void pingsAreAnsweredAndAllElseIsPassedOn(int size) throws IOException {
        PingReplies connection = receiving(size, PREFACE, SETTINGS, PING, DATA, PING, PING, DATA);
        connection.output().write(SETTINGS);

        assertThat(connection.input().readAllBytes()).isEqualTo(all(PREFACE, SETTINGS, DATA, DATA));
        assertThat(sent.toByteArray()).isEqualTo(all(SETTINGS, REPLY, REPLY, REPLY));
    }

    @Test
    void repliesOfTheClientArePassedOn() throws IOException {
        PingReplies connection = receiving(1000, PREFACE, REPLY);
        connection.output().write(SETTINGS);

        assertThat(connection.input().readAllBytes()).isEqualTo(all(PREFACE, REPLY));
        assertThat(sent.toByteArray()).isEqualTo(SETTINGS);
    }

    @Test
    void theFirstFrameIsTheServers() throws IOException {
        PingReplies connection = receiving(1000, PREFACE, PING);
        assertThat(connection.input().readAllBytes()).isEqualTo(PREFACE);
        assertThat(sent.size()).isZero();

        connection.output().write(SETTINGS);
        assertThat(sent.toByteArray()).isEqualTo(all(SETTINGS, REPLY));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 8, 9, 10, 11})
    void aReplyWaitsForTheEndOfAFrame(int cut) throws IOException {
        PingReplies connection = receiving(1000, PREFACE, PING);
        OutputStream out = connection.output();
        out.write(SETTINGS);
        out.write(DATA, 0, cut);
        assertThat(connection.input().readAllBytes()).isEqualTo(PREFACE);
        assertThat(sent.size()).isEqualTo(SETTINGS.length + cut);

        out.write(DATA, cut, DATA.length - cut);
        assertThat(sent.toByteArray()).isEqualTo(all(SETTINGS, DATA, REPLY));
    }

    @Test
    void aPingThatIsCutOffIsTheEnd() throws IOException {
        PingReplies connection = receiving(1000, PREFACE, new byte[] {0, 0, 8, 6, 0, 0, 0});
        connection.output().write(SETTINGS);
        assertThat(connection.input().readAllBytes()).isEqualTo(PREFACE);
        assertThat(sent.toByteArray()).isEqualTo(SETTINGS);
    }
}
