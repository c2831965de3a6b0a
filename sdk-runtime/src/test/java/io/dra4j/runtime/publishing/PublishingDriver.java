// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.ClaimContext;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverListener;
import io.dra4j.runtime.ProviderWithoutClaims;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A driver in this JVM whose inventory the test sets, before a proxy and an API server. */
final class PublishingDriver implements AutoCloseable {

    static final String DRIVER = "gpu.example.com";
    static final String NODE = "node-1";
    static final String SLICES = "resourceslices";
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    final EmbeddedApiServer api;
    final ApiProxy proxy;
    final Place place = Place.create(NODE, DRIVER);
    final BlockingQueue<DraException> problems = new LinkedBlockingQueue<>();
    private final Provider provider = new Provider();
    final DraDriver.Builder builder;
    final DraDriver driver;

    /** Builds a driver with an inventory; the server is the caller's to close. */
    PublishingDriver(EmbeddedApiServer api, UnaryOperator<DraDriver.Builder> options, List<Pool> pools)
            throws IOException {
        this.api = api;
        proxy = ApiProxy.before(api.url());
        provider.inventory = new Inventory(pools);
        DraDriver.Builder defaults = DraDriver.builder(DRIVER, NODE, provider)
                .kubeconfig(proxy.writeKubeconfig(place.kubeconfig()))
                .cdiRoot(place.cdi())
                .kubeletPluginsDirectory(place.plugins())
                .kubeletRegistrarDirectory(place.registry())
                .healthService()
                .listener(new DriverListener() {
                    @Override
                    public void recoverable(DraException problem) {
                        problems.add(problem);
                    }
                });
        builder = options.apply(defaults);
        driver = builder.build();
    }

    /** Builds a driver with an inventory, and starts it. */
    static PublishingDriver start(EmbeddedApiServer api, Pool... pools) throws IOException {
        return start(api, builder -> builder, pools);
    }

    /** Builds a driver with options and an inventory, and starts it. */
    static PublishingDriver start(EmbeddedApiServer api, UnaryOperator<DraDriver.Builder> options, Pool... pools)
            throws IOException {
        PublishingDriver driver = new PublishingDriver(api, options, List.of(pools));
        driver.start();
        return driver;
    }

    void start() {
        driver.start();
    }

    void report(DeviceHealth health) {
        provider.context.reportHealth(List.of(health));
    }

    boolean awaitPublished() throws InterruptedException {
        return driver.awaitPublished(TIMEOUT);
    }

    /** Waits for a message to the host with all of some words; others before it are dropped. */
    String awaitProblem(String... words) throws InterruptedException {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        String heard = "";
        DraException problem;
        while ((problem = problems.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS)) != null) {
            heard = problem.getMessage();
            if (Stream.of(words).allMatch(heard::contains)) {
                return heard;
            }
        }
        throw new AssertionError("the host never heard of " + List.of(words) + "; last it heard: " + heard);
    }

    List<JsonNode> slices(String pool) {
        return api.store().list(SLICES).stream()
                .filter(slice -> slice.at("/spec/pool/name").asText().equals(pool))
                .toList();
    }

    /** The requests of the driver that the server refused. */
    List<RecordedRequest> refused() {
        return proxy.requests(Requests.to(SLICES).and(request -> request.status() >= 400 && request.status() < 500));
    }

    /** The first requests of drivers. */
    List<RecordedRequest> checks() {
        return proxy.requests(request -> request.path().endsWith("apis/resource.k8s.io/v1"));
    }

    /** Requests, dry runs too, that sent something of a pool. */
    List<RecordedRequest> about(String pool) {
        return proxy.requests(Requests.to(SLICES).and(request -> request.body().contains('"' + pool + '"')));
    }

    @Override
    public void close() {
        driver.close();
        proxy.close();
        place.remove();
    }

    private static final class Provider extends ProviderWithoutClaims {
        private volatile Inventory inventory = Inventory.of();
        private volatile @Nullable DriverContext context;

        @Override
        public void start(DriverContext given) {
            context = given;
        }

        @Override
        public Inventory inventory() {
            return inventory;
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, ClaimContext progress) {
            return PreparedClaim.of(claim.devices().stream()
                    .map(device -> PreparedDevice.of(device, ContainerEdits.NONE))
                    .toList());
        }

        @Override
        public void unprepare(HeldClaim claim, ClaimContext progress) {
            // nothing was prepared
        }
    }
}
