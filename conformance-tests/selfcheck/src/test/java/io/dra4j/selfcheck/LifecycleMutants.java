// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

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

/** Mutants that begin, run or end wrongly. */
final class LifecycleMutants {

    private static final Queue<InputStream> LEAKED = new ConcurrentLinkedQueue<>();

    private LifecycleMutants() {}

    @Mutant(
            id = "M-07a",
            what = "v1 is declared and only v1beta1 served",
            collateral = {
                "DRA-REG-06", "DRA-REG-07", "DRA-REG-09", "DRA-VER-03", "DRA-PREP-01",
                "DRA-PREP-07", "DRA-PREP-29", "DRA-UNP-02", "DRA-SLICE-19", "DRA-UPG-01",
                "DRA-UPG-04", "DRA-SEC-03", "DRA-DECL-01"
            })
    @Violation("DRA-INFO-05: and does not serve it: the call is UNIMPLEMENTED")
    static final class BetaOnly extends BareDriver {
        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .filter(each -> !(each instanceof PluginV1))
                    .toList();
        }
    }

    @Mutant(id = "M-07b", what = "health is declared and not served")
    @Violation("DRA-INFO-05: and does not serve it: the call is UNIMPLEMENTED")
    @Violation("DRA-DECL-01: and does not serve it: the call is UNIMPLEMENTED")
    static final class WithoutHealth extends BareDriver {
        @Override
        List<BindableService> services() {
            return List.of(new PluginV1(this), new PluginV1beta1(this));
        }
    }

    @Mutant(
            id = "M-09",
            what = "the registration socket is there 3 s before the endpoint can be reached",
            collateral = {
                "DRA-REG-07", "DRA-REG-09", "DRA-INFO-03", "DRA-PREP-34",
                "DRA-UNP-05", "DRA-SLICE-19", "DRA-RST-04", "DRA-UPG-01",
                "DRA-UPG-04", "DRA-HLT-01", "DRA-PERF-01"
            })
    @Violation("DRA-REG-02: when the registration socket answered, the service at")
    static final class LateService extends BareDriver {
        @Override
        void serve() {
            Pauses.later(3000, () -> {
                try {
                    super.serve();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    @Mutant(
            id = "M-12",
            what = "deletes all *.sock files of the registry directory at its start",
            collateral = {"DRA-UPG-01", "DRA-UPG-04"})
    @Violation("DRA-REG-09: is gone, which is not the driver")
    static final class Sweeping extends BareDriver {
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

    @Mutant(id = "M-14", what = "logs that it cannot bind, and idles forever", timeoutFactor = 0.3)
    @Violation("DRA-REG-11: the driver neither ended nor registered when it was gone")
    static final class Idle extends BareDriver {
        @Override
        void register() {
            try {
                super.register();
            } catch (IOException e) {
                Life.current().log("Can't register: " + e);
            }
        }
    }

    @Mutant(
            id = "M-88",
            what = "two instances use one socket, and the old one unlinks the new one's",
            with = OneName.class,
            collateral = "DRA-INFO-03")
    @Violation("DRA-UPG-01: two instances have one service socket")
    @Violation("DRA-UPG-04: after the older instance ended, the other one")
    static final class Unlinking extends SocketServer {
        @Override
        void remove() {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Mutant(
            id = "M-109b",
            what = "the endpoint is the same for two instances",
            collateral = {"DRA-REG-05", "DRA-REG-06", "DRA-UPG-04"},
            timeoutFactor = 0.3)
    @Violation("DRA-INFO-03: two instances of the driver with different POD_UID name the")
    @Violation("DRA-UPG-01: an instance with a POD_UID did not start: The driver has")
    static final class OneService extends BareDriver {
        @Override
        Path servicePath() {
            return settings.data().resolve("bare.sock");
        }
    }

    @Mutant(id = "M-98", what = "loses a file descriptor in each call", process = true)
    @Violation("DRA-PERF-03: rounds of prepare and unprepare, the driver has")
    static final class Leaking extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            try {
                LEAKED.add(Files.newInputStream(Path.of("/dev/null")));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return super.prepare(version, claims);
        }
    }

    @Mutant(id = "M-105", what = "ignores SIGTERM while a stream is open")
    @Violation("DRA-SHUT-01: did not end the driver within")
    static final class Patient extends BareDriver {
        @Override
        void stop() {
            while (!health.streams.isEmpty()) {
                Pauses.millis(100);
            }
            super.stop();
        }
    }

    @Mutant(id = "M-220", what = "ignores SIGTERM until it has published")
    @Violation("DRA-SHUT-04: SIGTERM during its start, while the API server hung did not end the driver within")
    static final class Starting extends BareDriver {
        @Override
        void stop() {
            while (!publisher.published) {
                Pauses.millis(100);
            }
            super.stop();
        }
    }

    @Mutant(id = "M-106", what = "removes its CDI specs at SIGTERM")
    @Violation("DRA-SHUT-02: after a graceful stop, the CDI id")
    static final class Final extends BareDriver {
        @Override
        void stop() {
            super.stop();
            cdi.files().forEach(cdi::remove);
        }
    }

    /** Ends as soon as what it is at has had its effects. */
    @Mutant(
            id = "M-119",
            what = "at SIGTERM writes the spec of a running call, not its state, and exits with 0",
            with = {HastyWork.class, NamesOfTheMoment.class},
            collateral = {"DRA-RST-03", "DRA-RST-06"})
    @Violation("DRA-SHUT-03: after a SIGTERM during the Prepare of claim")
    static final class Hasty extends BareDriver {
        private volatile boolean stopping;

        /** In the wrong order, too: the kubelet hangs up on a call when the registration ends. */
        @Override
        void stop() {
            stopping = true;
            service.stop(GRACE);
            super.stop();
        }
    }

    static final class HastyWork extends StateMutants.TrustingWork {
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
    @Mutant(id = "M-122", what = "ends at its start if the API server can't be reached")
    @Violation("DRA-REG-10: the driver was started without an API server: it ended with exit")
    static final class OfTheNode extends BareDriver {
        @Override
        void start() throws IOException {
            api.get("/api/v1/nodes/" + settings.node());
            super.start();
        }
    }

    static final class OneName extends BareDriver {
        @Override
        String suffix() {
            return "";
        }
    }

    @Mutant(
            id = "M-75a",
            what = "deletes its slices at SIGTERM",
            collateral = {"DRA-UPG-03", "DRA-SHUT-01"})
    @Violation("DRA-SLICE-17: a graceful stop must leave the slices in place")
    @Violation("DRA-SLICE-07: with unchanged devices must not write slices: the driver sent [DELETE")
    static class Withdrawing extends BareDriver {
        @Override
        void stop() {
            super.stop();
            withdraw();
        }

        void withdraw() {
            try {
                publisher.existing().forEach(publisher.plan::delete);
            } catch (ApiClient.Failed e) {
                Life.current().log("Slices are left: " + e.getMessage());
            }
        }
    }

    @Mutant(id = "M-90", what = "the old instance deletes the slices when it ends")
    @Violation("DRA-UPG-03: slices were deleted while two instances overlapped, or when")
    static final class WithdrawingInUpdates extends Withdrawing {
        @Override
        void withdraw() {
            if (!settings.podUid().isEmpty()) {
                super.withdraw();
            }
        }
    }

    /** Clears away what a start that fails may have left: by a pattern that others' fit, too. */
    @Mutant(id = "M-133", what = "an instance that can't start removes the sockets of the other one")
    @Violation("DRA-UPG-05: after another instance could not start, the other one's socket")
    static final class Clearing extends BareDriver {
        @Override
        Settings settings(Settings given) {
            if (!Files.exists(Path.of(given.text("--kubeconfig", "")))) {
                try (var sockets = Files.newDirectoryStream(given.registry(), given.driver() + "*.sock")) {
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
}
