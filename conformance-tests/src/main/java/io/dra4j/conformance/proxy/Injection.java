// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.proxy;

import java.util.concurrent.atomic.AtomicInteger;

/** A fault at work; thread-safe. */
public final class Injection implements AutoCloseable {

    private final Fault fault;
    private final AtomicInteger left;

    Injection(Fault fault) {
        this.fault = fault;
        this.left = new AtomicInteger(fault.times());
    }

    /** Takes the request as one of those that the fault is for, if it is. */
    boolean takes(RecordedRequest request) {
        return left.get() > 0
                && fault.concerns(request)
                && left.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
    }

    Effect effect() {
        return fault.effect();
    }

    /** Whether it has happened as often as it should, or was removed. */
    public boolean over() {
        return left.get() == 0;
    }

    /** Removes the fault: requests that come now are not concerned. */
    @Override
    public void close() {
        left.set(0);
    }
}
