// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.testkit.apiserver.http.InMemoryApi;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient.Version;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * One request, with its own connection: the server's end, the wire, and the client's end.
 *
 * <p>What the server sends is delivered in order, one delivery at a time, on threads of the client's process.
 */
final class Connection<T> implements InMemoryApi.Receiver, Flow.Subscription {

    private static final Set<Fault> ENDS =
            EnumSet.of(Fault.WATCH_ENDED, Fault.WATCH_RESET, Fault.WATCH_EXPIRED, Fault.WATCH_SILENT);
    private static final int PIECES_BETWEEN_CUTS = 8; // on average

    private final SimulatedApiServer server;
    private final Process process;
    private final HttpRequest request;
    private final Call call;
    private final Fate fate;
    private final BodyHandler<T> handler;
    private final CompletableFuture<HttpResponse<T>> result = new CompletableFuture<>();
    private final Deque<Delivery> wire = new ArrayDeque<>();
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private Runnable disconnect = () -> {};
    private int status;
    private Map<String, List<String>> headers = Map.of();
    private int pieces;
    private boolean isSent; // the server's end sends nothing more
    private boolean isTaken; // the client's end accepts nothing more
    private boolean isBusy;
    private long demand;
    private @Nullable BodySubscriber<T> subscriber;

    /** Something on its way to the client. */
    private record Delivery(String what, boolean isPiece, long earliest, Runnable arrival) {}

    Connection(SimulatedApiServer server, Process process, HttpRequest request, Call call, BodyHandler<T> handler) {
        this.server = server;
        this.process = process;
        this.request = request;
        this.call = call;
        this.fate = server.network().fate(call);
        this.handler = handler;
    }

    Process process() {
        return process;
    }

    CompletableFuture<HttpResponse<T>> open() {
        result.whenComplete((response, failure) -> {
            if (result.isCancelled()) {
                cancel();
            }
        });
        server.opened(this);
        if (fate.fault() == Fault.REFUSED || !server.isUp()) {
            fail(new ConnectException("Connection refused"));
        } else if (fate.fault() != Fault.LOST) {
            byte[] body = request.bodyPublisher().map(Connection::content).orElse(new byte[0]);
            Duration late = Duration.ofSeconds(fate.fault() == Fault.LATE ? fate.amount() : 0);
            byte[] sent = late.isZero() ? body : JsonTrees.bytes(marked(body));
            Simulation.after(server.network().latency().plus(late), call + " arrives", () -> arrive(sent));
        }
        return result;
    }

    private static JsonNode marked(byte[] body) {
        ObjectNode object = (ObjectNode) JsonTrees.parse(new String(body, StandardCharsets.UTF_8));
        object.withObject("/metadata/annotations").put("unexpected", "late");
        return object;
    }

    private static byte[] content(BodyPublisher publisher) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        publisher.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(ByteBuffer bytes) {
                byte[] part = new byte[bytes.remaining()];
                bytes.get(part);
                all.writeBytes(part);
            }

            @Override
            public void onError(Throwable failure) {
                throw new IllegalStateException("a body that cannot be read", failure);
            }

