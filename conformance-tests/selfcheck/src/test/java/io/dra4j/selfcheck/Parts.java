// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;

/** The parts that the driver is made of: its own classes, or the subclasses that replace them. */
final class Parts {

    static final List<Class<?>> REPLACEABLE = List.of(
            BareDriver.class,
            ApiClient.class,
            Inventory.class,
            StateFile.class,
            CdiSpecs.class,
            Configs.class,
            CallCounters.class,
            Metadata.class,
            DeviceReports.class,
            ClaimWork.class,
            Calls.class,
            Registration.class,
            HealthReports.class,
            SlicePlan.class,
            Publisher.class,
            SocketServer.class);

    private static final ThreadLocal<Parts> CURRENT = new ThreadLocal<>();

    final Settings settings;
    private final List<Class<?>> replacements;
    private BareDriver driver;

    Parts(Settings settings, List<Class<?>> replacements) {
        this.settings = settings;
        this.replacements = List.copyOf(replacements);
        for (Class<?> each : replacements) {
            if (REPLACEABLE.stream().noneMatch(part -> part.isAssignableFrom(each))) {
                throw new IllegalArgumentException(each + " replaces no part of the driver");
            }
        }
    }

    /** The parts of the driver that is being made. */
    static Parts of(BareDriver driver) {
        Parts parts = CURRENT.get();
        parts.driver = driver;
        return parts;
    }

    /** The driver of the part that is being made. */
    static BareDriver driver() {
        return CURRENT.get().driver;
    }

    /**
     * Makes a part, or what replaces it. None has arguments: a part takes its driver from here, so
     * that what replaces it needs no constructor.
     */
    <T> T make(Class<T> part) {
        Class<?> made =
                replacements.stream().filter(part::isAssignableFrom).findFirst().orElse(part);
        Parts outer = CURRENT.get();
        CURRENT.set(this);
        try {
            return part.cast(MethodHandles.lookup()
                    .findConstructor(made, MethodType.methodType(void.class))
                    .invoke());
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(made + " can't be made", e);
        } finally {
            CURRENT.set(outer);
        }
    }
}
