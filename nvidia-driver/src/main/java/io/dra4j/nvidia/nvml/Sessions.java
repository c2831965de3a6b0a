// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The only owner of this process's NVML sessions, of which at most one is open at a time.
 *
 * <p>An open session blocks resets of GPUs, updates of the driver, and unbinding. So a session is opened for a call and
 * ends with it, unless {@link #keep} asks for a longer one. A session that NVML has ended, or whose library was
 * replaced, is closed when its last call returns, and the next call opens another. Thread-safe.
 */
final class Sessions {

    /** The longest wait for the calls that are in the session, to replace or end it. */
    private static final Duration LONGEST_CALLS = Duration.ofSeconds(30);

    /** The number of failures after which only a restart of the process may help. */
    private static final int MANY_FAILURES = 5;

    /** A time that no call takes, not even the first on a node with many GPUs. */
    private static final Duration LONG_FAILURE = Duration.ofMinutes(5);

    private final Installation installation;
    private final InstantSource clock;
    private final PendingCalls pending;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // All guarded by lock.
    private @Nullable Session current;
    private String openedWith = "";
    private boolean ended;
    private int calls;
    private int keepers;
    private final List<String> holds = new ArrayList<>();
    private final List<String> pauses = new ArrayList<>();

    /** Read by probes, which must not wait for NVML; written with the lock. */
    private volatile @Nullable Failure failure;

    private record Failure(Instant since, int times, String last) {}

    Sessions(Installation installation, InstantSource clock) {
        this.installation = installation;
        this.clock = clock;
        this.pending = new PendingCalls(clock);
    }

    /**
     * Runs work that only reads, and repeats it in a new session if the session has ended.
     *
     * @throws NvmlCallException if the work does
     * @throws NvmlException if no session can be opened, or NVML has been released
     */
    <T> T read(Function<Session, T> work) {
        try {
            return change(work);
        } catch (NvmlCallException e) {
            if (!e.endsSession()) {
                throw e;
            }
            return change(work);
        }
    }

    /** Runs work once, in the open session or a new one; it fails as {@link #read} does. */
    <T> T change(Function<Session, T> work) {
        return pending.make(() -> run(enter(), work));
    }

    /**
     * Runs work in the session to which its handles belong.
     *
     * @throws NvmlException if the session has ended, or NVML has been released
     */
    <T> T within(Session session, Function<Session, T> work) {
        lock.lock();
        try {
            requireNotGivenBack();
            if (!pauses.isEmpty()) {
                throw givenBack(pauses.get(0));
            }
            if (session != current || isOutdated()) {
                throw new NvmlException(
                        Reason.SESSION_ENDED, "The NVML session has ended; the next call opens a new one", null);
            }
            calls++;
        } finally {
            lock.unlock();
        }
        return pending.make(() -> run(session, work));
    }

    /** Runs work that releases something of a session, if that is still open. */
    void ifOpen(Session session, Consumer<Session> work) {
        locked(() -> {
            if (session == current) {
                work.accept(session);
            }
        });
    }

    private void locked(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    private <T> T run(Session session, Function<Session, T> work) {
        boolean succeeded = false;
        try {
            T result = work.apply(session);
            succeeded = true;
            return result;
        } catch (NvmlCallException e) {
            if (e.endsSession()) {
                endedBy(session, String.valueOf(e.getMessage()));
            }
            throw e;
        } finally {
            leave(succeeded);
        }
    }

    private void endedBy(Session session, String why) {
        locked(() -> {
            ended |= session == current;
            failed(why);
        });
    }

    private Session enter() {
        lock.lock();
        try {
            long left = LONGEST_CALLS.toNanos();
            while (true) {
                requireNotGivenBack();
                if (!pauses.isEmpty()) {
                    left = await(left, LONGEST_CALLS, "NVML is released for " + pauses.get(0));
                    continue;
                }
                if (current != null && calls == 0 && isOutdated()) {
                    end();
                }
                if (current == null) {
                    current = open();
                }
                if (calls == 0 || !isOutdated()) { // a new one is used once, regardless of changes since
                    calls++;
                    return current;
                }
                left = await(left, LONGEST_CALLS, "a new NVML session can't be opened");
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isOutdated() {
        return ended || !openedWith.equals(installation.fingerprint());
    }

    private Session open() {
        String fingerprint = installation.fingerprint();
        try {
            Session opened = Session.open(installation.library(), clock);
            openedWith = fingerprint;
            ended = false;
            return opened;
        } catch (DraException e) {
            NvmlException failed = e instanceof NvmlException known
                    ? known
                    : new NvmlException(Reason.NO_DRIVER, String.valueOf(e.getMessage()), e);
            if (failed.reason() != Reason.NO_DRIVER) { // which a restart of this process does not fix
                failed(String.valueOf(e.getMessage()));
            }
            throw failed;
        }
    }

    private void failed(String why) {
        Failure before = failure;
        failure = before == null
                ? new Failure(clock.instant(), 1, why)
                : new Failure(before.since, before.times + 1, why);
    }

    private void leave(boolean succeeded) {
        locked(() -> {
            calls--;
            if (succeeded) {
                failure = null;
            }
            endIfUnused();
            changed.signalAll();
        });
    }

    private void endIfUnused() {
        if (calls == 0 && current != null && (keepers == 0 || ended || isGivenBack())) {
            end();
        }
    }

    private boolean isGivenBack() {
        return !holds.isEmpty() || !pauses.isEmpty();
    }

    private void end() {
        Session over = current;
        current = null;
        if (over != null) {
            pending.make(() -> {
                over.end();
                return true;
            });
        }
    }

    private long await(long nanos, Duration timeout, String consequence) {
        if (nanos <= 0) {
            throw notReturned(timeout, consequence);
        }
        try {
            return changed.awaitNanos(nanos);
        } catch (InterruptedException e) {
            throw interrupted(consequence, e);
        }
    }

    private static NvmlException notReturned(Duration timeout, String consequence) {
        return new NvmlException(
                Reason.IN_USE,
                "A call of NVML has not returned for %s s: %s".formatted(timeout.toMillis() / 1000.0, consequence),
                null);
    }

    private static NvmlException interrupted(String consequence, InterruptedException e) {
        Thread.currentThread().interrupt();
        return new NvmlException(Reason.FAILING, "Interrupted: " + consequence, e);
    }

    private void requireNotGivenBack() {
        if (!holds.isEmpty()) {
            throw givenBack(holds.get(0));
        }
    }

    private static NvmlException givenBack(String purpose) {
        return new NvmlException(
                Reason.GIVEN_BACK, "NVML is released for %s; try again when that has ended".formatted(purpose), null);
    }

    /** Keeps a session open between calls, once there is one, until the result is closed. */
    Lease keep() {
        locked(() -> keepers++);
        return new Lease(this::unkeep);
    }

    private void unkeep() {
        locked(() -> {
            keepers--;
            endIfUnused();
        });
    }

    Lease giveBack(String purpose) {
        return giveBack(purpose, LONGEST_CALLS, holds);
    }

    /**
     * Releases NVML for a moment; see {@link Nvml#pause}. Ending the session itself has no time limit: {@link
     * #persistentFailure} reports one that hangs.
     */
    Lease pause(String purpose, Duration timeout) {
        return giveBack(purpose, timeout, pauses);
    }

    private Lease giveBack(String purpose, Duration timeout, List<String> purposes) {
        String consequence = "NVML can't be released for " + purpose;
        long left = lockWithin(timeout, consequence);
        boolean succeeded = false;
        try {
            purposes.add(purpose);
            while (calls > 0) {
                left = await(left, timeout, consequence);
            }
            endIfUnused();
            succeeded = true;
            return new Lease(() -> takeBack(purpose, purposes));
        } finally {
            if (!succeeded) { // without a lease, the purpose would stay forever
                takeBack(purpose, purposes);
            }
            lock.unlock();
        }
    }

    /** Waits for the lock, which another thread holds for a long time while it opens or ends a session. */
    private long lockWithin(Duration timeout, String consequence) {
        long end = System.nanoTime() + timeout.toNanos();
        try {
            if (!lock.tryLock(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
                throw notReturned(timeout, consequence);
            }
            return end - System.nanoTime();
        } catch (InterruptedException e) {
            throw interrupted(consequence, e);
        }
    }

    private void takeBack(String purpose, List<String> purposes) {
        locked(() -> {
            purposes.remove(purpose);
            changed.signalAll();
        });
    }

    /**
     * Returns why only a restart of the process may help: a call of NVML does not return, or NVML keeps failing
     * although the node has a driver.
     */
    Optional<String> persistentFailure() {
        Optional<Instant> hanging = pending.oldest().filter(this::isLongAgo);
        if (hanging.isPresent()) {
            return Optional.of("A call of NVML has not returned since " + hanging.get());
        }
        Failure known = failure;
        if (known == null || known.times < MANY_FAILURES || !isLongAgo(known.since)) {
            return Optional.empty();
        }
        return Optional.of("NVML has failed %d times since %s: %s".formatted(known.times, known.since, known.last));
    }

    private boolean isLongAgo(Instant start) {
        return !clock.instant().isBefore(start.plus(LONG_FAILURE));
    }

    /** Ends the session when its calls have returned, even if it is kept, and opens no other. */
    @SuppressWarnings("resource") // held until the process ends
    void close() {
        giveBack("the shutdown of the driver");
    }

    /** The pending calls, with their start times. Thread-safe and non-blocking. */
    private static final class PendingCalls {

        private final InstantSource clock;
        private final Map<Object, Instant> starts = new ConcurrentHashMap<>(); // a key for each call

        PendingCalls(InstantSource clock) {
            this.clock = clock;
        }

        <T> T make(Supplier<T> call) {
            Object key = new Object();
            starts.put(key, clock.instant());
            try {
                return call.get();
            } finally {
                starts.remove(key);
            }
        }

        Optional<Instant> oldest() {
            return starts.values().stream().min(Comparator.naturalOrder());
        }
    }
}
