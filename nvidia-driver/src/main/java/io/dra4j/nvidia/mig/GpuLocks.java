// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** One lock for each GPU, so that different GPUs change at the same time. */
public final class GpuLocks {

    private final Map<String, ReentrantLock> locks = new ConcurrentHashMap<>();

    /** Does work while no other thread does any on the GPU. */
    public <T> T with(String gpu, Supplier<T> work) {
        ReentrantLock lock = locks.computeIfAbsent(gpu, key -> new ReentrantLock());
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }
}
