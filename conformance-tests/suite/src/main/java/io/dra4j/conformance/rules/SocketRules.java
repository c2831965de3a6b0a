// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.Globs;
import io.dra4j.conformance.probes.Idle;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.kubelet.PrepareMessages;
import io.dra4j.testkit.kubelet.RawCalls;
import io.dra4j.testkit.kubelet.RegistrationCalls;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The sockets of a driver, from its start to its stop. */
@ExecutionGroup.On(ExecutionGroup.RESTARTS)
record SocketRules(TestContext context) {

    private static final int LONGEST_PATH = 107;
    private static final Duration SOME = Duration.ofSeconds(5);
    private static final Duration NEXT_LOOK = Duration.ofMillis(20);

    @ExecutionGroup.On(ExecutionGroup.CALLS)
    @Rule(value = "DRA-REG-01", unregistered = true)
    void thereIsARegistrationSocket() throws IOException {
        Path registry = context.place().registry();
        List<Path> sockets = visibleSockets();
        Violation.unless(!sockets.isEmpty())
                .because(
                        "the registry directory %s has no socket that a kubelet looks at; it has %s",
                        registry, names(registry));
        Path socket = RegistrationSocket.of(context).path();
        int length = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        context.measurements().bytes("path of the registration socket", length, LONGEST_PATH);
        Violation.unless(length <= LONGEST_PATH)
                .because(
                        "the path of the registration socket has %d bytes, but may have at most %d: %s",
                        length, LONGEST_PATH, socket);
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            throw new Violation("no process listens at the registration socket %s: %s", socket, e.getMessage());
        }
        String name = socket.getFileName().toString();
        Violation.minorUnless(name.startsWith(context.place().driver()) && name.endsWith("-reg.sock"))
                .because(
                        "the registration socket is called %s; others distinguish drivers by names such as %s-reg.sock",
                        name, context.place().driver());
    }

    private List<Path> visibleSockets() throws IOException {
        try (Stream<Path> files = Files.list(context.place().registry())) {
            return files.filter(RegistrationSocket::isSocket)
                    .filter(file -> !file.getFileName().toString().startsWith("."))
                    .toList();
        }
    }

    private static List<String> names(Path folder) {
        return Globs.below(folder).stream()
                .filter(file -> !file.equals(folder))
                .map(file -> folder.relativize(file).toString())
                .sorted()
                .toList();
    }

    @Rule("DRA-REG-02")
    void theServiceIsThereWhenTheRegistrationIs() throws IOException, InterruptedException {
        context.driver().terminate();
        for (Path left : visibleSockets()) {
            if (RegistrationSocket.isOwn(context, left)) {
                Files.deleteIfExists(left);
            }
        }
        List<Path> others = visibleSockets();
        int before = context.kubelet().events().size();
        Instance instance = context.driver().launch(Map.of());
        context.driver().use(instance);
        Duration limit = context.driver().adapter().startTimeout();
        Measurements.Wait wait = context.measurements().begin("time from the start to the first GetInfo", limit);
        Optional<Path> service = wait.end(firstService(others, limit));
        Violation.unless(service.isPresent()).because("no registration socket answers within %s", limit);
        try (RawCalls calls = new RawCalls(service.get())) {
            RawCalls.Response answer = calls.call(PrepareMessages.method(Service.V1), new byte[0]);
            context.transcript().note("first call of the service -> " + answer);
            context.driver().registers(before, limit);
            Violation.unless(!answer.code().equals("UNAVAILABLE"))
                    .because(
                            "when the registration socket answered, the service at %s did not: %s",
                            service.get(), answer);
        }
        context.awaitPools();
    }

    /** Returns the first response of a new registration socket, as soon as there is one. */
    private Optional<Path> firstService(List<Path> others, Duration limit) throws IOException, InterruptedException {
        Path registry = context.place().registry();
        long end = System.nanoTime() + limit.toNanos();
        try (WatchService watcher = registry.getFileSystem().newWatchService()) {
            registry.register(watcher, StandardWatchEventKinds.ENTRY_CREATE);
            while (System.nanoTime() < end) {
                for (Path socket : newSockets(others)) {
                    try (RegistrationCalls calls = new RegistrationCalls(socket)) {
                        return Optional.of(
                                context.place().outside(calls.info(SOME).service(socket)));
                    } catch (RegistrationCalls.Failed e) {
                        context.transcript().note("first GetInfo -> " + e.getMessage());
                    }
                }
                WatchKey key = watcher.poll(NEXT_LOOK.toMillis(), TimeUnit.MILLISECONDS);
                if (key != null) {
                    key.pollEvents();
                    key.reset();
                }
            }
        }
        return Optional.empty();
    }

    private List<Path> newSockets(List<Path> others) throws IOException {
        return visibleSockets().stream().filter(one -> !others.contains(one)).toList();
    }

    @Rule("DRA-REG-07")
    void staleSocketsAreReplaced() throws IOException {
        context.driver().kill();
        context.transcript()
                .note("left by the killed driver: " + names(context.place().registry()));
        context.driver().restarted();
        context.awaitPools();
        context.calls().unprepared(Absent.claim(context));
    }

    @Rule("DRA-REG-08")
    void aStopRemovesTheSockets() {
        Idle.await(context);
        RegistrationSocket registration = RegistrationSocket.of(context);
        Path service = registration.service();
        context.driver().terminate();
        List<Path> left = RegistrationSocket.left(registration.path(), service);
        context.driver().restarted();
        context.awaitPools();
        Violation.unless(left.isEmpty()).because("after SIGTERM the sockets %s are still there", left);
    }

    @Rule("DRA-REG-09")
    void whatIsOfOthersIsNotTouched() throws IOException {
        try (ForeignFiles foreign = ForeignFiles.plant(context)) {
            if (!context.devices().usable().isEmpty()) {
                context.unpreparedClaim(context.devices().one());
            }
            foreign.live("prepare and unprepare");
            context.driver().terminate();
            foreign.live("SIGTERM");
            context.driver().restarted();
            foreign.live("a start");
            context.driver().restartAfterKill();
            foreign.live("SIGKILL and a start");
        }
        context.awaitPools();
    }

    @Rule("DRA-REG-11")
    void aDriverThatCannotServeEndsOrTriesAgain() throws IOException {
        Path socket = RegistrationSocket.of(context).path();
        context.driver().terminate();
        Files.deleteIfExists(socket);
        Opened inTheWay = inTheWay(socket);
        int before = context.kubelet().events().size();
        Instance instance = context.driver().launch(Map.of());
        context.driver().use(instance);
        OptionalInt status;
        boolean registered = false;
        try (inTheWay) {
            status = instance.awaitExit(context.timeouts().times(SOME));
        }
        if (status.isEmpty()) {
            registered = context.driver().registers(before, context.timeouts().change());
            status = instance.awaitExit(Duration.ZERO);
        }
        if (status.isPresent()) {
            context.driver().restarted();
        }
        context.awaitPools();
        Violation.unless(registered || status.isPresent())
                .because(
                        "a directory was in the place of the registration socket %s; the driver neither ended nor registered when it was gone",
                        socket);
        Violation.unless(registered || status.getAsInt() != 0)
                .because(
                        "a directory is in the place of the registration socket %s, and the driver ends with exit status 0",
                        socket);
    }

    private Opened inTheWay(Path socket) {
        Path file = socket.resolve("in-the-way");
        return context.change(
                () -> {
                    Files.createDirectory(socket);
                    Files.createFile(file);
                },
                () -> {
                    if (Files.isDirectory(socket, LinkOption.NOFOLLOW_LINKS)) { // the driver may serve in its place
                        Files.deleteIfExists(file);
                        Files.deleteIfExists(socket);
                    }
                });
    }

    /** Sockets and files without an owner in the directories that a driver shares with others. */
    private static final class ForeignFiles implements AutoCloseable {

        private final Map<Path, String> planted = new LinkedHashMap<>();
        private final List<ServerSocketChannel> open = new ArrayList<>();

        private ForeignFiles() {}

        public static ForeignFiles plant(TestContext context) {
            ForeignFiles foreign = new ForeignFiles();
            Place place = context.place();
            context.change(
                    () -> {
                        for (Path folder : List.of(place.registry(), place.plugins(), place.cdi())) {
                            foreign.plant(folder);
                        }
                    },
                    foreign::close);
            return foreign;
        }

        private void plant(Path folder) throws IOException {
            Path live = folder.resolve("live." + Absent.DRIVER + ".sock");
            open.add(bound(live));
            planted.put(live, identity(live));
            Path dead = folder.resolve("dead." + Absent.DRIVER + ".sock");
            bound(dead).close();
            planted.put(dead, identity(dead));
            Path file = folder.resolve("file." + Absent.DRIVER + ".txt");
            Files.writeString(file, "This file belongs to the conformance suite.\n");
            planted.put(file, identity(file));
        }

        private static ServerSocketChannel bound(Path socket) throws IOException {
            ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            channel.bind(UnixDomainSocketAddress.of(socket));
            return channel;
        }

        private static String identity(Path file) throws IOException {
            Map<String, Object> stat =
                    Files.readAttributes(file, "unix:ino,mode,size,lastModifiedTime", LinkOption.NOFOLLOW_LINKS);
            return stat.get("ino") + " " + stat.get("mode") + " " + stat.get("size") + " "
                    + stat.get("lastModifiedTime");
        }

        /** Fails if the driver has touched one. */
        public void live(String after) {
            planted.forEach((file, identity) -> {
                String now;
                try {
                    now = identity(file);
                } catch (IOException e) {
                    throw new Violation("after %s, %s is gone, although it does not belong to the driver", after, file);
                }
                Violation.unless(now.equals(identity))
                        .because("after %s, %s was changed, although it does not belong to the driver", after, file);
            });
        }

        @Override
        public void close() throws IOException {
            for (ServerSocketChannel channel : open) {
                channel.close();
            }
            for (Path file : planted.keySet()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
