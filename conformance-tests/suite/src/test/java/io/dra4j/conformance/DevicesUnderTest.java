// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** The fake driver with hardware that the test breaks and mends, and its devices as published. */
final class DevicesUnderTest implements AutoCloseable {

    private static final Predicate<RecordedRequest> WRITES = Requests.writes("resourceslices");

    final DriverUnderTest driver;
    private final Path faults;
    private final String[] options;

    /** Starts the driver before that server. */
    DevicesUnderTest(EmbeddedApiServer.Builder server, String... more) throws Exception {
        this(new DriverUnderTest(server), more);
    }

    /** Starts the driver beside a server in which the test may have left something. */
    DevicesUnderTest(DriverUnderTest prepared, String... more) throws Exception {
        driver = prepared;
        faults = Files.createDirectory(driver.root.resolve("hardware")).resolve("faults");
        options = new String[more.length + 1];
        options[0] = "--fault-file=" + faults;
        System.arraycopy(more, 0, options, 1, more.length);
        driver.start(options);
        driver.awaitRegistered();
    }

    /** Kills the driver, and starts it again with the options that it had. */
    void restart() throws Exception {
        int before = driver.proxy.lastNumber();
        driver.restartAfterKill(options);
        awaitWatching(before);
    }

    /** Stops the driver as a pod's end does, and starts it again with the options that it had. */
    void restartGracefully() throws Exception {
        assertThat(driver.terminate()).isZero();
        restart();
    }

    /** Waits until the driver's pool is as wanted. */
    SeenPool awaitPool(Predicate<SeenPool> wanted) throws IOException {
        try {
            return SeenPool.of(
                    driver.api
                            .store()
                            .await(
                                    "resourceslices",
                                    slices -> wanted.test(SeenPool.of(slices)),
                                    PATIENCE));
        } catch (AssertionError e) {
            throw new AssertionError(driver.proxy.log() + "\n" + driver.log(), e);
        }
    }

    /** The driver's pool now. */
    SeenPool pool() {
        return SeenPool.of(slices());
    }

    /** Says what is wrong now, in place of all that was. */
    void faults(String... lines) throws IOException {
        Path next = Files.writeString(faults.resolveSibling("next"), String.join("\n", lines));
        Files.move(next, faults, StandardCopyOption.ATOMIC_MOVE);
    }

    List<JsonNode> slices() {
        return driver.api.store().list("resourceslices");
    }

    Map<String, JsonNode> published() {
        return devices(slices());
    }

    private static Map<String, JsonNode> devices(List<JsonNode> slices) {
        return slices.stream()
                .flatMap(slice -> elements(slice.at("/spec/devices")).stream())
                .collect(Collectors.toMap(device -> device.path("name").asText(), d -> d));
    }

    static List<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }

    /** Waits until all slices together hold such devices, by name. */
    Map<String, JsonNode> awaitPublished(Predicate<Map<String, JsonNode>> wanted)
            throws IOException {
        try {
            return devices(
                    driver.api
                            .store()
                            .await(
                                    "resourceslices",
                                    slices -> wanted.test(devices(slices)),
                                    PATIENCE));
        } catch (AssertionError e) {
            throw new AssertionError(driver.proxy.log() + "\n" + driver.log(), e);
        }
    }

    /** Waits until the driver watches slices by a later request, which is not one refused. */
    void awaitWatching(int number) {
        driver.proxy.await(
                PATIENCE,
                Requests.watches("resourceslices")
                        .and(Requests.after(number))
                        .and(RecordedRequest::open)
                        .and(request -> request.status() == 200));
    }

    /** All requests after the one of this number that changed slices, or were to. */
    List<RecordedRequest> writesAfter(int number) {
        return driver.proxy.requests(WRITES.and(Requests.after(number)));
    }

    /** What the kubelet hears of a claim that can't be prepared; empty if it can. */
    Optional<String> prepare(KubeletClaim claim) {
        CallResult result = driver.kubelet.prepare(DRIVER, List.of(claim));
        return result.complaint();
    }

    void unprepare(KubeletClaim claim) {
        assertThat(driver.kubelet.unprepare(DRIVER, List.of(claim)).complaint()).isEmpty();
    }

    @Override
    public void close() {
        driver.close();
    }
}
