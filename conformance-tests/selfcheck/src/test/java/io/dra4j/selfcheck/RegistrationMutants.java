// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.stubs.registration.v1.PluginInfo;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatus;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Mutants that describe themselves wrongly. */
final class RegistrationMutants {

    private RegistrationMutants() {}

    @Mutant(id = "M-01", what = "GetInfo takes 2 s", timeoutFactor = 0.3)
    @Violation("DRA-REG-03: ms while nothing else happens")
    static final class Slow extends Registration {
        @Override
        PluginInfo info() {
            Pauses.millis(2000);
            return super.info();
        }
    }

    @Mutant(id = "M-02", what = "GetInfo waits while a Prepare runs", with = LockedCalls.class)
    @Violation("DRA-REG-03: ms while a prepare waits for the API server")
    static final class Locked extends Registration {
        @Override
        PluginInfo info() {
            synchronized (driver) {
                return super.info();
            }
        }
    }

    static final class LockedCalls extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            synchronized (driver) {
                return super.prepare(version, claims);
            }
        }
    }

    @Mutant(id = "M-05", what = "v1beta1 is listed before v1", from = Build.PLAIN)
    @Violation("DRA-INFO-04: the kubelet takes the first that it knows, which is the")
    static final class Reversed extends Registration {
        @Override
        List<String> versions() {
            List<String> versions = new ArrayList<>(super.versions());
            Collections.swap(versions, 0, 1);
            return versions;
        }
    }

    @Mutant(id = "M-06", what = "the list of supported versions is empty", timeoutFactor = 0.3)
    @Violation("DRA-INFO-04: no kubelet registers the driver")
    static final class WithoutVersions extends Registration {
        @Override
        List<String> versions() {
            return List.of();
        }
    }

    @Mutant(id = "M-08", what = "ends when it is notified that registration failed")
    @Violation("DRA-REG-04: the driver ended when it was notified that it is not")
    static final class Touchy extends Registration {
        @Override
        void notified(RegistrationStatus status) {
            super.notified(status);
            if (!status.getPluginRegistered()) {
                Life.current().end(1);
            }
        }
    }

    @Mutant(
            id = "M-108a",
            what = "answers GetInfo once only",
            collateral = {
                "DRA-REG-03", "DRA-REG-05", "DRA-INFO-01", "DRA-INFO-02",
                "DRA-INFO-03", "DRA-INFO-04", "DRA-SEC-01", "DRA-DECL-01"
            })
    @Violation("DRA-REG-06: failed: FAILED_PRECONDITION: already registered")
    static final class Once extends Registration {
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        PluginInfo info() {
            if (asked.getAndIncrement() > 0) {
                throw Status.FAILED_PRECONDITION
                        .withDescription("already registered")
                        .asRuntimeException();
            }
            return super.info();
        }
    }

    /** Every answer but the first names a link to the socket. */
    @Mutant(id = "M-108b", what = "names another endpoint at each registration", collateral = "DRA-INFO-03")
    @Violation("DRA-REG-06: GetInfo changed from Info")
    static final class Moving extends Registration {
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        String endpoint() {
            int number = asked.getAndIncrement();
            Path link = driver.service.path.resolveSibling("bare-" + number + ".sock");
            try {
                if (number > 0 && !Files.exists(link)) {
                    Files.createSymbolicLink(link, driver.service.path);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return number == 0 ? super.endpoint() : link.toString();
        }
    }

    @Mutant(
            id = "M-109a",
            what = "the endpoint is relative",
            collateral = {
                "DRA-REG-05", "DRA-REG-06", "DRA-REG-07",
                "DRA-REG-09", "DRA-UPG-01", "DRA-UPG-04",
                "DRA-SEC-01"
            },
            timeoutFactor = 0.3)
    @Violation("DRA-INFO-03: is no absolute path")
    static final class Relative extends Registration {
        @Override
        String endpoint() {
            return driver.service.path.getFileName().toString();
        }
    }

    @Mutant(id = "M-112", what = "a new registration clears what is prepared", with = NamesOfTheMoment.class)
    @Violation("DRA-RST-04: after a restart of the kubelet, the device")
    static final class Clearing extends Registration {
        private final AtomicInteger accepted = new AtomicInteger();

        @Override
        void notified(RegistrationStatus status) {
            super.notified(status);
            if (status.getPluginRegistered() && accepted.getAndIncrement() > 0) {
                driver.calls.work.state.write(Map.of());
            }
        }
    }

    @Mutant(id = "M-03a", what = "the type is \"ResourcePlugin\"", from = Build.PLAIN, timeoutFactor = 0.3)
    @Violation("DRA-INFO-01: GetInfo returns the type")
    static final class ResourcePlugin extends Registration {
        @Override
        String type() {
            return "ResourcePlugin";
        }
    }

    @Mutant(id = "M-03b", what = "the type is \"DevicePlugin\"", timeoutFactor = 0.3)
    @Violation("DRA-INFO-01: GetInfo returns the type")
    static final class DevicePlugin extends Registration {
        @Override
        String type() {
            return "DevicePlugin";
        }
    }

    @Mutant(id = "M-04a", what = "the name is in upper case")
    @Violation("DRA-INFO-02: is no lower-case DNS subdomain of at most")
    static final class UpperCase extends Registration {
        @Override
        String name() {
            return super.name().toUpperCase(Locale.ROOT);
        }
    }

    @Mutant(id = "M-04b", what = "the name differs from the driver name of the slices")
    @Violation("DRA-INFO-02: s ResourceSlices are of")
    static final class OtherName extends Registration {
        @Override
        String name() {
            return "other.example.com";
        }
    }

    @Mutant(id = "M-107b", what = "there is a regular file in the place of the socket", timeoutFactor = 0.3)
    @Violation("DRA-REG-01: there is no socket in the registry directory")
    static final class PlainFile extends BareDriver {
        @Override
        void register() throws IOException {
            Files.writeString(registrationPath(), service.path.toString());
        }
    }

    /** Registers in a directory that it makes if it has to. */
    abstract static class Elsewhere extends BareDriver {
        @Override
        void register() throws IOException {
            Files.createDirectories(registrationPath().getParent());
            super.register();
        }
    }

    @Mutant(id = "M-107a", what = "the socket's name starts with a dot", timeoutFactor = 0.3)
    @Violation("DRA-REG-01: there is no socket in the registry directory")
    static final class HiddenSocket extends Elsewhere {
        @Override
        Path registrationPath() {
            return settings.registry().resolve("." + settings.driver() + suffix() + "-reg.sock");
        }
    }

    @Mutant(id = "M-107c", what = "the socket is in a subdirectory", timeoutFactor = 0.3)
    @Violation("DRA-REG-01: there is no socket in the registry directory")
    static final class SocketInFolder extends Elsewhere {
        @Override
        Path registrationPath() {
            return settings.registry().resolve(settings.driver() + suffix() + "/reg.sock");
        }
    }
}
