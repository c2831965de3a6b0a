// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import io.grpc.netty.NettyServerBuilder;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Stands before a real driver that it starts itself: registers in its place, passes on what is
 * said, and gets something wrong. Whoever runs it takes it for the driver.
 *
 * <p>{@code MiddlemanMain M-19 COMMAND-FILE OPTIONS...}: the file has the driver's command, a word
 * in each line; the options are the driver's.
 */
public final class MiddlemanMain {

    private final Settings settings;
    private final Middle middle = new Middle();
    private final List<String> command;
    private final List<String> options;
    private final Path sockets;

    private MiddlemanMain(String fault, List<String> command, List<String> options)
            throws IOException {
        this.command = command;
        this.options = new ArrayList<>(options);
        settings = Settings.known(options.toArray(String[]::new), System.getenv());
        MiddleFaults.install(fault, middle);
        Files.createDirectories(settings.data());
        sockets = // a path of a socket has 107 bytes at most, also with a pod's UID
                Files.createDirectories(
                        settings.registry().resolveSibling("m" + ProcessHandle.current().pid()));
    }

    /** Runs until SIGTERM, or until the driver ends. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        List<String> all = Arrays.asList(arguments);
        new MiddlemanMain(
                        all.get(0),
                        Files.readAllLines(Path.of(all.get(1))),
                        all.subList(2, all.size()))
                .run();
    }

    private void run() throws IOException, InterruptedException {
        Process driver = start();
        SocketServer service = server(settings.data().resolve("m" + suffix() + ".sock"));
        SocketServer registry =
                server(settings.registry().resolve(settings.driver() + suffix() + "-reg.sock"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(driver, registry, service)));
        middle.backend(awaitRegistration(driver), service.path);
        middle.mirror.copy();
        service.start(List.of());
        registry.start(List.of());
        Runtime.getRuntime().halt(driver.waitFor());
    }

    private String suffix() {
        String uid = settings.podUid();
        return uid.isEmpty() ? "" : "-" + Integer.toHexString(uid.hashCode());
    }

    private SocketServer server(Path path) {
        return new SocketServer(path) {
            @Override
            void configure(NettyServerBuilder builder) {
                builder.fallbackHandlerRegistry(middle.relay());
            }
        };
    }

    /** The driver's end is bound to this program's, even if that is killed. */
    private Process start() throws IOException {
        replace("--kubelet-registrar-directory-path", sockets.toString());
        if (middle.relayApi) {
            replace("--kubeconfig", ApiRelay.start(settings, middle).toString());
        }
        if (middle.mirror.active) {
            replace("--cdi-root", middle.mirror.between(settings).toString());
        }
        List<String> line = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
        line.addAll(command);
        line.addAll(options);
        return new ProcessBuilder(line).inheritIO().start();
    }

    private void replace(String option, String value) {
        int at = options.indexOf(option);
        if (at >= 0) {
            options.set(at + 1, value);
        } else {
            options.removeIf(each -> each.startsWith(option + "="));
            options.addAll(List.of(option, value));
        }
    }

    private Path awaitRegistration(Process driver) throws IOException {
        while (driver.isAlive()) {
            try (Stream<Path> found = Files.list(sockets)) {
                var socket =
                        found.filter(each -> !each.getFileName().toString().startsWith("."))
                                .findFirst();
                if (socket.isPresent()) {
                    return socket.get();
                }
            }
            Pauses.millis(20);
        }
        Runtime.getRuntime().halt(driver.exitValue());
        throw new IllegalStateException("The driver ended");
    }

    private static void stop(Process driver, SocketServer registry, SocketServer service) {
        driver.destroy();
        registry.stop(0);
        int status = driver.onExit().join().exitValue();
        service.stop(0);
        Runtime.getRuntime().halt(status);
    }
}
