// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.FileStamp;
import io.fabric8.kubernetes.client.Config;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client of the API server: connections, and others in their place when they are no longer good.
 *
 * <ul>
 *   <li>Files that the connections were made with have changed: the next request goes out on new
 *       ones, and what is open goes on.
 *   <li>The server or its certificate is refused, or it refuses this client: all is read again, also
 *       what no file shows, such as the credentials that a plugin prints.
 *   <li>A request got no answer in time: the others may be as dead, and none gets another request.
 *       Once the server answers on a new one, watches end that were silent as long.
 * </ul>
 *
 * <p>Thread-safe.
 */
final class ApiClient implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ApiClient.class);

    /** Credentials that are refused are not read again for each of many requests. */
    private static final long SHORTEST_LIFE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final @Nullable Path kubeconfig;
    private final Supplier<Config> source;
    private final ReadWriteLock lock = new ReentrantReadWriteLock(); // of current: sending, or replacing it
    private final Queue<ApiConnections> silent = new ConcurrentLinkedQueue<>();
    private volatile ApiConnections current;
    // Guarded by this, as all that replaces connections.
    private long lastRefusal = System.nanoTime() - SHORTEST_LIFE_NANOS;
    private String failure = "";

    /**
     * A request that was sent.
     *
     * @param connections on which of all
     * @param since when, by {@link System#nanoTime}
     */
    record Sent<T>(ApiConnections connections, long since, CompletableFuture<HttpResponse<T>> response) {}

    /**
     * Reads the configuration.
     *
     * @param kubeconfig the file that is looked at for changes; {@code null} for none
     * @param source reads it, again each time
     * @throws DraException if it can't be read or used
     */
    ApiClient(@Nullable Path kubeconfig, Supplier<Config> source) {
        this.kubeconfig = kubeconfig;
        this.source = source;
        this.current = read();
    }

    private ApiConnections read() {
        Map<Path, FileStamp> stamp = kubeconfig == null ? Map.of() : Map.of(kubeconfig, FileStamp.of(kubeconfig));
        return ApiConnections.of(source.get(), stamp);
    }

    String server() {
        return current.server();
    }

    /** Sends a request with what its files hold now. */
    <T> Sent<T> send(Function<ApiConnections, CompletableFuture<HttpResponse<T>>> request) {
        if (current.isOutdated()) {
            renewOutdated();
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
        } catch (UncheckedIOException e) {
            // The token can't be read; it is there again soon.
            return CompletableFuture.failedFuture(e);
        }
    }

    private synchronized void renewOutdated() {
        if (current.isOutdated()) {
            renew();
        }
    }

    /**
     * Takes down that one side refused the other.
     *
     * @return whether another attempt has other credentials
     */
    synchronized boolean refused(ApiConnections used) {
        long now = System.nanoTime();
        if (used == current && (now - lastRefusal >= SHORTEST_LIFE_NANOS || used.isOutdated())) {
            lastRefusal = now;
            renew();
        }
        return used != current;
    }

    /** Takes down that a request got no answer in time. */
    synchronized void unanswered(Sent<?> request) {
        ApiConnections used = request.connections();
        used.silentSince(request.since());
        if (used == current) {
            LOG.atInfo().log("The API server did not answer in time; going on with new connections");
            if (used.hasWatches()) { // nothing else keeps the others, which end as garbage on Java 17
                silent.add(used);
            }
            if (!renew()) {
                replace(used.again());
            }
        }
    }

    /** Takes down that a request was answered. */
    void answered(ApiConnections used) {
        if (used == current && !silent.isEmpty()) {
            for (ApiConnections old = silent.poll(); old != null; old = silent.poll()) {
                old.endSilentWatches();
            }
        }
    }

    /** Keeps what there is if the files can't be used: one of two may not be replaced yet. */
    private boolean renew() {
        try {
            replace(read());
            failure = "";
            return true;
        } catch (DraException e) {
            if (!failure.equals(e.getMessage())) {
                failure = String.valueOf(e.getMessage());
                LOG.atWarn().setCause(e).log("The new credentials can't be used; the last ones stay");
            }
            return false;
        }
    }

    private void replace(ApiConnections next) {
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
