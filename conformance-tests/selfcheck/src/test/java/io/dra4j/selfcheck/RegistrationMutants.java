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

    @Altered(id = "M-01")
    static final class Slow extends Registration {
        @Override
        PluginInfo info() {
            Pauses.millis(2000);
            return super.info();
        }
    }

    @Altered(id = "M-02", with = LockedCalls.class)
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

    @Altered(id = "M-05")
    static final class Reversed extends Registration {
        @Override
        List<String> versions() {
            List<String> versions = new ArrayList<>(super.versions());
            Collections.swap(versions, 0, 1);
            return versions;
        }
    }

    @Altered(id = "M-06")
    static final class WithoutVersions extends Registration {
        @Override
        List<String> versions() {
            return List.of();
        }
    }

    @Altered(id = "M-08")
    static final class Touchy extends Registration {
        @Override
        void notified(RegistrationStatus status) {
            super.notified(status);
            if (!status.getPluginRegistered()) {
                Life.current().end(1);
            }
        }
    }

    @Altered(id = "M-108a")
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
    @Altered(id = "M-108b")
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

    @Altered(id = "M-109a")
    static final class Relative extends Registration {
        @Override
        String endpoint() {
            return driver.service.path.getFileName().toString();
        }
    }

    @Altered(id = "M-112", with = NamesOfTheMoment.class)
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

    @Altered(id = "M-03a")
    static final class ResourcePlugin extends Registration {
        @Override
        String type() {
            return "ResourcePlugin";
        }
    }

    @Altered(id = "M-03b")
    static final class DevicePlugin extends Registration {
        @Override
        String type() {
            return "DevicePlugin";
        }
    }

    @Altered(id = "M-04a")
    static final class UpperCase extends Registration {
        @Override
        String name() {
            return super.name().toUpperCase(Locale.ROOT);
        }
    }

    @Altered(id = "M-04b")
    static final class OtherName extends Registration {
        @Override
        String name() {
            return "other.example.com";
        }
    }

    @Altered(id = "M-107b")
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

    @Altered(id = "M-107a")
    static final class HiddenSocket extends Elsewhere {
        @Override
        Path registrationPath() {
            return settings.registry().resolve("." + settings.driver() + suffix() + "-reg.sock");
        }
    }

    @Altered(id = "M-107c")
    static final class SocketInFolder extends Elsewhere {
        @Override
        Path registrationPath() {
            return settings.registry().resolve(settings.driver() + suffix() + "/reg.sock");
        }
    }
}
