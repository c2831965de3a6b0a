// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Prepare and unprepare, as the kubelet calls them, in the version of the service that is tried.
 *
 * <p>An error of a claim may come as the claim's error or as the status of the whole call: both are
 * the same to a kubelet, and to {@link #refused}.
 */
public final class Calls {

    private static final String PREPARE = "slowest prepare";
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final String driver;
    private final Supplier<FakeKubelet> kubelet;
    private final Transcript transcript;
    private final Measurements measurements;
    private final Queue<String> refusals = new ConcurrentLinkedQueue<>();
    private volatile Service service = Service.V1;

    Calls(String driver, Supplier<FakeKubelet> kubelet, Transcript transcript, Measurements measurements) {
        this.driver = driver;
        this.kubelet = kubelet;
        this.transcript = transcript;
        this.measurements = measurements;
    }

    /** Uses this version of the service from now on. */
    public void use(Service version) {
        service = version;
    }

    /** The version in use. */
    public Service service() {
        return service;
    }

    /** Prepares claims in one call, and returns its result. */
    public CallResult prepare(KubeletClaim... claims) {
        List<KubeletClaim> all = Arrays.asList(claims);
        return transcript.call(
                service.wireName() + "/NodePrepareResources",
                all,
                () -> kubelet.get().prepare(driver, all, service));
    }

    /** Unprepares claims in one call, and returns its result. */
    public CallResult unprepare(KubeletClaim... claims) {
        List<KubeletClaim> all = Arrays.asList(claims);
        return transcript.call(
                service.wireName() + "/NodeUnprepareResources",
                all,
                () -> kubelet.get().unprepare(driver, all, service));
    }

    /** Prepares a claim at one of several instances of the driver. */
    public CallResult prepareAt(PluginInfo instance, KubeletClaim claim) {
        requireRegistered(instance);
        List<KubeletClaim> all = List.of(claim);
        return transcript.call(
                "NodePrepareResources at " + instance.endpoint().getFileName(),
                all,
                () -> kubelet.get().prepare(instance, all));
    }

    /** Unprepares a claim at one of several instances of the driver. */
    public CallResult unprepareAt(PluginInfo instance, KubeletClaim claim) {
        requireRegistered(instance);
        List<KubeletClaim> all = List.of(claim);
        return transcript.call(
                "NodeUnprepareResources at " + instance.endpoint().getFileName(),
                all,
                () -> kubelet.get().unprepare(instance, all));
    }

    private void requireRegistered(PluginInfo instance) {
        Violation.unless(kubelet.get().plugins(instance.name()).contains(instance))
                .because(
                        "the instance at %s is not registered any more: its registration socket is gone",
                        instance.endpoint());
    }

    /** Prepares one claim in a call that the kubelet gives up sooner than usual. */
    public CallResult prepareWithin(Duration timeout, KubeletClaim claim) {
        List<KubeletClaim> all = List.of(claim);
        return transcript.call(
                service.wireName() + "/NodePrepareResources within " + timeout,
                all,
                () -> kubelet.get().prepare(driver, all, service, timeout));
    }

    /** Repeats a prepare, as a kubelet does, until it succeeds or there was time enough. */
    public CallResult prepareUntil(KubeletClaim claim, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        CallResult result = prepare(claim);
        while (result.complaint().isPresent() && System.nanoTime() < end) {
            LockSupport.parkNanos(PAUSE.toNanos());
            result = prepare(claim);
        }
        return result;
    }

    /** Makes a call whose time counts, and measures it. */
    private CallResult timed(String what, Supplier<CallResult> call) {
        Measurements.Wait wait = measurements.begin(what, Timeouts.PREPARE);
        CallResult result = call.get();
        wait.end(!result.status().startsWith("DEADLINE_EXCEEDED"));
        return result;
    }

    /** Prepares a claim that must be prepared, and returns the answer for it. */
    public ClaimResult prepared(KubeletClaim claim) {
        CallResult result = timed(PREPARE, () -> prepare(claim));
        Violation.ifPresent(result.complaint(), "claim %s was not prepared: %s", text(claim));
        return result.results().get(claim.uid());
    }

    /** The same with a message, whose last argument is the complaint; not measured. */
    public ClaimResult prepared(KubeletClaim claim, String otherwise, Object... arguments) {
        CallResult result = prepare(claim);
        Violation.ifPresent(result.complaint(), otherwise, arguments);
        return result.results().get(claim.uid());
    }

    /** Unprepares claims that must be unprepared. */
    public void unprepared(KubeletClaim... claims) {
        Violation.ifPresent(
                timed("slowest unprepare", () -> unprepare(claims)).complaint(),
                "unprepare of %s failed: %s",
                Arrays.stream(claims).map(Calls::text).toList());
    }

    /** The same with a message, whose last argument is the complaint; not measured. */
    public void unprepared(KubeletClaim claim, String otherwise, Object... arguments) {
        Violation.ifPresent(unprepare(claim).complaint(), otherwise, arguments);
    }

    /**
     * Prepares a claim that must be refused, and returns the error.
     *
     * @param because why it must be refused, for the message
     */
    public String refused(KubeletClaim claim, String because) {
        CallResult result = timed(PREPARE, () -> prepare(claim));
        String error = complaintOf(result, claim)
                .orElseThrow(() -> new Violation("claim %s was prepared, although %s", text(claim), because));
        refusals.add(error);
        return error;
    }

    /** Returns and removes the errors since the last call: whether they are about what was wrong, a reader sees. */
    String takeRefusals() {
        List<String> taken = new ArrayList<>();
        for (String error = refusals.poll(); error != null; error = refusals.poll()) {
            taken.add("refused with \"" + error + "\"");
        }
        return String.join("; ", taken);
    }

    private static Optional<String> complaintOf(CallResult result, KubeletClaim claim) {
        if (!result.status().equals(CallResult.OK)) {
            return Optional.of(result.status());
        }
        ClaimResult answer = result.results().get(claim.uid());
        String error = answer == null ? "no answer" : answer.error();
        return Optional.of(error).filter(words -> !words.isEmpty());
    }

    /** Begins something beside the rule, to be awaited or given up. */
    public static <T> CompletableFuture<T> async(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, task -> {
            Thread thread = new Thread(task, "dra-conformance-call");
            thread.setDaemon(true);
            thread.start();
        });
    }

    private static String text(KubeletClaim claim) {
        return claim.namespace() + "/" + claim.name() + " (UID " + claim.uid() + ")";
    }
}
