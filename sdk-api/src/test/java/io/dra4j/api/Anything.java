// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Arbitrary values of the API's types, for tests that cover all of them. */
final class Anything {

    private static final AllocatedDevice ALLOCATED = AllocatedDevice.builder(
                    "r", new PoolName("node-a"), new DeviceName("gpu-0"))
            .build();

    private Anything() {}

    /** Returns an arbitrary value of a type. */
    static Object of(Class<?> type) throws Exception {
        Map<Class<?>, Object> known = Map.ofEntries(
                entry(String.class, "1"),
                entry(
                        ConfigType.class,
                        ConfigType.builder("v", "K", String.class).build()),
                entry(Class.class, String.class),
                entry(Device.class, Device.builder("gpu-0").build()),
                entry(AllocatedDevice.class, ALLOCATED),
                entry(PreparedDevice.class, PreparedDevice.of(ALLOCATED, ContainerEdits.NONE)),
                entry(ClaimRef.class, new ClaimRef("ns", "claim", "uid")),
                entry(DeviceNode.class, DeviceNode.of("/dev/a")),
                entry(DeviceNode.Builder.class, DeviceNode.builder("/dev/a")),
                entry(Quantity.class, Quantity.of(1)),
                entry(Duration.class, Duration.ofSeconds(1)),
                entry(Instant.class, Instant.EPOCH),
                entry(boolean.class, true),
                entry(Object.class, "1"));
        if (known.containsKey(type)) {
            return known.get(type);
        }
        if (type.isPrimitive()) {
            return type == int.class ? (Object) 1 : (Object) 1L;
        }
        if (type.isArray()) {
            return Array.newInstance(type.getComponentType(), 0);
        }
        if (type.isInterface() && !type.isSealed() && !type.getName().startsWith("java.util.")
                || type.getName().startsWith("java.util.function.")) {
            return Proxy.newProxyInstance(
                    type.getClassLoader() == null ? Anything.class.getClassLoader() : type.getClassLoader(),
                    new Class<?>[] {type},
                    (proxy, method, given) -> null);
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        return type == Set.class ? Set.of() : Collection.class.isAssignableFrom(type) ? List.of() : made(type);
    }

    private static Object made(Class<?> type) throws Exception {
        if (type == Map.class) {
            return Map.of();
        }
        if (type.getSimpleName().equals("Builder")) {
            return made(type.getEnclosingClass().getMethod("builder", starts(type)), type);
        }
        if (type.isSealed()) {
            return of(type.getPermittedSubclasses()[0]);
        }
        if (type.isRecord()) {
            Constructor<?> constructor = type.getDeclaredConstructors()[0];
            constructor.setAccessible(true);
            Object[] given = new Object[constructor.getParameterCount()];
            for (int i = 0; i < given.length; i++) {
                given[i] = of(constructor.getParameterTypes()[i]);
            }
            return constructor.newInstance(given);
        }
        Object builder = of(Class.forName(type.getName() + "$Builder"));
        return builder.getClass().getMethod("build").invoke(builder);
    }

    private static Class<?>[] starts(Class<?> builder) {
        return Arrays.stream(builder.getEnclosingClass().getMethods())
                .filter(method -> method.getName().equals("builder"))
                .map(Method::getParameterTypes)
                .findFirst()
                .orElseThrow();
    }

    private static Object made(Method start, Class<?> builder) throws Exception {
        Object[] given = new Object[start.getParameterCount()];
        for (int i = 0; i < given.length; i++) {
            given[i] = of(start.getParameterTypes()[i]);
        }
        Object made = start.invoke(null, given);
        assertThat(made).isInstanceOf(builder);
        return made;
    }
}
