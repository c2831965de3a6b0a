// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The open health streams, free of wire versions: each is a listener of the feed.
 *
 * <p>A stream ends when its caller cancels it or the driver stops, never by itself. To a caller
 * that does not read, lists are not queued up: it gets the newest when it reads again.
 */
final class HealthStreams {

    private static final int LONGEST_MESSAGE = 1024; // bytes; the kubelet cuts what is longer

    private final HealthFeed feed;
    private final InstantSource clock;

    HealthStreams(HealthFeed feed, InstantSource clock) {
        this.feed = feed;
        this.clock = clock;
    }

    /**
     * What is said of all devices of a list.
     *
     * @param seconds when it holds; a report that is still valid holds now, however old it is
     */
    record Facts(long seconds, long timeoutSeconds) {}

    <T> void open(StreamObserver<T> response, BiFunction<List<Current>, Facts, T> wire) {
        ServerCallStreamObserver<T> caller = (ServerCallStreamObserver<T>) response;
        Stream<T> stream = new Stream<>(caller, wire);
        caller.setOnCancelHandler(() -> feed.leave(stream));
        caller.setOnReadyHandler(stream::send);
        feed.join(stream);
    }

    private Facts facts() {
        return new Facts(clock.instant().getEpochSecond(), HealthFeed.TIMEOUT.toSeconds());
    }

    /** Returns a device's message, cut to what the kubelet takes, between characters. */
    static String message(Current device) {
        CharBuffer text = CharBuffer.wrap(device.message());
        ByteBuffer cut = ByteBuffer.allocate(LONGEST_MESSAGE);
        CharsetEncoder encoder =
                StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPLACE);
        encoder.encode(text, cut, true);
        return StandardCharsets.UTF_8.decode(cut.flip()).toString();
    }

    private final class Stream<T> implements HealthFeed.Listener {
        private final ServerCallStreamObserver<T> caller;
        private final BiFunction<List<Current>, Facts, T> wire;

        private @Nullable List<Current> unsent; // guarded by this, as is the caller
        private boolean ended; // guarded by this

        Stream(ServerCallStreamObserver<T> caller, BiFunction<List<Current>, Facts, T> wire) {
            this.caller = caller;
            this.wire = wire;
        }

        @Override
        public synchronized void hear(List<Current> devices) {
            unsent = devices;
            send();
        }

        private synchronized void send() {
            if (unsent != null && !ended && caller.isReady()) {
                caller.onNext(wire.apply(unsent, facts()));
                unsent = null;
            }
        }

        @Override
        public synchronized void end() {
            ended = true;
            caller.onCompleted();
        }
    }
}
