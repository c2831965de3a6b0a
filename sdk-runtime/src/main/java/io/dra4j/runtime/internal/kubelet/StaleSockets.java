// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the stale sockets of killed instances of the driver, and nothing else.
 *
 * <p>While such a registration socket is there, the kubelet takes its instance for registered. Only
 * what bears a name that this driver alone gives is looked at, and only what refuses a connection
 * is removed: an instance that is alive, even one that hangs, does not refuse. A hidden socket that
 * was just bound may refuse for a moment, so it must be older than a minute, too.
 */
final class StaleSockets {

    private static final Logger LOG = LoggerFactory.getLogger(StaleSockets.class);
    private static final Duration STARTING = Duration.ofMinutes(1);

    private final PluginSockets sockets;
    private final InstantSource clock;

    StaleSockets(PluginSockets sockets, InstantSource clock) {
        this.sockets = sockets;
        this.clock = clock;
    }

    /** Looks through both directories; what can't be looked at stays. */
    void remove() {
        removeFrom(sockets.registrarDirectory(), path -> isStaleHidden(path) || sockets.isOwnRegistration(name(path)));
        removeFrom(sockets.dataDirectory(), path -> isStaleHidden(path) || PluginSockets.isService(name(path)));
    }

    private void removeFrom(Path directory, DirectoryStream.Filter<Path> ours) {
        try (DirectoryStream<Path> candidates = Files.newDirectoryStream(directory, ours)) {
            for (Path candidate : candidates) {
                SocketFile.removeIfDead(candidate);
            }
        } catch (IOException e) {
            LOG.atDebug().addKeyValue(LogField.PATH, directory).setCause(e).log("Could not look for stale sockets");
        }
    }

    private boolean isStaleHidden(Path path) throws IOException {
        return sockets.isHidden(name(path))
                && Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS)
                        .toInstant()
                        .isBefore(clock.instant().minus(STARTING));
    }

    private static String name(Path path) {
        return path.getFileName().toString();
    }
}
