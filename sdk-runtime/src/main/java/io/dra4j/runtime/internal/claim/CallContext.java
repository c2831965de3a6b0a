// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import java.time.Instant;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * The context of one call to the provider; when the call has ended, it takes no more.
 *
 * <p>A provider that goes on on a thread of its own would otherwise write into what another
 * operation of the claim does. Thread-safe.
 */
final class CallContext implements ClaimContext, AutoCloseable {

    private final Semaphore permits;
    private final Consumer<ProviderState> durably;
    private final Deadline deadline;
    private boolean ended; // guarded by this

    /** Starts a call, as soon as there is a permit. */
    CallContext(Semaphore permits, Consumer<ProviderState> durably, Deadline deadline) {
        permits.acquireUninterruptibly();
        this.permits = permits;
        this.durably = durably;
        this.deadline = deadline;
    }

    @Override
    public synchronized void checkpoint(ProviderState state) {
        if (ended) {
            throw new DraException("The call that this ClaimContext was given to has ended; checkpoint what is"
                    + " done to hardware before prepare or unprepare returns");
        }
        durably.accept(state);
    }

    @Override
    public Instant deadline() {
        return deadline.instant();
    }

    /** Ends it with its call, after a checkpoint that is being written. */
    @Override
    public synchronized void close() {
        ended = true;
        permits.release();
    }
}
