// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.NodeLock;
import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Excludes the processes of one driver on one node from each other, while a rolling update runs two of them.
 *
 * <p>One file, with a byte for each exclusive activity: work on a claim (at 48 bits of a hash of its UID), writing the
 * journal, publishing, and named locks (at 48 bits of the name's hash); and one for each process that runs. A lock
 * excludes both the other process and the other threads of this one, and a process that dies releases all that it
 * holds. The file has content too: the number of the journal's last line.
 *
 * <p>To avoid deadlocks, several locks are taken in this order: a claim, a named lock, and last the journal, whose
 * holder waits for no other lock. No holder of a claim's lock or a named lock waits for another claim's lock.
 *
 * <p>Thread-safe. Waiting is by polling: the kernel would refuse a blocking request as a deadlock by mistake, because
 * it does not distinguish the threads of a process. Locks are not re-entrant; a lock may be released by any thread, and
 * more than once.
 */
public final class LockFile implements AutoCloseable {

    private static final long PUBLISHER = 1L << 20; // far beyond the content
    private static final long JOURNAL = PUBLISHER + 1;
    private static final long INSTANCES = JOURNAL + 1;
    private static final int MOST_INSTANCES = 16; // an update runs two
    private static final long CLAIMS = 1L << 48;
    private static final long NAMES = 1L << 50;
    private static final long TURNS = 1L << 51; // of those who wait for named locks
    private static final String CALLS = "provider.calls"; // not a name that a provider can give a lock
    private static final int LINE_LENGTH = 2 * Long.BYTES + Integer.BYTES;
    private static final Duration LONGEST_JOURNAL_WAIT = Duration.ofSeconds(20);
    private static final long LONGEST_PAUSE_NANOS = Duration.ofMillis(5).toNanos();

    private final Path path;
    private final LockRanges ranges;
    private final Set<Taken> held = ConcurrentHashMap.newKeySet();
    private final Queue<Place> queue = new ConcurrentLinkedQueue<>();
    private volatile boolean isClosed;
    private boolean hasLeft; // guarded by this

    private LockFile(Path path, LockRanges ranges) {
        this.path = path;
        this.ranges = ranges;
    }

    /**
     * Opens the file, and creates it if it does not exist.
     *
     * @throws DraException if it can't be opened for writing
     */
    public static LockFile open(Path path) {
        try {
            return new LockFile(path, LockRanges.open(path));
        } catch (IOException e) {
            throw new DraException(
                    "Can't open the lock file %s (%s); the directory must exist and be writable".formatted(path, e), e);
        }
    }

    /**
     * Recreates the file if it was removed, with all held locks that no other process has taken there.
     *
     * @throws DraException if it can't be created
     */
    public void restore() {
        try {
            ranges.restore();
        } catch (IOException e) {
            throw new DraException("Can't recreate the lock file %s: %s".formatted(path, e.getMessage()), e);
        }
    }

    /** A lock that has only one holder at a time; closing releases it. */
    public interface Held extends AutoCloseable {

        /** Returns whether another process may have it, because the file was removed. */
        boolean isLost();

        @Override
        void close();
    }

    /**
     * Locks a claim, and waits for it.
     *
     * @param isOver returns whether to wait no longer
     * @throws DraException if another thread or process works on it until then, the thread is interrupted, or this file
     *     is closed
     */
    public Held claim(String uid, BooleanSupplier isOver) {
        return await(
                position(CLAIMS, uid),
                () -> true,
                isOver,
                () -> "another process of the driver is working on the claim; the next attempt continues it");
    }

    /** Locks a claim, if no thread or process works on it. */
    public Optional<Held> tryClaim(String uid) {
        return Optional.ofNullable(tryTake(position(CLAIMS, uid)));
    }

    private static long position(long first, String name) {
        UUID hash = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        return first + (hash.getMostSignificantBits() >>> 16);
    }

    /** Takes the lock of a provider's calls, where these are serialized, as a named lock is taken. */
    public NodeLock call(BooleanSupplier isOver, UnaryOperator<String> refusal) {
        return named(CALLS, isOver, refusal);
    }

    /** Takes a named lock, with a timeout; zero or less means one attempt. */
    public NodeLock named(String name, Duration atMost, UnaryOperator<String> refusal) {
        long start = System.nanoTime();
        long limit = TimeUnit.NANOSECONDS.convert(atMost); // saturates at the longest
        return named(name, () -> System.nanoTime() - start >= limit, refusal);
    }

    /**
     * Takes a named lock, and waits for it. Threads of a process get it in the order in which they ask, and only the
     * first asks for the turn, once no other has the lock: so another waiting process gets its turn first.
     *
     * @param isOver returns whether to stop waiting
     * @param refusal creates the message of the exception, given the holder
     * @throws DraException if another thread or process keeps it, the thread is interrupted, or this file is closed
     */
    @SuppressWarnings("try") // the turn is held, but not used
    NodeLock named(String name, BooleanSupplier isOver, UnaryOperator<String> refusal) {
        long position = position(NAMES, name);
        Supplier<String> otherwise = () -> refusal.apply(ranges.holder(position));
        Place place = new Place(name);
        queue.add(place);
        NodeLock taken = null;
        try (Held turn = await(position(TURNS, name), () -> isFirst(place), isOver, otherwise)) {
            Held lock = await(position, () -> true, isOver, otherwise);
            taken = () -> {
                lock.close();
                queue.remove(place);
            };
            return taken;
        } finally {
            if (taken == null) {
                queue.remove(place);
            }
        }
    }

    private boolean isFirst(Place place) {
        return queue.stream()
                .filter(one -> one.name.equals(place.name))
                .findFirst()
                .equals(Optional.of(place));
    }

    /** A place in the queue for a named lock, until that is released; equal only to itself. */
    private static final class Place {
        private final String name;

        Place(String name) {
            this.name = name;
        }
    }

    /** Notes that an instance of the driver runs, until this is closed; returns false while instances are excluded. */
    public boolean tryRun() {
        return LongStream.range(INSTANCES, INSTANCES + MOST_INSTANCES).anyMatch(position -> tryTake(position) != null);
    }

    /** Excludes instances of the driver, until this is closed; returns false if one runs or starts. */
    public boolean tryExcludeInstances() {
        return LongStream.range(INSTANCES, INSTANCES + MOST_INSTANCES).allMatch(position -> tryTake(position) != null);
    }

    /** Returns whether no other instance of the driver runs, for one that itself does. */
    public boolean isOnlyInstance() {
        return LongStream.range(INSTANCES, INSTANCES + MOST_INSTANCES)
                        .filter(position -> !isFree(position))
                        .count()
                == 1;
    }

    private boolean isFree(long position) {
        Held taken = tryTake(position);
        if (taken != null) {
            taken.close();
        }
        return taken != null;
    }

    /** Acquires the right to publish, if it is free. */
    public Optional<Held> tryPublisher() {
        return Optional.ofNullable(tryTake(PUBLISHER));
    }

    /**
     * Locks the journal. Its holder waits for no other lock, so it is held only during a write.
     *
     * @throws DraException if another process keeps it, because it is suspended or its disk hangs
     */
    Held journal() {
        long start = System.nanoTime();
        return await(
                JOURNAL,
                () -> true,
                () -> System.nanoTime() - start > LONGEST_JOURNAL_WAIT.toNanos(),
                () -> "another process of the driver kept the journal locked for "
                        + LONGEST_JOURNAL_WAIT.toSeconds()
                        + " s; check whether that process, or its disk, hangs");
    }

    /**
     * Returns the number of the last line of the journal that was acknowledged, as far as that is
     * known: after a power failure it may lag behind.
     */
    LineNumber lastLine() throws IOException {
        ByteBuffer content = ranges.read(LINE_LENGTH);
        if (content.remaining() < LINE_LENGTH) {
            return LineNumber.NONE;
        }
        LineNumber last = new LineNumber(content.getLong(), content.getLong());
        return content.getInt() == sum(last) ? last : LineNumber.NONE;
    }

    /** Forgets the number of the last line: for a journal that is moved, or its lines would count as missing. */
    public void forgetLastLine() throws IOException {
        lastLine(LineNumber.NONE);
    }

    /** Stores the number of a line that has been acknowledged. */
    void lastLine(LineNumber last) throws IOException {
        ranges.write(ByteBuffer.allocate(LINE_LENGTH)
                .putLong(last.file())
                .putLong(last.line())
                .putInt(sum(last))
                .flip());
    }

    private static int sum(LineNumber last) {
        CRC32C sum = new CRC32C();
        sum.update(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(last.file())
                .putLong(last.line())
                .flip());
        return (int) sum.getValue();
    }

    private Held await(long position, BooleanSupplier isNext, BooleanSupplier isOver, Supplier<String> otherwise) {
        long pause = LONGEST_PAUSE_NANOS / 64;
        while (true) {
            Held taken = isClosed || isNext.getAsBoolean() ? tryTake(position) : null;
            if (taken != null) {
                return taken;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new DraException("the wait was interrupted: " + otherwise.get());
            }
            if (isOver.getAsBoolean()) {
                throw new DraException(otherwise.get());
            }
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(pause / 2, pause));
        }
    }

    private @Nullable Held tryTake(long position) {
        Held taken = null;
        try {
            taken = ranges.tryTake(position) ? new Taken(position) : null;
        } catch (IOException e) {
            if (!isClosed) {
                throw new DraException(
                        "Can't lock a range of " + path + " (" + e + "); check whether its disk works", e);
            }
        }
        if (isClosed) { // checked after taking: either this releases it, or close
            if (taken != null) {
                taken.close();
            }
            throw new DraException("the driver is stopping; the next attempt continues");
        }
        return taken;
    }

    /**
     * Releases the locks that this object took, and lets waiting and later requests fail. An operation in progress keeps
     * its own until it ends, and so do named locks, which its provider may have taken, and that of the instance: another
     * process would work on the same hardware otherwise.
     */
    @Override
    public void close() {
        isClosed = true;
        releaseWhatIsIdle();
    }

    private synchronized void releaseWhatIsIdle() {
        boolean isIdle = held.stream().noneMatch(Taken::isOfOperation);
        held.stream()
                .filter(taken -> isIdle || !taken.isOfOperation() && !taken.isKept())
                .forEach(Taken::release);
        if (held.isEmpty() && !hasLeft) {
            hasLeft = true;
            ranges.leave();
        }
    }

    /** A range that is released when it is closed, or with the file once no operation is in progress. */
    private final class Taken implements Held {
        private final long position;

        Taken(long position) {
            this.position = position;
            held.add(this);
        }

        boolean isOfOperation() {
            return position == JOURNAL || position >= CLAIMS && position < NAMES || position == position(NAMES, CALLS);
        }

        @Override
        public boolean isLost() {
            return ranges.isLost(position);
        }

        /** Returns whether it is kept until operations have ended; an instance runs until then. */
        boolean isKept() {
            return position >= NAMES && position < TURNS
                    || position >= INSTANCES && position < INSTANCES + MOST_INSTANCES;
        }

        void release() {
            if (held.remove(this)) {
                ranges.giveBack(position);
            }
        }

        @Override
        public void close() {
            release();
            if (isClosed) {
                releaseWhatIsIdle();
            }
        }
    }
}
