// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A stream that closes itself when its time is over, which ends a read that waits for more. */
final class TimedStream extends FilterInputStream {

    private final CompletableFuture<Void> end = new CompletableFuture<>();

    private TimedStream(InputStream stream) {
        super(stream);
    }

    static TimedStream of(InputStream stream, long nanos) {
        TimedStream timed = new TimedStream(stream);
        timed.end
                .completeOnTimeout(null, Math.max(0, nanos), TimeUnit.NANOSECONDS)
                .thenRun(timed::closeLate);
        return timed;
    }

    private void closeLate() {
        try {
            in.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        end.cancel(false);
        super.close();
    }
}
