// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ApiConnections.Response;
import io.dra4j.runtime.internal.files.FileStamp;
import io.fabric8.kubernetes.client.Config;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client of the API server: connections, replaced when they are no longer good.
 *
 * <ul>
 *   <li>Files of the connections have changed: the next request uses new connections, and open ones continue.
 *   <li>The server or its certificate is refused, or it refuses this client: everything is read again, including
 *       credentials that a plugin prints. Until new ones can be used, requests that are not refused continue with the
 *       last credentials.
 *   <li>A request got no answer in time: the other connections may also be dead, and get no further request. Once the
 *       server answers on a new one, watches that were silent since then end.
 * </ul>
 *
 * <p>Thread-safe.
 */
final class ApiClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ApiClient.class);

    /** Credentials that are refused are not read again for each of many requests, unless files change. */
    private static final long SHORTEST_LIFE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Nor are those that can't be used: a plugin that fails may have timed out. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final @Nullable Path kubeconfig;
    private final Supplier<Config> source;
    private final ReadWriteLock lock = new ReentrantReadWriteLock(); // of current: sending, or replacing it
    private final Queue<ApiConnections> silent = new ConcurrentLinkedQueue<>();
    private volatile ApiConnections current; // replaced while this is held
    private final ReentrantLock reading = new ReentrantLock();
    // Guarded by reading.
    private Map<Path, FileStamp> lastRead;
    private long restUntil = System.nanoTime();
    private String failure = "";

    /**
     * A request that was sent.
     *
     * @param connections the connections that it was sent on
     * @param since when, by {@link System#nanoTime}
     */
    record Sent<T>(ApiConnections connections, long since, CompletableFuture<Response<T>> response) {}

    /**
     * Reads the configuration.
     *
     * @param kubeconfig the file that is looked at for changes; {@code null} for none
     * @param source reads it again each time
     * @throws DraException if it can't be read or used
     */
    ApiClient(@Nullable Path kubeconfig, Supplier<Config> source) {
        this.kubeconfig = kubeconfig;
        this.source = source;
        this.current = read();
        this.lastRead = current.files();
    }

    private ApiConnections read() {
        Map<Path, FileStamp> stamp = kubeconfig == null ? Map.of() : Map.of(kubeconfig, FileStamp.of(kubeconfig));
        return ApiConnections.of(source.get(), stamp);
    }

    String server() {
        return current.server();
    }

    String namespace() {
        return current.namespace();
    }

    /** Sends a request with the current content of its files, or the last one while another request reads them. */
    <T> Sent<T> send(Function<ApiConnections, CompletableFuture<Response<T>>> request) {
        if (current.isOutdated() && reading.tryLock()) {
            renewAndUnlock();
        }
        lock.readLock().lock();
        try {
            return new Sent<>(current, System.nanoTime(), begin(request));
        } finally {
            lock.readLock().unlock();
        }
    }

    private <T> CompletableFuture<T> begin(Function<ApiConnections, CompletableFuture<T>> request) {
        try {
            return request.apply(current);
        } catch (UncheckedIOException | OutOfMemoryError e) {
            // The token can't be read, or there is no thread for the request; either will be back soon.
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Notes that one side refused the other.
     *
     * @param nanos how long to wait at most while credentials are read for another request
     * @return whether another attempt has other credentials
     */
    boolean refused(ApiConnections used, long nanos) {
        try {
            if (used == current && reading.tryLock(nanos, TimeUnit.NANOSECONDS)) {
                renewAndUnlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return used != current;
    }

    /** Notes that a request got no answer in time. */
    synchronized void unanswered(Sent<?> request) {
        ApiConnections used = request.connections();
        used.silentSince(request.since());
        if (used == current) {
            LOG.atInfo().log("The API server did not answer in time; continuing with new connections");
            if (used.hasWatches()) { // nothing else keeps the others, which end as garbage on Java 17
                silent.add(used);
            }
            replaceIfPossible(used);
        }
    }

    private void replaceIfPossible(ApiConnections used) {
        try {
            replace(used.again());
        } catch (OutOfMemoryError e) {
            LOG.atWarn().setCause(e).log("No thread for new connections; the last ones stay");
        }
    }

    /** Notes that a request was answered. */
    void answered(ApiConnections used) {
        if (used == current && !silent.isEmpty()) {
            for (ApiConnections old = silent.poll(); old != null; old = silent.poll()) {
                old.endSilentWatches();
            }
        }
    }

    /** Keeps the current connections if the files can't be used: one of two may not be replaced yet. */
    private void renewAndUnlock() {
        try {
            Map<Path, FileStamp> files = current.filesNow();
            if (System.nanoTime() - restUntil < 0 && files.equals(lastRead)) {
                return;
            }
            lastRead = files;
            ApiConnections next = read();
            lastRead = next.files();
            restUntil = System.nanoTime() + SHORTEST_LIFE_NANOS;
            failure = "";
            replace(next);
        } catch (DraException | UncheckedIOException | OutOfMemoryError e) { // or no more threads
            restUntil = System.nanoTime() + PAUSE_NANOS;
            if (!failure.equals(e.toString())) {
                failure = e.toString();
                LOG.atWarn().setCause(e).log("The new credentials can't be used; the last ones stay");
            }
        } finally {
            reading.unlock();
        }
    }

    private synchronized void replace(ApiConnections next) {
        ApiConnections last = current;
        lock.writeLock().lock();
        try {
            current = next;
        } finally {
            lock.writeLock().unlock();
        }
        last.retire();
    }

    @Override
    public void close() {
        silent.forEach(ApiConnections::close);
        current.close();
    }
}
