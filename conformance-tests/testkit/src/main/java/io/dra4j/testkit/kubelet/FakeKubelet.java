// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A kubelet for one directory of registration sockets: it registers drivers as the real one does,
 * and calls them when a test asks it to.
 *
 * <ul>
 *   <li>A socket that appears is registered immediately (the real kubelet looks once a second); a
 *       failed attempt is repeated after 500 ms, then with a wait that doubles each time, up to 122 s.
 *   <li>A socket that disappears unregisters its driver; one that was replaced does both.
 *   <li>Each registered driver has one connection for all calls; calls go to the newest that is
 *       connected, or to the newest if none is.
 *   <li>Each registered driver is asked for its health: through {@code v1} from release 1.37 on, until it answers
 *       that it does not serve it; through {@code v1alpha1} before, repeatedly.
 * </ul>
 *
 * <p>Subdirectories of the registry, which the real kubelet also watches, are ignored.
 * Thread-safe.
 */
public final class FakeKubelet implements AutoCloseable {

    private static final Duration FIRST_BACKOFF = Duration.ofMillis(500);
    private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(122);

    /** The time limit for a connection to a new driver's service; after it, calls fail. */
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);

    private static final Duration LOOK = Duration.ofMillis(100);

    private static final int SOCKET = 0140000;
    private static final int FILE_TYPE = 0170000;

    private final long started = System.nanoTime();
    private final RegistryFolder folder;
    private final OpenHealthStream.Version health;
    private final SkippedCalls skipped;
    private final SocketChannels channels = new SocketChannels();
    private final WatchService watcher;
    private final ScheduledExecutorService loop =
            Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "fake-kubelet"));

    private final Map<Path, SeenSocket> seen = new HashMap<>(); // the loop's

    private final List<KubeletEvent> events = new ArrayList<>(); // guarded by this
    private final List<Plugin> plugins = new ArrayList<>(); // guarded by this, the newest last

    private FakeKubelet(Builder builder) throws IOException {
        folder = new RegistryFolder(builder.registry, builder.outside);
        health = OpenHealthStream.Version.ofKubelet(builder.minor);
        skipped = new SkippedCalls(builder.minor, builder.claims);
        watcher = FileSystems.getDefault().newWatchService();
        builder.registry.register(watcher, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE);
    }

    /** Starts a kubelet of release 1.36 that registers sockets in a directory, existing and future ones. */
    public static FakeKubelet start(Path registry) {
        return builder(registry).start();
    }

    /** Begins to build a kubelet of release 1.36 for a directory of registration sockets. */
    public static Builder builder(Path registry) {
        return new Builder(registry.toAbsolutePath());
    }

    /** Builds a kubelet; not thread-safe. */
    public static final class Builder {

        private final Path registry;
        private UnaryOperator<Path> outside = UnaryOperator.identity();
        private int minor = 36;
        private Function<KubeletClaim, Optional<JsonNode>> claims = claim -> Optional.empty();

        private Builder(Path registry) {
            this.registry = registry;
        }

        /** Sets the mapping of paths for drivers that have their own mount namespace. */
        public Builder outside(UnaryOperator<Path> paths) {
            outside = paths;
            return this;
        }

        /** Sets the kubelet's release by the number after "1.". */
        public Builder release(int number) {
            minor = number;
            return this;
        }

        /** Sets where the kubelet reads claims, whose allocations may make calls unnecessary. */
        public Builder claims(Function<KubeletClaim, Optional<JsonNode>> reader) {
            claims = reader;
            return this;
        }

        /** Starts the kubelet, which registers sockets in the directory, existing and future ones. */
        public FakeKubelet start() {
            try {
                FakeKubelet kubelet = new FakeKubelet(this);
                daemon(kubelet::watch, "fake-kubelet-watch").start();
                kubelet.loop.execute(kubelet::look);
                return kubelet;
            } catch (IOException e) {
                throw new UncheckedIOException("Can't watch the registry directory " + registry, e);
            }
        }
    }

    /** Waits until a driver is registered, and returns whether it is. */
    public boolean awaitRegistered(String driver, Duration timeout) throws InterruptedException {
        return await(() -> find(driver) != null, timeout);
    }

    /** Waits until no instance of a driver is registered, and returns whether none is. */
    public boolean awaitUnregistered(String driver, Duration timeout) throws InterruptedException {
        return await(() -> find(driver) == null, timeout);
    }

    /**
     * Waits until a driver is registered, after the first {@code before} of the events, and returns whether it is.
     *
     * @param runs whether it may still come; looked at now and then
     */
    public boolean awaitRegistered(String driver, int before, BooleanSupplier runs, Duration timeout)
            throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            Duration left = Duration.ofNanos(end - System.nanoTime());
            if (await(() -> hasRegistered(driver, before), left.compareTo(LOOK) < 0 ? left : LOOK)) {
                return true;
            }
            if (left.compareTo(LOOK) < 0 || !runs.getAsBoolean()) {
                return false;
            }
        }
    }

    private boolean hasRegistered(String driver, int before) {
        return find(driver) != null
                && events(Kind.REGISTERED, before).stream()
                        .anyMatch(event -> event.detail().equals(driver));
    }

    /** Waits until the events satisfy a condition, and returns whether they do. */
    public boolean awaitEvents(Predicate<List<KubeletEvent>> condition, Duration timeout) throws InterruptedException {
        return await(() -> condition.test(List.copyOf(events)), timeout);
    }

    /** Returns what happened so far. */
    public synchronized List<KubeletEvent> events() {
        return List.copyOf(events);
    }

    /** Returns the events of a kind, after the first {@code before} of all. */
    public List<KubeletEvent> events(Kind kind, int before) {
        return events().stream()
                .skip(before)
                .filter(event -> event.kind() == kind)
                .toList();
    }

    /** Returns the registration of a driver, if it is registered. */
    public synchronized Optional<PluginInfo> plugin(String driver) {
        return Optional.ofNullable(find(driver)).map(Plugin::info);
    }

    /** Returns the registration socket of the instance of a driver that calls go to, if one is registered. */
    public synchronized Optional<Path> registration(String driver) {
        return Optional.ofNullable(find(driver)).map(Plugin::socket);
    }

    /** Returns the instances of a driver that are registered, the newest last. */
    public synchronized List<PluginInfo> plugins(String driver) {
        return plugins.stream()
                .map(Plugin::info)
                .filter(info -> info.name().equals(driver))
                .toList();
    }

    /**
     * Prepares claims in one call, by the service that the kubelet chose; claims whose allocation says that the driver
     * need not be called are omitted, and so is a call without claims.
     */
    public CallResult prepare(String driver, List<KubeletClaim> claims) {
        return prepare(registered(driver).info(), claims);
    }

    /** Prepares claims in one call, by a service of the test's choice. */
    public CallResult prepare(String driver, List<KubeletClaim> claims, PluginInfo.Service service) {
        return registered(driver).prepare(claims, service);
    }

    /** The same with a shorter timeout than the kubelet's. */
    public CallResult prepare(String driver, List<KubeletClaim> claims, PluginInfo.Service service, Duration limit) {
        return registered(driver).within(limit).prepare(claims, service);
    }

    /** The same in one call to one of several instances of a driver. */
    public CallResult prepare(PluginInfo instance, List<KubeletClaim> claims) {
        List<KubeletClaim> due = skipped.due(instance.name(), claims, "NodePrepareResources");
        return due.isEmpty() && !claims.isEmpty()
                ? CallResult.SKIPPED
                : connected(instance).prepare(due, instance.service());
    }

    /** Unprepares claims in one call to one of several instances, with those left out as in {@link #prepare}. */
    public CallResult unprepare(PluginInfo instance, List<KubeletClaim> claims) {
        List<KubeletClaim> due = skipped.due(instance.name(), claims, "NodeUnprepareResources");
        return due.isEmpty() && !claims.isEmpty()
                ? CallResult.SKIPPED
                : connected(instance).unprepare(due, instance.service());
    }

    /** Unprepares claims in one call, with those left out that {@link #prepare} would leave out. */
    public CallResult unprepare(String driver, List<KubeletClaim> claims) {
        return unprepare(registered(driver).info(), claims);
    }

    /** Unprepares claims in one call, by a service of the test's choice. */
    public CallResult unprepare(String driver, List<KubeletClaim> claims, PluginInfo.Service service) {
        return registered(driver).unprepare(claims, service);
    }

    /** Opens one more health stream, in the kubelet's own version. */
    public OpenHealthStream watchHealth(String driver) {
        return watchHealth(driver, health);
    }

    /** The same at one of several instances of a driver. */
    public OpenHealthStream watchHealth(PluginInfo instance) {
        return OpenHealthStream.open(connected(instance).channel(), health);
    }

    /** Opens one more health stream, in a version of the test's choice, on the one connection. */
    public OpenHealthStream watchHealth(String driver, OpenHealthStream.Version version) {
        return OpenHealthStream.open(registered(driver).channel(), version);
    }

    /** Ends the kubelet like a process: its connections break, and no driver is notified. */
    @Override
    public void close() {
        loop.shutdownNow();
        try {
            watcher.close();
        } catch (IOException e) {
            throw new UncheckedIOException("Can't close the watch of " + folder.path(), e);
        } finally {
            synchronized (this) {
                plugins.forEach(Plugin::close);
                plugins.clear();
            }
            channels.close();
        }
    }

    private void watch() {
        try {
            while (true) {
                WatchKey key = watcher.take();
                key.pollEvents();
                key.reset();
                loop.execute(this::look);
            }
        } catch (ClosedWatchServiceException | RejectedExecutionException e) {
            // the kubelet was closed
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() {
        try {
            Map<Path, String> now = folder.sockets();
            for (Path gone : List.copyOf(seen.keySet())) {
                if (!seen.get(gone).identity.equals(now.get(gone))) {
                    unregister(gone, seen.remove(gone));
                }
            }
            now.forEach(this::appear);
        } catch (IOException e) {
            throw new UncheckedIOException("Can't list " + folder.path(), e);
        }
    }

    private void appear(Path socket, String identity) {
        if (!seen.containsKey(socket)) {
            SeenSocket socketSeen = new SeenSocket(identity);
            seen.put(socket, socketSeen);
            happen(Kind.SOCKET_APPEARED, socket, "");
            register(socket, socketSeen, FIRST_BACKOFF);
        }
    }

    private void register(Path socket, SeenSocket socketSeen, Duration backoff) {
        if (seen.get(socket) != socketSeen) {
            return; // replaced or gone while the attempt waited for its turn
        }
        daemon(() -> attempt(socket, socketSeen, backoff), "fake-kubelet-handshake")
                .start();
    }

    private void attempt(Path socket, SeenSocket socketSeen, Duration backoff) {
        try {
            PluginInfo info =
                    new Handshake(channels, socket, folder.outside()).run(known -> accept(socket, socketSeen, known));
            ManagedChannel channel = channels.toService(info.endpoint());
            SocketChannels.connect(channel, CONNECT_LIMIT); // if this fails, calls fail too
            loop.execute(() -> connect(socket, socketSeen, new Plugin(socket, info, channel)));
        } catch (Handshake.Failed e) {
            happen(Kind.REGISTRATION_FAILED, socket, String.valueOf(e.getMessage()));
            Duration twice = backoff.multipliedBy(2);
            Duration next = twice.compareTo(LONGEST_BACKOFF) < 0 ? twice : LONGEST_BACKOFF;
            retry(() -> register(socket, socketSeen, next), backoff);
        } catch (RejectedExecutionException e) {
            // the kubelet was closed
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void retry(Runnable attempt, Duration wait) {
        try {
            loop.schedule(attempt, wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // the kubelet was closed
        }
    }

    private void accept(Path socket, SeenSocket socketSeen, PluginInfo info) throws Handshake.Failed {
        happen(Kind.INFO, socket, socketSeen.age());
        if (plugins(info.name()).stream().anyMatch(o -> o.endpoint().equals(info.endpoint()))) {
            throw new Handshake.Failed("endpoint " + info.endpoint() + " is already registered for " + info.name());
        }
    }

    private void connect(Path socket, SeenSocket socketSeen, Plugin plugin) {
        if (seen.get(socket) != socketSeen) {
            plugin.close();
            return;
        }
        socketSeen.plugin = plugin;
        synchronized (this) {
            plugins.add(plugin);
        }
        happen(Kind.REGISTERED, socket, plugin.info().name());
        new HealthStream(
                        plugin.channel(),
                        health,
                        loop,
                        status -> happen(
                                Kind.HEALTH_ENDED, socket, status.getCode().toString()))
                .open();
    }

    private void unregister(Path socket, SeenSocket socketSeen) {
        Plugin plugin = socketSeen.plugin;
        if (plugin != null) {
            plugin.close();
            synchronized (this) {
                plugins.remove(plugin);
            }
        }
        happen(Kind.UNREGISTERED, socket, "");
    }

    private synchronized void happen(Kind kind, Path socket, String detail) {
        Duration at = Duration.ofNanos(System.nanoTime() - started);
        events.add(new KubeletEvent(at, kind, socket, detail));
        notifyAll();
    }

    private synchronized Plugin registered(String driver) {
        Plugin plugin = find(driver);
        if (plugin == null) {
            throw new IllegalStateException("Driver " + driver + " is not registered");
        }
        return plugin;
    }

    private synchronized Plugin connected(PluginInfo instance) {
        return plugins.stream()
                .filter(plugin -> plugin.info().equals(instance))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(instance + " is not registered"));
    }

    private @Nullable Plugin find(String driver) {
        Plugin newest = null;
        for (Plugin plugin : plugins) {
            if (plugin.info().name().equals(driver)
                    && (newest == null || plugin.isConnected() || !newest.isConnected())) {
                newest = plugin;
            }
        }
        return newest;
    }

    private synchronized boolean await(BooleanSupplier condition, Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return true;
    }

    /**
     * Returns the identity of a socket, and nothing for another file: the inode and the time of binding, which a later
     * socket of the same name does not share, and which neither a change of mode nor a rename affects.
     */
    public static Optional<String> identity(Path file) {
        try {
            Map<String, Object> stat =
                    Files.readAttributes(file, "unix:mode,ino,lastModifiedTime", LinkOption.NOFOLLOW_LINKS);
            return ((int) stat.get("mode") & FILE_TYPE) == SOCKET
                    ? Optional.of(stat.get("ino") + "@" + stat.get("lastModifiedTime"))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // gone since it was listed
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** A registration socket that the kubelet knows. For one thread, except for its age. */
    private static final class SeenSocket {

        private final String identity;
        private final long since = System.nanoTime();
        private @Nullable Plugin plugin; // registered by it; null if none was yet

        /** The identity distinguishes it from a later socket of the same name. */
        SeenSocket(String identity) {
            this.identity = identity;
        }

        String age() {
            return "after " + (System.nanoTime() - since) / 1_000_000 + " ms";
        }
    }

    /**
     * The sockets of the registry directory that the kubelet sees: no hidden names, only sockets.
     *
     * @param outside maps a path of a driver to the path of the kubelet
     */
    private record RegistryFolder(Path path, UnaryOperator<Path> outside) {

        /** Returns the sockets with their identities. */
        Map<Path, String> sockets() throws IOException {
            Map<Path, String> sockets = new HashMap<>();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
                for (Path file : files) {
                    if (!file.getFileName().toString().startsWith(".")) {
                        identity(file).ifPresent(identity -> sockets.put(file, identity));
                    }
                }
            }
            return sockets;
        }
    }
}
