// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.inprocess;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.InProcessDriver;
import io.dra4j.testkit.driver.Place;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/** A provider that the SDK runs in this JVM. */
public final class ProviderDriver {

    private ProviderDriver() {}

    /**
     * Runs the providers that a function makes.
     *
     * @param providers makes a provider for a place, whose node and driver name it may need
     * @param settings changes the builder before each start
     */
    public static DriverAdapter of(Function<Place, DeviceProvider> providers, Consumer<DraDriver.Builder> settings) {
        Set<String> declared = ConcurrentHashMap.newKeySet();
        return new InProcessDriver(
                place -> start(place, noting(declared, providers.apply(place)), settings), declared::contains);
    }

    /** Wraps a provider, and records the UIDs of the claims for which it says that it changes nothing. */
    private static DeviceProvider noting(Set<String> declared, DeviceProvider provider) {
        InvocationHandler passOn = (proxy, method, arguments) -> {
            try {
                Object returned = method.invoke(provider, arguments);
                if (method.getName().equals("changesNothing") && Boolean.TRUE.equals(returned)) {
                    declared.add(((AllocatedClaim) arguments[0]).ref().uid());
                }
                return returned;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        return (DeviceProvider) Proxy.newProxyInstance(
                DeviceProvider.class.getClassLoader(), new Class<?>[] {DeviceProvider.class}, passOn);
    }

    private static DraDriver start(Place place, DeviceProvider provider, Consumer<DraDriver.Builder> settings) {
        DraDriver.Builder builder = DraDriver.builder(place.driver(), place.node(), provider)
                .kubeconfig(place.kubeconfig())
                .cdiRoot(place.cdi())
                .kubeletPluginsDirectory(place.plugins())
                .kubeletRegistrarDirectory(place.registry());
        settings.accept(builder);
        try {
            DraDriver driver = builder.build();
            driver.start();
            return driver;
        } catch (DraException e) {
            throw new DriverUnusable("Can't start the driver: " + e.getMessage());
        }
    }
}
