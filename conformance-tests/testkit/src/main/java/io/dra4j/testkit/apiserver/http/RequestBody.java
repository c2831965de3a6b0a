// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Invocable;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;

/** The body of a request, which has to arrive within the timeout of the request. */
final class RequestBody {
    private final Content.Source source;
    private final long end;
    private boolean complete;

    RequestBody(Content.Source source, Duration limit) {
        this.source = source;
        end = System.nanoTime() + limit.toNanos();
    }

    /** Reads the body until it exceeds a number of bytes; 504 on a timeout. */
    byte[] read(int most) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        pass(most, buffer -> bytes.writeBytes(BufferUtil.toArray(buffer)));
        return bytes.toByteArray();
    }

    /** Skips the rest, up to a number of bytes; returns whether it was all. */
    boolean drain(long most) throws IOException {
        try {
            pass(most, buffer -> {});
        } catch (ApiFailure e) {
            return false; // The reason for the failure is known.
        }
        return complete;
    }

    private void pass(long most, Consumer<ByteBuffer> sink) throws IOException {
        long passed = 0;
        while (!complete && passed <= most) {
            Content.Chunk chunk = source.read();
            if (chunk == null) {
                awaitMore();
                continue;
            }
            if (Content.Chunk.isFailure(chunk)) {
                throw new IOException(chunk.getFailure());
            }
            passed += chunk.remaining();
            sink.accept(chunk.getByteBuffer());
            complete = chunk.isLast();
            chunk.release();
        }
    }

    private void awaitMore() {
        long left = end - System.nanoTime();
        try {
            if (left > 0) {
                CountDownLatch more = new CountDownLatch(1);
                // Uses no thread of the pool: all of them may wait here.
                source.demand(Invocable.from(InvocationType.NON_BLOCKING, more::countDown));
                if (more.await(left, TimeUnit.NANOSECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The server ends.
        }
        throw ApiFailure.timeout();
    }
}
