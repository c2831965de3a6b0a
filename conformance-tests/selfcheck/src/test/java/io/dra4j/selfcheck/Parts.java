// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.util.List;

/** The parts that the driver is made of: its own classes, or the subclasses that replace them. */
final class Parts {

    private static final List<Class<?>> REPLACEABLE =
            List.of(
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

    private final List<Class<?>> replacements;

    Parts(List<Class<?>> replacements) {
        this.replacements = List.copyOf(replacements);
        for (Class<?> each : replacements) {
            if (REPLACEABLE.stream().noneMatch(part -> part.isAssignableFrom(each))) {
                throw new IllegalArgumentException(each + " replaces no part of the driver");
            }
        }
    }

    /** Makes a part by the constructor that takes as many arguments. */
    <T> T make(Class<T> part, Object... arguments) {
        Class<?> made =
                replacements.stream().filter(part::isAssignableFrom).findFirst().orElse(part);
        try {
            return part.cast(constructor(made, arguments.length).invokeWithArguments(arguments));
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(made + " can't be made", e);
        }
    }

    private static MethodHandle constructor(Class<?> made, int arguments)
            throws IllegalAccessException {
        for (Constructor<?> constructor : made.getDeclaredConstructors()) {
            if (constructor.getParameterCount() == arguments) {
                return MethodHandles.lookup().unreflectConstructor(constructor);
            }
        }
        throw new IllegalStateException(made + " has no constructor of a part");
    }
}