            @Override
            public void onComplete() {}
        });
        return all.toByteArray();
    }

    /** Ends in the middle, because the server ended. What is on the wire may get lost. */
    void reset() {
        if (Simulation.random().nextBoolean()) {
            wire.clear();
        }
        fail(new SocketException("Connection reset"));
    }

    private void arrive(byte[] body) {
        if (isSent) { // The server was stopped in the meantime.
            return;
        }
        if (!server.trusts(request)) {
            refuse(Fault.UNAUTHORIZED.status);
        } else if (fate.fault() == Fault.RESET) {
            reset();
        } else if (fate.fault().status != 0 && !fate.fault().isAfterEffect()) {
            refuse(fate.fault().status);
        } else {
            serve(body);
        }
    }

    private void serve(byte[] body) {
        if (fate.fault() == Fault.CONFLICT) {
            server.touch(call);
        }
        disconnect = server.api()
                .handle(request.method(), target(), request.headers().map(), body, this);
        if (isSent || isTaken) {
            disconnect.run();
        }
    }

    private String target() {
        URI uri = request.uri();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        if (fate.fault() == Fault.STALE) {
            String exact = "resourceVersionMatch=Exact&resourceVersion=" + server.revisionBefore(fate.amount());
            query = query.replace("resourceVersion=0", exact);
        }
        return uri.getRawPath() + query;
    }

    private void refuse(int code) {
        Map<String, List<String>> fields = new HashMap<>(Map.of("Content-Type", List.of("application/json")));
        if (fate.fault() == Fault.THROTTLED) {
            fields.put("Retry-After", List.of(Integer.toString(Math.max(1, fate.amount()))));
        }
        head(code, fields);
        body(JsonTrees.bytes(
                ApiFailure.transport(code, fate.fault() + " by the simulation").status()));
        end();
    }

    @Override
    public void head(int code, Map<String, List<String>> fields) {
        status = code;
        headers = fields;
        if (isStream()) {
            send(new Delivery("begins", false, 0, this::begin));
        }
    }

    private boolean isStream() {
        return call.isWatch() && status == 200;
    }

    @Override
    public void body(byte[] piece) {
        if (!isStream()) {
            content.writeBytes(piece);
        } else if (process.isDead()) {
            cancel();
        } else if (!isSent && ENDS.contains(fate.fault()) && pieces++ >= fate.amount()) {
            endWatch();
        } else if (!isSent) {
            sendCut(piece);
        }
    }

    private void endWatch() {
        switch (fate.fault()) {
            case WATCH_RESET -> fail(new SocketException("Connection reset"));
            case WATCH_SILENT -> {
                isSent = true;
                disconnect.run();
                server.closed(this);
            }
            case WATCH_EXPIRED -> {
                String error = JsonTrees.object()
                        .put("type", "ERROR")
                        .set(
                                "object",
                                ApiFailure.expired(1, server.objects().revision())
                                        .status())
                        .toString();
                sendCut((error + "\n").getBytes(StandardCharsets.UTF_8));
                end();
            }
            default -> end();
        }
    }

    /** Sends a piece as a whole, or in two parts. */
    private void sendCut(byte[] piece) {
        int cut = Simulation.random().nextInt(PIECES_BETWEEN_CUTS) == 0
                ? Simulation.random().nextInt(piece.length)
                : 0;
        if (cut > 0) {
            sendPiece(ByteBuffer.wrap(piece, 0, cut));
        }
        sendPiece(ByteBuffer.wrap(piece, cut, piece.length - cut));
    }

    private void sendPiece(ByteBuffer piece) {
        long earliest = Simulation.nanoTime() + server.network().lag().toNanos();
        send(new Delivery("continues", true, earliest, () -> next(piece)));
    }

    @Override
    public void end() {
        Fault fault = fate.fault();
        if (isSent) {
            return;
        }
        if (isStream()) {
            finish(new Delivery("ends", false, 0, this::complete));
        } else if (fault.isAfterEffect() && status != fault.status) {
            content.reset();
            refuse(fault.status);
        } else if (fault == Fault.ANSWER_RESET) {
            reset();
        } else if (fault != Fault.ANSWER_LOST) {
            finish(new Delivery("" + status, false, 0, this::whole));
        }
    }

    private void finish(Delivery last) {
        isSent = true;
        disconnect.run();
        send(last);
    }

    private void fail(IOException cause) {
        finish(new Delivery("breaks", false, 0, () -> failed(cause)));
    }

    private void send(Delivery delivery) {
        wire.add(delivery);
        deliverNext();
    }

    private void deliverNext() {
        Delivery next = wire.peek();
        if (isBusy || next == null || next.isPiece && demand == 0) {
            return;
        }
        isBusy = true;
        boolean isLate = fate.fault() == Fault.SLOW && subscriber == null || fate.fault() == Fault.WATCH_LATE;
        Duration late = Duration.ofSeconds(isLate ? fate.amount() : 0)
                .plusNanos(Math.max(0, next.earliest - Simulation.nanoTime()));
        Simulation.after(process, server.network().latency().plus(late), call + " " + next.what, this::deliver);
    }

    private void deliver() {
        Delivery delivery = wire.poll();
        if (delivery != null && !isTaken) {
            demand -= delivery.isPiece ? 1 : 0;
            delivery.arrival.run();
        }
        isBusy = false;
        deliverNext();
    }

    private BodySubscriber<T> begin() {
        HttpHeaders fields = HttpHeaders.of(headers, (name, value) -> true);
        BodySubscriber<T> taker = handler.apply(new Head(status, fields));
        subscriber = taker;
        taker.getBody().whenComplete((body, failure) -> {
            if (failure == null) {
                result.complete(new Answer<>(request, status, fields, body));
            } else {
                result.completeExceptionally(failure);
            }
        });
        taker.onSubscribe(this);
        return taker;
    }

    /** Takes an answer that has arrived completely: a reader must not wait for the rest, outside of the scheduler. */
    private void whole() {
        boolean isCut = fate.fault() == Fault.ANSWER_CUT;
        ByteBuffer all = ByteBuffer.wrap(content.toByteArray());
        all.limit(isCut ? all.limit() / 2 : all.limit());
        begin();
        if (all.hasRemaining()) {
            next(all);
        }
        if (isCut) {
            failed(new EOFException("EOF reached while reading"));
        } else {
            complete();
        }
    }

    private void next(ByteBuffer bytes) {
        if (subscriber != null) {
            subscriber.onNext(List.of(bytes.asReadOnlyBuffer()));
        }
    }

    private void complete() {
        close();
        if (subscriber != null) {
            subscriber.onComplete();
        }
    }

    private void failed(IOException cause) {
        close();
        if (subscriber == null) {
            result.completeExceptionally(cause);
        } else {
            subscriber.onError(cause);
        }
    }

    private void close() {
        isTaken = true;
        server.closed(this);
    }

    @Override
    public void request(long count) {
        demand = demand + count < 0 ? Long.MAX_VALUE : demand + count;
        deliverNext();
    }

    /** Ends the connection because the client closes it, or dies. */
    @Override
    public void cancel() {
        close();
        wire.clear();
        if (isStream()) {
            isSent = true;
            disconnect.run();
        }
    }

    private record Head(int statusCode, HttpHeaders headers) implements HttpResponse.ResponseInfo {
        @Override
        public Version version() {
            return Version.HTTP_1_1;
        }
    }

    private record Answer<T>(HttpRequest request, int statusCode, HttpHeaders headers, T body)
            implements HttpResponse<T> {
        @Override
        public Optional<HttpResponse<T>> previousResponse() {
            return Optional.empty();
        }

        @Override
        public Optional<SSLSession> sslSession() {
            return Optional.empty();
        }

        @Override
        public URI uri() {
            return request.uri();
        }

        @Override
        public Version version() {
            return Version.HTTP_1_1;
        }
    }
}
