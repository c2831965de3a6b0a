// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.settings.TestedDriver.Kind;
import io.dra4j.testkit.driver.MountNamespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A reboot of the node of a test context, as far as a driver can observe it. */
public final class Reboot {

    private Reboot() {}

    /** Untested unless the driver can distinguish a reboot from a restart: by a boot id, or by the settings' hook. */
    public static void require(TestContext context) {
        String missing = MountNamespace.missing();
        Untested.unless(
                context.hooks().has("reboot") || context.place().canReboot(),
                "the node can't be rebooted for the driver: the settings have no hook reboot, and %s",
                context.settings().driver().kind() == Kind.PROCESS && !missing.isEmpty()
                        ? "no mount namespace with another boot id can be made (" + missing + ")"
                        : "the suite does not start the driver as a process");
    }

    /**
     * Kills the driver, gives the node another boot id, removes the driver's specs from the CDI directory, which is on
     * a file system in memory, and its sockets, lets the settings' hook do the rest, and starts the driver.
     */
    public static void of(TestContext context) throws IOException {
        context.driver().kill();
        context.transcript().note("reboot: the driver's CDI specs and sockets are gone");
        for (Path folder : context.cdi().folders()) {
            if (isOfTheRun(context, folder) && !context.place().outlivesReboot(folder)) {
                removeSpecs(context, folder);
            }
        }
        removeSockets(context);
        if (context.place().canReboot()) {
            context.place().reboot();
            context.transcript().note("reboot: the node has another boot id");
        }
        if (context.hooks().has("reboot")) {
            context.hooks().run("reboot");
        }
        context.driver().restarted();
    }

    /** Returns whether a directory is the run's own; another is the host's, with specs of others. */
    private static boolean isOfTheRun(TestContext context, Path folder) {
        return folder.startsWith(context.place().root())
                || folder.equals(context.place().cdi());
    }

    private static void removeSpecs(TestContext context, Path folder) throws IOException {
        try (Stream<Path> specs = Files.list(folder)) {
            Map<Boolean, List<Path>> own =
                    specs.filter(Files::isRegularFile).collect(Collectors.partitioningBy(spec -> isOwn(context, spec)));
            remove(own.get(true));
            if (!own.get(false).isEmpty()) {
                context.transcript().note("reboot: files that are not known as the driver's stay: " + own.get(false));
            }
        } catch (NoSuchFileException e) {
            // The driver has not made it yet.
        }
    }

    /** Other writers of a shared directory may use the driver's kind: its own specs have its name, or an answered id. */
    private static boolean isOwn(TestContext context, Path spec) {
        CdiView cdi = context.cdi();
        String file = cdi.files().getOrDefault(spec.getFileName().toString(), "");
        return context.driver().adapter().runsAnywhere()
                || (spec.getFileName() + file).contains(context.place().driver())
                || context.calls().cdiIds().stream()
                        .flatMap(id -> cdi.find(id).stream())
                        .anyMatch(found -> cdi.path(found.file()).equals(spec));
    }

    private static void removeSockets(TestContext context) throws IOException {
        remove(Stream.of(context.place().registry(), context.place().plugins())
                .flatMap(folder -> Globs.below(folder).stream())
                .filter(RegistrationSocket::isSocket)
                .filter(socket -> RegistrationSocket.isOwn(context, socket))
                .toList());
    }

    private static void remove(List<Path> files) throws IOException {
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }
}
