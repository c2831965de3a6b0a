// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import static io.dra4j.testkit.kubelet.WireBytes.DATA;
import static io.dra4j.testkit.kubelet.WireBytes.END_HEADERS;
import static io.dra4j.testkit.kubelet.WireBytes.END_STREAM;
import static io.dra4j.testkit.kubelet.WireBytes.HEADERS;
import static io.dra4j.testkit.kubelet.WireBytes.PREFACE;
import static io.dra4j.testkit.kubelet.WireBytes.SETTINGS;
import static io.dra4j.testkit.kubelet.WireBytes.frame;
import static io.dra4j.testkit.kubelet.WireBytes.headers;
import static io.dra4j.testkit.kubelet.WireBytes.join;
import static io.dra4j.testkit.kubelet.WireBytes.message;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PrepareMessages;
import io.dra4j.testkit.kubelet.RawCalls;
import io.dra4j.testkit.kubelet.WireBytes;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Rules for malformed bytes, which a kubelet does not send. */
@ExecutionGroup.On(ExecutionGroup.FAULTS)
record WireRules(TestContext context) {

    /** Maximum delay between socket close and process exit. */
    private static final Duration LAST_BREATH = Duration.ofSeconds(2);

    private static final int HALF_OPEN = 1000;
    private static final int FUZZED = 200;

    /** An unknown field, which servers ignore, of 4 MiB: its tag, its length and its bytes. */
    private static final byte[] TOO_LONG =
            join(new byte[] {0x7a, (byte) 0x80, (byte) 0x80, (byte) 0x80, 2}, new byte[4 << 20]);

    @Rule("DRA-SEC-03")
    void badBytesAreRefused() throws IOException {
        RegistrationSocket registration = RegistrationSocket.of(context);
        Path service = registration.service();
        KubeletClaim claim = context.claims().allocate(Absent.anyDevice(context));
        byte[] request = PrepareMessages.request(List.of(claim));
        for (Path socket : List.of(service, registration.path())) {
            badFrames(socket);
            nextCallIsAnswered("bad frames at " + socket.getFileName());
        }
        badMessages(service, request, claim.uid());
        nextCallIsAnswered("bad messages");
        fuzz(service, request);
        nextCallIsAnswered("random changes of a call");
        halfOpen(List.of(service, registration.path()));
    }

    private String method() {
        return PrepareMessages.method(context.driver().info().service());
    }

    private void badFrames(Path socket) throws IOException {
        String method = method();
        byte[] begin = join(PREFACE, frame(SETTINGS, 0, 0, new byte[0]));
        byte[] open = join(begin, frame(HEADERS, END_HEADERS, 1, headers(method)));
        List<byte[]> bad = List.of(
                "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                new byte[] {0x16, 0x03, 0x01, 0x02, 0x00, 0x01}, // TLS
                join(begin, frame(0xffffff, DATA, 0, 1, new byte[100])),
                join(begin, frame(HEADERS, END_HEADERS, 0, headers(method))),
                join(begin, frame(HEADERS, END_HEADERS, 2, headers(method))),
                join(begin, frame(HEADERS, END_HEADERS, 1, new byte[] {-1, -1, -1, -1})),
                join(begin, frame(HEADERS, END_HEADERS, 1, new byte[200_000])),
                join(begin, frame(SETTINGS, 0, 0, new byte[5])),
                join(begin, frame(0x77, 0xff, 7, new byte[9])),
                join(open, frame(DATA, END_STREAM, 1, message(-1, new byte[3]))),
                join(open, frame(DATA, END_STREAM, 1, message(5 << 20, new byte[3]))),
                join(open, frame(DATA, END_STREAM, 1, new byte[] {1, 0, 0, 0, 1, 7})),
                join(open, frame(DATA, END_STREAM, 3, message(0, new byte[0]))));
        for (byte[] bytes : bad) {
            send(socket, bytes);
        }
    }

    /** Sends bytes and hangs up; the answer of the driver is ignored. */
    private static void send(Path socket, byte[] bytes) throws IOException {
        try (RawCalls calls = new RawCalls(socket);
                SocketChannel raw = calls.connect()) {
            ByteBuffer all = ByteBuffer.wrap(bytes);
            while (all.hasRemaining()) {
                if (raw.write(all) < 0) {
                    return;
                }
            }
        } catch (IOException e) {
            if (e instanceof ConnectException) {
                throw new Violation("no process listens at " + socket + " any more: " + e.getMessage());
            }
        }
    }

    private void badMessages(Path service, byte[] request, String uid) {
        byte[] noUtf8 = request.clone();
        noUtf8[new String(request, StandardCharsets.ISO_8859_1).indexOf(uid)] = (byte) 0xff;
        try (RawCalls calls = new RawCalls(service)) {
            refused(calls.call(method(), noUtf8), "a UID that is not UTF-8");
            refused(calls.call(method(), new byte[] {0x0a, 0x7f, 1}), "a message that is cut");
            refused(calls.call(method(), join(request, TOO_LONG)), "a message of more than 4 MiB");
        }
    }

    private static void refused(RawCalls.Response answer, String what) {
        boolean errorOfAClaim = answer.code().equals("OK")
                && PrepareMessages.results(answer.message()).values().stream()
                        .anyMatch(one -> !one.error().isEmpty());
        Violation.unless(!answer.code().equals("OK") || errorOfAClaim).because("Prepare with %s was answered OK", what);
    }

    private void fuzz(Path service, byte[] request) throws IOException {
        byte[] call = WireBytes.call(method(), request);
        for (int i = 0; i < FUZZED; i++) {
            send(service, WireBytes.mutate(call, context.random()));
        }
    }

    private void halfOpen(List<Path> sockets) throws IOException {
        List<SocketChannel> open = new ArrayList<>();
        try (RawCalls service = new RawCalls(sockets.get(0));
                RawCalls registration = new RawCalls(sockets.get(1))) {
            for (int i = 0; i < HALF_OPEN; i++) {
                SocketChannel raw = (i % 2 == 0 ? service : registration).connect();
                open.add(raw);
                if (i % 4 < 2) {
                    raw.write(ByteBuffer.wrap(PREFACE, 0, 1 + i % PREFACE.length));
                }
            }
            nextCallIsAnswered(HALF_OPEN + " half-open connections");
        } finally {
            for (SocketChannel raw : open) {
                raw.close();
            }
        }
    }

    private void nextCallIsAnswered(String after) {
        String complaint = nextComplaint();
        if (complaint.isEmpty() && context.driver().isAlive()) {
            return;
        }
        boolean ended = context.driver().current().awaitExit(LAST_BREATH).isPresent();
        Violation.unless(!ended)
                .because(
                        "after %s, the driver ended: %s",
                        after, context.driver().fate());
        throw new Violation("after %s, the next call failed: %s", after, complaint);
    }

    private String nextComplaint() {
        try {
            RegistrationSocket.of(context).info(context.timeouts().change());
        } catch (Violation e) {
            return String.valueOf(e.getMessage());
        }
        return context.calls().unprepare(Absent.claim(context)).complaint().orElse("");
    }
}
