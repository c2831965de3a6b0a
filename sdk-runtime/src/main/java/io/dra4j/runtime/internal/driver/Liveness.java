// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DeviceProvider;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reason for a restart of the process, for liveness probes: the provider's, or a directory that only a new
 * container gets.
 *
 * <p>No reason is given before the provider has started or after it has begun to close. A reason is logged once and
 * recorded as an event. A provider that fails to answer counts as having no reason. Thread-safe.
 */
final class Liveness implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Liveness.class);
    private static final String SUBJECT = "process";

    private final AtomicReference<Optional<String>> last = new AtomicReference<>(Optional.empty());
    private final AtomicBoolean failing = new AtomicBoolean();
    private volatile Supplier<Optional<String>> source = Optional::empty;

    void started(DeviceProvider provider, MountedDirectories directories, EventRecorder events) {
        source = () -> ask(provider, directories, events);
    }

    Optional<String> restartReason() {
        return source.get();
    }

    private Optional<String> ask(DeviceProvider provider, MountedDirectories directories, EventRecorder events) {
        Optional<String> reason = answer(provider).or(directories::deleted);
        if (!last.getAndSet(reason).equals(reason)) {
            reason.ifPresentOrElse(
                    why -> report(why, events), () -> LOG.atInfo().log("The provider no longer needs a restart"));
        }
        return reason;
    }

    private Optional<String> answer(DeviceProvider provider) {
        try {
            Optional<String> reason = Objects.requireNonNull(
                    provider.restartReason(),
                    "DeviceProvider.restartReason() returned null; return Optional.empty() if no restart is needed");
            failing.set(false);
            return reason;
        } catch (RuntimeException | LinkageError e) { // of a provider
            if (!failing.getAndSet(true)) {
                LOG.atWarn()
                        .setCause(e)
                        .log("The provider failed to report whether it needs a restart; assuming that it needs none");
            }
            return Optional.empty();
        }
    }

    private static void report(String why, EventRecorder events) {
        String message = "The driver needs a restart, so its liveness probes fail: " + why;
        LOG.atError().log(message);
        events.record(new DriverEvent(Reason.RESTART_NEEDED, SUBJECT, message));
    }

    @Override
    public void close() {
        source = Optional::empty;
    }

    /**
     * Directories of the node that the driver's container has mounted.
     *
     * <p>A directory that is deleted on the node stays mounted, empty, and no file can be created in it, even if the
     * node has a new one of that name: the container must be recreated.
     */
    record MountedDirectories(List<Path> paths) {

        /** Returns a sentence about a deleted directory, if any. */
        Optional<String> deleted() {
            return paths.stream()
                    .filter(MountedDirectories::isDeleted)
                    .findFirst()
                    .map(path ->
                            "The directory " + path + " was deleted on the node, and a new one is not mounted here");
        }

        /** A directory that still has a name has a link. */
        private static boolean isDeleted(Path path) {
            try {
                return Files.getAttribute(path, "unix:nlink") instanceof Integer links && links == 0;
            } catch (IOException e) {
                return false; // missing: it is created again
            }
        }
    }
}
