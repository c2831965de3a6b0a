// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.RegistrationCalls;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The registration socket of a driver, and its answers there. */
public record RegistrationSocket(TestContext context, Path path) {

    private static final Duration LEAST = Duration.ofSeconds(5);

    /**
     * The one of the instance that the kubelet calls, or else the last one that it saw. Sockets that are gone do not
     * count, nor does that of an instance that was killed, while another serves.
     */
    public static RegistrationSocket of(TestContext context) {
        return context.kubelet()
                .registration(context.place().driver())
                .filter(Files::exists)
                .or(() -> context.kubelet().events(Kind.SOCKET_APPEARED, 0).stream()
                        .map(KubeletEvent::socket)
                        .filter(Files::exists)
                        .reduce((first, second) -> second))
                .map(socket -> new RegistrationSocket(context, socket))
                .orElseThrow(() -> new Violation(
                        "no registration socket in " + context.place().registry()));
    }

    /** The last one that appeared after the kubelet's first {@code before} events. */
    public static RegistrationSocket since(TestContext context, int before) {
        return context.kubelet().events(Kind.SOCKET_APPEARED, before).stream()
                .reduce((first, second) -> second)
                .map(event -> new RegistrationSocket(context, event.socket()))
                .orElseThrow(() -> new Violation("a second instance of the driver made no registration socket in "
                        + context.place().registry()));
    }

    /** Returns whether a socket is the driver's: the directories of a node have those of other plugins, too. */
    public static boolean isOwn(TestContext context, Path socket) {
        String driver = context.place().driver();
        return context.driver().adapter().runsAnywhere()
                || context.kubelet().events(Kind.REGISTERED, 0).stream()
                        .anyMatch(e -> e.socket().equals(socket) && e.detail().equals(driver))
                || context.kubelet().plugins(driver).stream()
                        .anyMatch(info -> info.endpoint().equals(socket));
    }

    public static boolean isSocket(Path file) {
        return FakeKubelet.identity(file).isPresent();
    }

    /** Returns the sockets that exist, each once. */
    public static List<Path> left(Path... sockets) {
        return Stream.of(sockets)
                .distinct()
                .filter(file -> Files.exists(file, LinkOption.NOFOLLOW_LINKS))
                .toList();
    }

    /** The response to a kubelet's GetInfo; none within some seconds is a violation: DRA-REG-03 has the kubelet's time. */
    public RegistrationCalls.Info info() {
        return info(RegistrationCalls.kubeletAuthority(path));
    }

    /** The same within a limit, for a driver that has other work. */
    public RegistrationCalls.Info info(Duration limit) {
        return info(RegistrationCalls.kubeletAuthority(path), limit);
    }

    /** Returns the response to a GetInfo that calls the driver by this name. */
    public RegistrationCalls.Info info(String authority) {
        return info(authority, context.timeouts().times(LEAST));
    }

    private RegistrationCalls.Info info(String authority, Duration limit) {
        try (RegistrationCalls calls = new RegistrationCalls(path, authority)) {
            return calls.info(limit.compareTo(LEAST) < 0 ? LEAST : limit);
        } catch (RegistrationCalls.Failed e) {
            throw new Violation("GetInfo with :authority %s failed: %s", authority, e.getMessage());
        }
    }

    /** The service socket, as GetInfo returns it, where the suite finds it. */
    public Path service() {
        return context.place().outside(info().service(path));
    }
}
