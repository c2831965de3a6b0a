// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverListener;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Place;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/**
 * Publishes pools to an API server of a release, many at the same time: for example those that a driver makes with each
 * of its options.
 *
 * <p>A server drops fields whose feature gate is off, so devices that need one are withheld there;
 * with all gates no device may be missing.
 */
public final class ReleasePublisher {

    private static final String WITHDRAWN = " are withdrawn: ";

    private final String driverName;
    private final KubernetesVersion release;
    private final boolean hasAllGates;

    private ReleasePublisher(String driverName, KubernetesVersion release, boolean hasAllGates) {
        this.driverName = driverName;
        this.release = release;
        this.hasAllGates = hasAllGates;
    }

    /**
     * Returns the tests of all releases, each with all of its gates on and with the default gates.
     *
     * <p>They are for a {@link org.junit.jupiter.api.TestFactory}, and fail if the pools are not
     * published within {@link TestNode#TIMEOUT}, or a device is missing for a reason other than a disabled feature
     * gate.
     *
     * @param driverName the driver's name
     * @param pools the pools, by the options that make them, for messages; their own names don't matter
     * @return the tests
     */
    public static Stream<DynamicTest> tests(String driverName, Map<String, Pool> pools) {
        return Stream.of(KubernetesVersion.values())
                .flatMap(release -> Stream.of(true, false).map(all -> new ReleasePublisher(driverName, release, all)))
                .map(one -> DynamicTest.dynamicTest(one.toString(), () -> one.publish(pools)));
    }

    @Override
    public String toString() {
        return release + (hasAllGates ? " with all gates" : " with its default gates");
    }

    private void publish(Map<String, Pool> pools) throws IOException, InterruptedException {
        List<String> options = List.copyOf(pools.keySet());
        List<Pool> named = new ArrayList<>();
        pools.values().forEach(pool -> named.add(named("options-" + named.size(), pool)));
        List<String> problems = new CopyOnWriteArrayList<>();
        Place place = Place.create(TestNode.NAME, driverName);
        try (EmbeddedApiServer api = server()) {
            api.writeKubeconfig(place.kubeconfig());
            try (DraDriver driver = driver(place, new Inventory(named), problems)) {
                driver.start();
                require(driver.awaitPublished(TestNode.TIMEOUT), "the pools are not published: " + problems);
            }
            for (int i = 0; i < named.size(); i++) {
                requirePublished(options.get(i), named.get(i), api, problems);
            }
        } finally {
            place.remove();
        }
        require(problems.stream().allMatch(problem -> !hasAllGates && problem.contains(WITHDRAWN)), "" + problems);
    }

    private EmbeddedApiServer server() {
        EmbeddedApiServer.Builder server =
                EmbeddedApiServer.builder().version(release).node(TestNode.NAME);
        Stream.of(FeatureGate.values())
                .filter(gate -> hasAllGates && gate.existsIn(release))
                .forEach(gate -> server.featureGate(gate, true));
        return server.start();
    }

    private static DraDriver driver(Place place, Inventory inventory, List<String> problems) {
        return RunningDriver.builder(place, new Shown(inventory))
                .listener(new DriverListener() {
                    @Override
                    public void recoverable(DraException problem) {
                        problems.add(problem.getMessage());
                    }
                })
                .build();
    }

    /** Hardware may be in only one pool, so its ids are removed. */
    private static Pool named(String name, Pool pool) {
        return Pool.builder(name)
                .placement(pool.placement())
                .devices(pool.devices().stream()
                        .map(device -> device.toBuilder().physicalId(null).build())
                        .toList())
                .counterSets(pool.counterSets())
                .partitionTypeAttribute(pool.partitionTypeAttribute())
                .skipNodeOperations(pool.skipNodeOperations())
                .build();
    }

    private void requirePublished(String options, Pool pool, EmbeddedApiServer api, List<String> problems) {
        Set<String> missing = pool.devices().stream()
                .map(Device::name)
                .map(String::valueOf)
                .collect(Collectors.toCollection(TreeSet::new));
        require(!missing.isEmpty(), options + " has no devices");
        List<String> published = RunningDriver.names(api.store().list("resourceslices").stream()
                .filter(slice ->
                        slice.at("/spec/pool/name").asText().equals(pool.name().value()))
                .toList());
        require(missing.containsAll(published), "%s publishes %s of %s".formatted(options, published, missing));
        missing.removeAll(published);
        require(
                missing.isEmpty() || problems.stream().anyMatch(problem -> isOf(pool, problem)),
                "%s publishes no %s".formatted(options, missing));
    }

    private static boolean isOf(Pool pool, String problem) {
        return problem.contains("pool " + pool.name() + " ") && problem.contains(WITHDRAWN);
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new AssertionError(this + ": " + message);
        }
    }

    private record Shown(Inventory inventory) implements DeviceProvider {

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
            throw new IllegalStateException("no claim is ever prepared");
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext context) {
            throw new IllegalStateException("no claim was ever prepared");
        }
    }
}
