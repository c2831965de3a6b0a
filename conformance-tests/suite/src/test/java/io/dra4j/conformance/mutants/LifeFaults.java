// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.grpc.BindableService;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** How the driver begins, runs and ends. */
final class LifeFaults {

    private static final Queue<InputStream> LEAKED = new ConcurrentLinkedQueue<>();

    private LifeFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-07a" -> parts.driver = given -> new BetaOnly(given, parts);
            case "M-07b" -> parts.driver = given -> new WithoutHealth(given, parts);
            case "M-09" -> parts.driver = given -> new LateService(given, parts);
            case "M-12" -> parts.driver = given -> new Sweeping(given, parts);
            case "M-14" -> parts.driver = given -> new Idle(given, parts);
            case "M-75a" -> parts.driver = given -> new Withdrawing(given, parts, false);
            case "M-88" -> oneSocket(parts);
            case "M-90" -> parts.driver = given -> new Withdrawing(given, parts, true);
            case "M-98" -> parts.calls = Leaking::new;
            case "M-105" -> parts.driver = given -> new Patient(given, parts);
            case "M-106" -> parts.driver = given -> new Final(given, parts);
            case "M-107a" -> parts.driver = given -> registeringAt(given, parts, ".%s-reg.sock");
            case "M-107b" -> parts.driver = given -> new PlainFile(given, parts);
            case "M-107c" -> parts.driver = given -> registeringAt(given, parts, "%s/reg.sock");
            case "M-109b" -> parts.driver = given -> new OneService(given, parts);
            case "M-119" -> {
                parts.driver = given -> new Hasty(given, parts);
                parts.work = HastyWork::new;
                parts.cdi = NamesOfTheMoment::new;
            }
            case "M-122" -> parts.driver = given -> new OfTheNode(given, parts);
            case "M-133" -> parts.settings = LifeFaults::clearedUnlessItCanStart;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class BetaOnly extends BareDriver {
        BetaOnly(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        List<BindableService> services() {
            return super.services().stream().filter(each -> !(each instanceof PluginV1)).toList();
        }
    }

    private static final class WithoutHealth extends BareDriver {
        WithoutHealth(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        List<BindableService> services() {
            return super.services().stream().filter(each -> each != health).toList();
        }
    }

    private static final class LateService extends BareDriver {
        LateService(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void serve() {
            Pauses.later(
                    3000,
                    () -> {
                        try {
                            super.serve();
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
        }
    }

    private static final class Sweeping extends BareDriver {
        Sweeping(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void start() throws IOException {
            try (var sockets = Files.newDirectoryStream(settings.registry(), "*.sock")) {
                for (Path socket : sockets) {
                    Files.delete(socket);
                }
            }
            super.start();
        }
    }

    private static final class Idle extends BareDriver {
        Idle(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void register() {
            try {
                super.register();
            } catch (IOException e) {
                Life.current().say("Can't register: " + e);
            }
        }
    }

    private static final class Withdrawing extends BareDriver {
        private final boolean inUpdatesAlone;

        Withdrawing(Settings settings, Parts parts, boolean inUpdatesAlone) {
            super(settings, parts);
            this.inUpdatesAlone = inUpdatesAlone;
        }

        @Override
        void stop() {
            super.stop();
            if (!inUpdatesAlone || !settings.podUid().isEmpty()) {
                try {
                    publisher.existing().forEach(publisher.plan::delete);
                } catch (ApiClient.Failed e) {
                    Life.current().say("Slices are left: " + e.getMessage());
                }
            }
        }
    }

    /** Instances have the same sockets, and each removes what it finds there. */
    private static void oneSocket(Parts parts) {
        parts.settings = given -> given.with("--pod-uid", "");
        parts.registrationSocket = Unlinking::new;
        parts.serviceSocket = Unlinking::new;
    }

    private static final class Unlinking extends SocketServer {
        Unlinking(Path path) {
            super(path);
        }

        @Override
        void remove() {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static final class OneService extends BareDriver {
        OneService(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        Path servicePath() {
            return settings.data().resolve("bare.sock");
        }
    }

    private static final class Leaking extends Calls {
        Leaking(BareDriver driver) {
            super(driver);
        }

        @Override
        Map<String, Answer> prepare(String version, List<ClaimId> claims) {
            try {
                LEAKED.add(Files.newInputStream(Path.of("/dev/null")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return super.prepare(version, claims);
        }
    }

    private static final class Patient extends BareDriver {
        Patient(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void stop() {
            while (!health.streams.isEmpty()) {
                Pauses.millis(100);
            }
            super.stop();
        }
    }

    private static final class Final extends BareDriver {
        Final(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void stop() {
            super.stop();
            cdi.files().forEach(cdi::remove);
        }
    }

    private static BareDriver registeringAt(Settings given, Parts parts, String form) {
        return new BareDriver(given, parts) {
            @Override
            Path registrationPath() {
                return settings.registry().resolve(form.formatted(settings.driver() + suffix()));
            }

            @Override
            void register() throws IOException {
                Files.createDirectories(registrationPath().getParent());
                super.register();
            }
        };
    }

    private static final class PlainFile extends BareDriver {
        PlainFile(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void register() throws IOException {
            Files.writeString(registrationPath(), service.path.toString());
        }
    }

    /** Ends as soon as what it is at has had its effects. */
    private static final class Hasty extends BareDriver {
        private volatile boolean stopping;

        Hasty(Settings settings, Parts parts) {
            super(settings, parts);
        }

        /** In the wrong order, too: the kubelet hangs up on a call when the registration ends. */
        @Override
        void stop() {
            stopping = true;
            service.stop(GRACE);
            super.stop();
        }
    }

    private static final class HastyWork extends StateFaults.TrustingWork {
        HastyWork(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode carryOut(Map<String, ObjectNode> held, ObjectNode fresh) {
            effects(fresh);
            if (((Hasty) driver).stopping) {
                Life.current().end(0);
            }
            held.put(fresh.path("uid").asText(), fresh);
            finish(held, fresh);
            return fresh;
        }
    }

    /** Looks at its Node before anything else, and ends if it can't. */
    private static final class OfTheNode extends BareDriver {
        OfTheNode(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void start() throws IOException {
            api.get("/api/v1/nodes/" + settings.node());
            super.start();
        }
    }

    /** Clears away what a start that fails may have left: by a pattern that others' fit, too. */
    private static Settings clearedUnlessItCanStart(Settings given) {
        if (!Files.exists(Path.of(given.text("--kubeconfig", "")))) {
            try (var sockets =
                    Files.newDirectoryStream(given.registry(), given.driver() + "*.sock")) {
                for (Path socket : sockets) {
                    Files.delete(socket);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return given;
    }
}
