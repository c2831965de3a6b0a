// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import io.dra4j.testkit.proxy.WireFormat.EventBounds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingCallback;
import org.jspecify.annotations.Nullable;

/**
 * Forwards a response's body to the client, each piece as soon as it arrives, without a separate thread; it can be told
 * to fall silent, or to end the response early, at any time and from any thread.
 */
final class Relay extends IteratingCallback {

    private static final int LONGEST_ERROR = 2_000;
    private static final int LONGEST_COLLECTED = 256 * 1024;

    private enum Mode {
        FORWARDING,
        SILENT,
        GONE
    }

    private final Passage passage;
    private final org.eclipse.jetty.client.Response fromServer;
    private final Content.Source source;
    private final Response toClient;
    private final Callback done;
    private final WireFormat format;
    private final ByteArrayOutputStream error = new ByteArrayOutputStream();
    private volatile Mode mode;
    private volatile boolean demanded;
    // Touched only by process(), which never runs twice at the same time.
    private Content.@Nullable Chunk chunk;
    private final EventBounds bounds;
    private boolean headersSent;
    private boolean lastSent;

    /** The callback succeeds when the client has the whole response, and fails otherwise. */
    Relay(
            Passage passage,
            org.eclipse.jetty.client.Response fromServer,
            Content.Source source,
            Response toClient,
            Callback done) {
        this.passage = passage;
        this.fromServer = fromServer;
        this.source = source;
        this.toClient = toClient;
        this.mode = passage.silent() ? Mode.SILENT : Mode.FORWARDING;
        this.done = done;
        format = WireFormat.of(fromServer.getHeaders());
        bounds = format.bounds();
    }

    /** Ends a watch with 410 Gone, after the event that is just being sent. */
    void endGone() {
        passage.fault(Effect.Plain.GONE);
        mode = Mode.GONE;
        iterate();
    }

    /** Ends the response now, in the middle. */
    void cut() {
        passage.fault("cut");
        passage.abort();
        fromServer.abort(new IOException("the proxy cut the response"));
    }

    @Override
    protected Action process() {
        release();
        if (lastSent) {
            return Action.SUCCEEDED;
        }
        if (!headersSent) {
            headersSent = true;
            passage.answered(fromServer.getStatus());
            return write(false, BufferUtil.EMPTY_BUFFER);
        }
        if (mode == Mode.SILENT) {
            return Action.IDLE;
        }
        if (mode == Mode.GONE && bounds.betweenEvents()) {
            return write(true, ByteBuffer.wrap(format.event(Passage.gone())));
        }
        return forward();
    }

    private Action forward() {
        if (demanded) {
            return Action.IDLE; // A source takes one demand at a time.
        }
        Content.Chunk next = source.read();
        if (next == null) {
            demanded = true;
            source.demand(this::supplied);
            return Action.IDLE;
        }
        if (Content.Chunk.isFailure(next)) {
            // The listener, which also gets the failure, ends the response to the client.
            return Action.IDLE;
        }
        chunk = next;
        ByteBuffer bytes = next.getByteBuffer();
        note(bytes);
        return write(next.isLast(), bytes);
    }

    private void supplied() {
        demanded = false;
        iterate();
    }

    private Action write(boolean last, ByteBuffer bytes) {
        lastSent = last;
        toClient.write(last, bytes, this);
        return Action.SCHEDULED;
    }

    private void note(ByteBuffer bytes) {
        bounds.sent(bytes);
        if (fromServer.getStatus() >= 400 && error.size() < LONGEST_COLLECTED) {
            error.writeBytes(BufferUtil.toArray(bytes));
        }
    }

    private void release() {
        if (chunk != null) {
            chunk.release();
            chunk = null;
        }
    }

    @Override
    protected void onCompleteSuccess() {
        String text = BodyText.of(error.toByteArray(), fromServer.getHeaders());
        passage.ended(text.substring(0, Math.min(text.length(), LONGEST_ERROR)));
        done.succeeded();
        if (mode == Mode.GONE) {
            fromServer.abort(new IOException("the proxy ended the watch"));
        }
    }

    @Override
    protected void onCompleteFailure(Throwable cause) {
        release();
        passage.ended("");
        done.failed(cause);
        fromServer.abort(cause);
    }
}
