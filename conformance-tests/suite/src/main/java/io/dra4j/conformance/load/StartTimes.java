// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.context.DriverControl;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;

/**
 * The times of one start of a driver, counted from before its process is created.
 *
 * @param sockets the time until both sockets had their names
 * @param registered the time until the kubelet had registered it
 * @param published the time until the API server had a complete pool
 */
record StartTimes(Duration sockets, Duration registered, Duration published) {

    /**
     * Starts the driver of a test context.
     *
     * @throws io.dra4j.testkit.driver.DriverUnusable if it cannot be started
     * @throws Violation if it does not publish
     */
    static StartTimes start(TestContext context) {
        DriverControl driver = context.driver();
        int before = context.kubelet().events().size();
        Instant exec = Instant.now();
        long begin = System.nanoTime();
        driver.start();
        Duration registered = Timing.since(begin);
        context.awaitPublished().ifPresent(unpublished -> {
            throw new Violation(unpublished.message());
        });
        Duration published = Timing.since(begin);
        return new StartTimes(sockets(context, before, exec), registered, published);
    }

    /**
     * A socket's inode changes when it gets its name: a socket that is bound under another name and renamed counts from
     * the renaming. No polling is needed.
     */
    private static Duration sockets(TestContext context, int before, Instant exec) {
        Path registration =
                context.kubelet().events(Kind.REGISTERED, before).get(0).socket();
        Instant first = named(registration);
        Instant second = named(context.driver().info().endpoint());
        return Duration.between(exec, first.isAfter(second) ? first : second);
    }

    private static Instant named(Path socket) {
        try {
            return ((FileTime) Files.getAttribute(socket, "unix:ctime")).toInstant();
        } catch (IOException e) {
            throw new Violation("the socket " + socket + " is gone: " + e.getMessage());
        }
    }
}
