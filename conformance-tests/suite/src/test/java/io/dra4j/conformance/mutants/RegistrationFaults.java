// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

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

/** What the driver says of itself. */
final class RegistrationFaults {

    private RegistrationFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-01" -> parts.registration = Slow::new;
            case "M-02" -> {
                parts.registration = Locked::new;
                parts.calls = LockedCalls::new;
            }
            case "M-03a" -> parts.registration = driver -> typed(driver, "ResourcePlugin");
            case "M-03b" -> parts.registration = driver -> typed(driver, "DevicePlugin");
            case "M-04a" ->
                    parts.registration =
                            driver ->
                                    named(
                                            driver,
                                            driver.settings.driver().toUpperCase(Locale.ROOT));
            case "M-04b" -> parts.registration = driver -> named(driver, "other.example.com");
            case "M-05" -> parts.registration = Reversed::new;
            case "M-06" -> parts.registration = WithoutVersions::new;
            case "M-08" -> parts.registration = Touchy::new;
            case "M-108a" -> parts.registration = Once::new;
            case "M-108b" -> parts.registration = Moving::new;
            case "M-109a" -> parts.registration = Relative::new;
            case "M-112" -> {
                parts.registration = Clearing::new;
                parts.cdi = NamesOfTheMoment::new;
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class Slow extends Registration {
        Slow(BareDriver driver) {
            super(driver);
        }

        @Override
        PluginInfo info() {
            Pauses.millis(2000);
            return super.info();
        }
    }

    private static final class Locked extends Registration {
        Locked(BareDriver driver) {
            super(driver);
        }

        @Override
        PluginInfo info() {
            synchronized (driver) {
                return super.info();
            }
        }
    }

    private static final class LockedCalls extends Calls {
        LockedCalls(BareDriver driver) {
            super(driver);
        }

        @Override
        Map<String, Answer> prepare(String version, List<ClaimId> claims) {
            synchronized (driver) {
                return super.prepare(version, claims);
            }
        }
    }

    private static Registration typed(BareDriver driver, String type) {
        return new Registration(driver) {
            @Override
            String type() {
                return type;
            }
        };
    }

    private static Registration named(BareDriver driver, String name) {
        return new Registration(driver) {
            @Override
            String name() {
                return name;
            }
        };
    }

    private static final class Reversed extends Registration {
        Reversed(BareDriver driver) {
            super(driver);
        }

        @Override
        List<String> versions() {
            List<String> versions = new ArrayList<>(super.versions());
            Collections.swap(versions, 0, 1);
            return versions;
        }
    }

    private static final class WithoutVersions extends Registration {
        WithoutVersions(BareDriver driver) {
            super(driver);
        }

        @Override
        List<String> versions() {
            return List.of();
        }
    }

    private static final class Touchy extends Registration {
        Touchy(BareDriver driver) {
            super(driver);
        }

        @Override
        void notified(RegistrationStatus status) {
            super.notified(status);
            if (!status.getPluginRegistered()) {
                Life.current().end(1);
            }
        }
    }

    private static final class Once extends Registration {
        private final AtomicInteger asked = new AtomicInteger();

        Once(BareDriver driver) {
            super(driver);
        }

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
    private static final class Moving extends Registration {
        private final AtomicInteger asked = new AtomicInteger();

        Moving(BareDriver driver) {
            super(driver);
        }

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

    private static final class Relative extends Registration {
        Relative(BareDriver driver) {
            super(driver);
        }

        @Override
        String endpoint() {
            return driver.service.path.getFileName().toString();
        }
    }

    private static final class Clearing extends Registration {
        private final AtomicInteger told = new AtomicInteger();

        Clearing(BareDriver driver) {
            super(driver);
        }

        @Override
        void notified(RegistrationStatus status) {
            super.notified(status);
            if (status.getPluginRegistered() && told.getAndIncrement() > 0) {
                driver.calls.work.state.write(Map.of());
            }
        }
    }
}
