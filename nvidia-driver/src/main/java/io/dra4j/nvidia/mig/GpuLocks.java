// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import io.dra4j.api.DriverContext;
import io.dra4j.api.NodeLock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One lock per GPU, so that different GPUs can be changed concurrently. */
public final class GpuLocks {

    private static final Duration LONGEST = Duration.ofSeconds(30);
    private static final Duration TO_REPORT = Duration.ofSeconds(2); // reserved in a call that waits in vain

    private final Map<String, Used> locks = new ConcurrentHashMap<>();

    /** A lock that threads have, or wait for. */
    private record Used(ReentrantLock lock, int threads) {}

    /** Runs work while no other thread works on the GPU. */
    public <T> T with(String gpu, Supplier<T> work) {
        Used first = new Used(new ReentrantLock(), 1);
        ReentrantLock lock = locks.merge(gpu, first, (used, one) -> new Used(used.lock, used.threads + 1)).lock;
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
            locks.computeIfPresent(
                    gpu, (key, used) -> used.threads == 1 ? null : new Used(used.lock, used.threads - 1));
        }
    }

    /** Runs work as {@link #with} does. */
    public void run(String gpu, Runnable work) {
        with(gpu, () -> {
            work.run();
            return true;
        });
    }

    /**
     * Runs work under a name that no other thread of this driver's processes on the node uses meanwhile.
     *
     * @param runtime has the locks of the node; null before the start, when there are none
     * @param deadline the end of the call; in the past to try once
     * @throws io.dra4j.api.error.DraException if another has the lock until then
     */
    @SuppressWarnings("try") // the lock only has to be held
    public static <T> T onNode(@Nullable DriverContext runtime, String name, Instant deadline, Supplier<T> work) {
        if (runtime == null) {
            return work.get();
        }
        Duration left = Duration.between(runtime.clock().instant(), deadline).minus(TO_REPORT);
        Duration atMost = left.isNegative() ? Duration.ZERO : left.compareTo(LONGEST) < 0 ? left : LONGEST;
        try (NodeLock held = runtime.lock(name, atMost)) {
            return work.get();
        }
    }
}
