// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Claims whose object is missing, wrong or out of reach. */
@DisplayNameGeneration(RequirementNames.class)
class ApiTroubleIT {

    private static final Duration SOON = Duration.ofSeconds(2);
    private static final Duration FOREVER = Duration.ofMinutes(10);
    private static NodeUnderTest node;

    @BeforeAll
    static void start() throws Exception {
        node = new NodeUnderTest();
    }

    @AfterEach
    void cleanUp() throws Exception {
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static Predicate<RecordedRequest> readsOf(KubeletClaim claim) {
        return Requests.to("resourceclaims").and(request -> request.name().equals(claim.name()));
    }

    private static Injection hold(KubeletClaim claim) {
        return node.driver.proxy.inject(Fault.delay(FOREVER).on(readsOf(claim)));
    }

    private static RecordedRequest awaitRead(KubeletClaim claim, int after) {
        return node.driver.proxy.await(PATIENCE, readsOf(claim).and(Requests.after(after)));
    }

    @Test
    @Tag("DRA-PREP-10")
    void aClaimThatIsNotThereIsAnError() throws Exception {
        assertThat(node.refusal(new KubeletClaim("default", "absent", "uid-of-absent")))
                .contains("absent");
        assertThat(node.cdi.content()).isEmpty();
    }

    @Test
    @Tag("DRA-PREP-11")
    void aClaimThatWasMadeAnewIsAnErrorForItsOldUid() throws Exception {
        String name = node.name();
        KubeletClaim old =
                node.known(TestClaim.named(name).request("gpu", "gpu-0").create(node.driver));
        node.driver.deleteObject(old);
        KubeletClaim anew =
                node.known(TestClaim.named(name).request("gpu", "gpu-0").create(node.driver));

        node.refusal(old);

        assertThat(node.cdi.content()).isEmpty();
        node.prepare(anew);
    }

    @Test
    @Tag("DRA-PREP-12")
    void aClaimThatIsNotAllocatedIsAnError() throws Exception {
        KubeletClaim claim = node.known(node.claim().request("gpu").createUnallocated(node.driver));

        assertThat(node.refusal(claim)).contains("not allocated");
        assertThat(node.cdi.content()).isEmpty();
    }

    @Test
    @Tag("DRA-PREP-31")
    void aPrepareThatTheApiServerHangsEndsByItsDeadlineAndTheNextSucceeds() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        Injection held = hold(claim);

        long begin = System.nanoTime();
        CallResult late = node.driver.kubelet.prepare(DRIVER, List.of(claim), SOON);

        assertThat(late.complaint()).isPresent();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(SOON.multipliedBy(3));
        held.close();
        assertThat(node.prepare(claim).devices()).hasSize(1);
    }

    @Test
    @Tag("DRA-PREP-32")
    void aClaimThatWaitsForTheApiServerDelaysNoOther() throws Exception {
        KubeletClaim slow = node.allocate("gpu-0");
        KubeletClaim other = node.allocate("gpu-1");
        int before = node.driver.proxy.lastNumber();
        Injection held = hold(slow);
        CompletableFuture<CallResult> waiting = NodeUnderTest.async(() -> node.call(slow));
        awaitRead(slow, before);

        node.prepare(other);
        node.unprepare(other);

        assertThat(waiting).as("the slow one waits still").isNotDone();
        held.close();
        assertThat(waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).asked()).hasSize(1);
    }

    @Test
    @Tag("DRA-PREP-33")
    void aPrepareNeedsNoPublishing() throws Exception {
        Predicate<RecordedRequest> slices = Requests.to("resourceslices");
        Injection broken = node.driver.proxy.inject(Fault.status(403, "Forbidden").on(slices));
        int before = node.driver.proxy.lastNumber();
        node.driver.proxy.cutWatches();
        node.driver.proxy.await(
                PATIENCE, slices.and(Requests.after(before)).and(r -> r.status() == 403));

        assertThat(node.prepare(node.allocate("gpu-0")).devices()).hasSize(1);
        broken.close();
    }

    @Test
    @Tag("DRA-PREP-34")
    void afterServerErrorsAPrepareSucceedsWithoutARestart() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        Injection broken =
                node.driver.proxy.inject(Fault.status(500, "InternalError").on(readsOf(claim)));
        assertThat(node.driver.kubelet.prepare(DRIVER, List.of(claim), SOON).complaint())
                .isPresent();
        broken.close();

        assertThat(node.prepare(claim).devices()).hasSize(1);
    }

    @Test
    @Tag("DRA-UNP-04")
    void anUnprepareNeedsNoObjectAndReadsNone() throws Exception {
        String name = node.name();
        KubeletClaim old =
                node.known(TestClaim.named(name).request("gpu", "gpu-0").create(node.driver));
        KubeletClaim deleted = node.allocate("gpu-1");
        node.prepare(old);
        node.prepare(deleted);
        node.driver.deleteObject(deleted);
        node.driver.deleteObject(old);
        node.known(TestClaim.named(name).request("gpu", "gpu-0").create(node.driver));
        int before = node.driver.proxy.lastNumber();

        node.unprepare(deleted);
        node.unprepare(old);

        assertThat(node.cdi.content()).isEmpty();
        assertThat(
                        node.driver.proxy.requests(
                                Requests.to("resourceclaims").and(Requests.after(before))))
                .isEmpty();
    }

    @Test
    @Tag("DRA-UNP-05")
    void anUnprepareDoesNotWaitForAnApiServerThatIsAway() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        node.prepare(claim);
        node.driver.proxy.down();
        try {
            long begin = System.nanoTime();
            node.unprepare(claim);
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isLessThan(Duration.ofSeconds(5));
        } finally {
            node.driver.proxy.up();
        }
        assertThat(node.cdi.content()).isEmpty();
    }

    @Test
    @Tag("DRA-UNP-11")
    void aPrepareThatWaitsForTheApiServerBlocksNoUnprepareOfAnother() throws Exception {
        KubeletClaim prepared = node.allocate("gpu-1");
        node.prepare(prepared);
        KubeletClaim slow = node.allocate("gpu-0");
        int before = node.driver.proxy.lastNumber();
        Injection held = hold(slow);
        CompletableFuture<CallResult> waiting = NodeUnderTest.async(() -> node.call(slow));
        awaitRead(slow, before);

        node.unprepare(prepared);

        assertThat(waiting).isNotDone();
        assertThat(node.cdi.content()).isEmpty();
        held.close();
        waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
}
