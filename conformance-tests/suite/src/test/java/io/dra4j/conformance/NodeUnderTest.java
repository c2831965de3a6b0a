// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A driver that many tests share, one after the other: each makes claims of its own, and leaves the
 * node as it found it.
 */
final class NodeUnderTest implements AutoCloseable {

    final DriverUnderTest driver;
    final CdiDirectory cdi;
    private final List<KubeletClaim> claims = new ArrayList<>();
    private int names;

    /** Starts the driver with its options, and waits until it can be called. */
    NodeUnderTest(String... options) throws Exception {
        this(new DriverUnderTest(), options);
    }

    NodeUnderTest(DriverUnderTest prepared, String... options) throws Exception {
        driver = prepared;
        cdi = new CdiDirectory(driver.cdi);
        assertThat(driver.startRegistered(options)).as(driver::logTail).isTrue();
    }

    /** A name that no claim has had. */
    String name() {
        return "claim-" + ++names;
    }

    /** Begins a claim, to be finished and given to {@link #create}. */
    TestClaim claim() {
        return TestClaim.named(name());
    }

    KubeletClaim create(TestClaim claim) {
        return known(claim.create(driver));
    }

    /** A claim of one request that got devices. */
    KubeletClaim allocate(String... devices) {
        return create(claim().request("gpu", devices));
    }

    /** Lets a claim be unprepared and deleted at the end of the test. */
    KubeletClaim known(KubeletClaim claim) {
        claims.add(claim);
        return claim;
    }

    CallResult call(KubeletClaim... asked) {
        return driver.kubelet.prepare(DRIVER, List.of(asked));
    }

    ClaimAnswer prepare(KubeletClaim claim) {
        return prepare(claim, Service.V1);
    }

    ClaimAnswer prepare(KubeletClaim claim, Service service) {
        CallResult result = driver.kubelet.prepare(DRIVER, List.of(claim), service);
        assertThat(result.complaint()).as(driver::logTail).isEmpty();
        assertThat(result.answers()).containsOnlyKeys(claim.uid());
        return result.answers().get(claim.uid());
    }

    /** Asks for a claim that must be refused, by the answer for it alone, and returns why. */
    String refusal(KubeletClaim claim) {
        return refusal(claim, Service.V1);
    }

    String refusal(KubeletClaim claim, Service service) {
        CallResult result = driver.kubelet.prepare(DRIVER, List.of(claim), service);
        assertThat(result.status()).isEqualTo(CallResult.OK);
        assertThat(result.answers()).containsOnlyKeys(claim.uid());
        ClaimAnswer answer = result.answers().get(claim.uid());
        assertThat(answer.error()).isNotEmpty();
        assertThat(answer.devices()).isEmpty();
        return answer.error();
    }

    void unprepare(KubeletClaim... asked) {
        assertThat(driver.kubelet.unprepare(DRIVER, Arrays.asList(asked)).complaint())
                .as(driver::logTail)
                .isEmpty();
    }

    /** Begins a call, to be awaited or given up. */
    static <T> CompletableFuture<T> async(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, task -> daemon(task).start());
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "node-under-test");
        thread.setDaemon(true);
        return thread;
    }

    Path specOf(KubeletClaim claim) {
        return driver.cdi.resolve("k8s." + DRIVER + "-claim_" + claim.uid() + ".json");
    }

    List<String> environment(ClaimAnswer answer) throws IOException {
        return cdi.environment(answer);
    }

    /** The end of a test: unprepare cleans up whatever it did, and the CDI directory is empty. */
    void cleanUp() throws IOException {
        for (KubeletClaim claim : claims) {
            unprepare(claim);
            driver.deleteObject(claim);
        }
        claims.clear();
        assertThat(cdi.content()).isEmpty();
    }

    @Override
    public void close() {
        driver.close();
    }
}
