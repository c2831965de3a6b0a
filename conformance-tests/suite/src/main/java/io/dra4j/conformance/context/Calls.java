// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Prepare and unprepare, as the kubelet calls them, in the version of the service that is tested.
 *
 * <p>Each successful answer is checked against the rules for all answers: {@link #takeFindings}.
 *
 * <p>An error of a claim may come as the claim's error or as the status of the whole call: both are
 * the same to a kubelet, and to {@link #refused}.
 */
public final class Calls {

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final String driver;
    private final Claims claims;
    private final CdiView cdi;
    private final Supplier<FakeKubelet> kubelet;
    private final Transcript transcript;
    private final Measurements measurements;
    private final Queue<String> refusals = new ConcurrentLinkedQueue<>();
    private volatile Service service = Service.V1;

    /** The UIDs of the claims that were prepared, and not unprepared since. */
    private final Set<String> held = ConcurrentHashMap.newKeySet();

    private final Set<String> cdiIds = ConcurrentHashMap.newKeySet();
    private final Queue<Finding> findings = new ConcurrentLinkedQueue<>();

    /** A violation of a rule for all answers, by a version of the service. */
    public record Finding(Service service, Violation violation) {}

    Calls(
            String driver,
            Claims claims,
            CdiView cdi,
            Supplier<FakeKubelet> kubelet,
            Transcript transcript,
            Measurements measurements) {
        this.driver = driver;
        this.claims = claims;
        this.cdi = cdi;
        this.kubelet = kubelet;
        this.transcript = transcript;
        this.measurements = measurements;
    }

    public void use(Service version) {
        service = version;
    }

    public Service service() {
        return service;
    }

    public CallResult prepare(KubeletClaim... claims) {
        List<KubeletClaim> all = Arrays.asList(claims);
        return checked(all, service, called(all));
    }

    private CallResult called(List<KubeletClaim> all) {
        return transcript.call(
                service.wireName() + "/NodePrepareResources",
                all,
                () -> kubelet.get().prepare(driver, all, service));
    }

    private CallResult checked(List<KubeletClaim> of, Service by, CallResult result) {
        for (KubeletClaim claim : of) {
            ClaimResult answer = result.results().get(claim.uid());
            if (answer != null && answer.error().isEmpty()) {
                cdiIds.addAll(CdiView.ids(answer));
                if (held.add(claim.uid())) {
                    CdiView.ids(answer).forEach(id -> resolves(id, by));
                }
                claims.find(claim).map(object -> new AnswerCheck(driver, object, answer)).stream()
                        .flatMap(check -> check.violations(by).stream())
                        .forEach(found -> findings.add(new Finding(by, found)));
            }
        }
        return result;
    }

    private void resolves(String id, Service by) {
        try {
            int found = cdi.find(id).size();
            if (found != 1) {
                String words = "the CDI id %s resolves to %d devices when the answer arrives";
                findings.add(new Finding(by, new Violation(words, id, found).about(CdiView.IDS)));
            }
        } catch (Violation e) {
            transcript.note(e.getMessage() + ": another call may be writing it");
        }
    }

    /** The CDI ids of all answers. */
    public Set<String> cdiIds() {
        return Set.copyOf(cdiIds);
    }

    /** Returns whether a text names the driver, or the kind of a CDI device that it has answered. */
    boolean isAbout(String text) {
        return text.contains(driver)
                || cdiIds.stream().map(id -> id.replaceFirst("=.*", "")).anyMatch(text::contains);
    }

    /** Returns and removes the violations in answers since the last call. */
    public List<Finding> takeFindings() {
        List<Finding> all = new ArrayList<>();
        for (Finding next = findings.poll(); next != null; next = findings.poll()) {
            all.add(next);
        }
        return all;
    }

    /** Records that a claim was prepared in another way. */
    public void holds(KubeletClaim claim) {
        held.add(claim.uid());
    }

    public CallResult unprepare(KubeletClaim... claims) {
        List<KubeletClaim> all = Arrays.asList(claims);
        return released(transcript.call(
                service.wireName() + "/NodeUnprepareResources",
                all,
                () -> kubelet.get().unprepare(driver, all, service)));
    }

    private CallResult released(CallResult result) {
        result.results().forEach((uid, answer) -> {
            if (answer.error().isEmpty()) {
                held.remove(uid);
            }
        });
        return result;
    }

    public CallResult prepareAt(PluginInfo instance, KubeletClaim claim) {
        requireRegistered(instance);
        List<KubeletClaim> all = List.of(claim);
        return checked(
                all,
                instance.service(),
                transcript.call(
                        "NodePrepareResources at " + instance.endpoint().getFileName(),
                        all,
                        () -> kubelet.get().prepare(instance, all)));
    }

    public CallResult unprepareAt(PluginInfo instance, KubeletClaim claim) {
        requireRegistered(instance);
        List<KubeletClaim> all = List.of(claim);
        return released(transcript.call(
                "NodeUnprepareResources at " + instance.endpoint().getFileName(),
                all,
                () -> kubelet.get().unprepare(instance, all)));
    }

    private void requireRegistered(PluginInfo instance) {
        Violation.unless(kubelet.get().plugins(instance.name()).contains(instance))
                .because(
                        "the instance at %s is no longer registered: its registration socket is gone",
                        instance.endpoint());
    }

    public CallResult prepareWithin(Duration timeout, KubeletClaim claim) {
        List<KubeletClaim> all = List.of(claim);
        return checked(
                all,
                service,
                transcript.call(
                        service.wireName() + "/NodePrepareResources within " + timeout,
                        all,
                        () -> kubelet.get().prepare(driver, all, service, timeout)));
    }

    /** Repeats a prepare, as a kubelet does, until it succeeds or the time is up. */
    public CallResult prepareUntil(KubeletClaim claim, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        CallResult result = prepare(claim);
        while (result.complaint().isPresent() && System.nanoTime() < end) {
            LockSupport.parkNanos(PAUSE.toNanos());
            result = prepare(claim);
        }
        return result;
    }

    private CallResult timed(String what, Supplier<CallResult> call) {
        Measurements.Wait wait = measurements.begin(what, Timeouts.PREPARE);
        CallResult result = call.get();
        wait.end(!result.status().startsWith("DEADLINE_EXCEEDED"));
        return result;
    }

    private CallResult timedPrepare(KubeletClaim claim) {
        List<KubeletClaim> all = List.of(claim);
        return checked(all, service, timed("slowest prepare", () -> called(all)));
    }

    /** Prepares a claim that must be prepared, and returns the answer for it. */
    public ClaimResult prepared(KubeletClaim claim) {
        return answerOf(claim, timedPrepare(claim), "claim %s was not prepared: %s", text(claim));
    }

    /** The same with a message, whose last argument is the complaint; not measured. */
    public ClaimResult prepared(KubeletClaim claim, String otherwise, Object... arguments) {
        return answerOf(claim, prepare(claim), otherwise, arguments);
    }

    /** The answer of a call that must have prepared a claim, with a message for {@link #prepared}. */
    public ClaimResult answerOf(KubeletClaim claim, CallResult result, String otherwise, Object... arguments) {
        Violation.ifPresent(roots(claim), result.complaint(), otherwise, arguments);
        return result.results().get(claim.uid());
    }

    private List<String> roots(KubeletClaim claim) {
        return held.contains(claim.uid()) ? List.of("DRA-PREP-05") : List.of("DRA-PREP-01", "DRA-SLICE-19");
    }

    /** Unprepares claims that must be unprepared. */
    public void unprepared(KubeletClaim... claims) {
        List<KubeletClaim> all = Arrays.asList(claims);
        good(
                all,
                timed("slowest unprepare", () -> unprepare(claims)),
                "unprepare of %s failed: %s",
                all.stream().map(Calls::text).toList());
    }

    /** The same with a message, whose last argument is the complaint; not measured. */
    public void unprepared(KubeletClaim claim, String otherwise, Object... arguments) {
        good(List.of(claim), unprepare(claim), otherwise, arguments);
    }

    private void good(List<KubeletClaim> claims, CallResult result, String otherwise, Object... arguments) {
        boolean isHeld = claims.stream().map(KubeletClaim::uid).anyMatch(held::contains);
        Violation.ifPresent(isHeld ? List.of("DRA-UNP-01") : List.of(), result.complaint(), otherwise, arguments);
    }

    /** Prepares a claim that must be refused for a reason, which the message has, and returns the error. */
    public String refused(KubeletClaim claim, String because) {
        CallResult result = timedPrepare(claim);
        String error = complaintOf(result, claim)
                .orElseThrow(() -> new Violation("claim %s was prepared, although %s", text(claim), because));
        refusals.add(error);
        return error;
    }

    /** Returns and removes the errors since the last call: a reader judges whether they name the problem. */
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

    /** Starts a task concurrently with the rule, to be awaited or given up. */
    public static <T> CompletableFuture<T> async(Supplier<T> call) {
        return async(call, "dra-conformance-call");
    }

    public static <T> CompletableFuture<T> async(Supplier<T> call, String name) {
        return CompletableFuture.supplyAsync(call, task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            thread.start();
        });
    }

    /** The result of a task; what ended it, such as an API server that is gone, is not wrapped. */
    public static <T> T join(CompletableFuture<T> task) {
        try {
            return task.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private static String text(KubeletClaim claim) {
        return claim.namespace() + "/" + claim.name() + " (UID " + claim.uid() + ")";
    }

    /**
     * A check of every successful answer to a Prepare, in any rule: its devices are the driver's results of the claim,
     * with their share ids, for their requests. An answer without devices means that the driver needs nothing from the
     * kubelet.
     */
    record AnswerCheck(String driver, JsonNode claim, ClaimResult answer) {

        /** Returns the faults, each about the requirement that is broken. */
        List<Violation> violations(Service service) {
            List<Violation> found = new ArrayList<>();
            for (PreparedDevice device : answer.devices()) {
                List<JsonNode> results = results(device);
                if (results.stream().anyMatch(this::isOwn)) {
                    requests(device, results, found);
                } else {
                    String words =
                            "the answer reports device %s, which is not among this driver's devices of the claim";
                    found.add(new Violation(words, text(device))
                            .about(results.isEmpty() ? "DRA-PREP-02" : "DRA-PREP-13"));
                }
            }
            for (JsonNode result : answer.devices().isEmpty() ? List.<JsonNode>of() : results()) {
                if (isOwn(result)) {
                    reported(result, service, found);
                }
            }
            return found;
        }

        private List<JsonNode> results() {
            return ApiObjects.elements(claim.at("/status/allocation/devices/results"));
        }

        private List<JsonNode> results(PreparedDevice device) {
            return results().stream().filter(result -> isOf(device, result)).toList();
        }

        private static boolean isOf(PreparedDevice device, JsonNode result) {
            return device.pool().equals(result.path("pool").asText())
                    && device.device().equals(result.path("device").asText());
        }

        private boolean isOwn(JsonNode result) {
            return result.path("driver").asText().equals(driver);
        }

        private static String text(PreparedDevice device) {
            return device.pool() + "/" + device.device();
        }

        private void requests(PreparedDevice device, List<JsonNode> results, List<Violation> found) {
            Set<String> due = results.stream()
                    .filter(this::isOwn)
                    .map(result -> result.path("request").asText().split("/")[0])
                    .collect(Collectors.toCollection(TreeSet::new));
            boolean all = device.requests().isEmpty()
                    && claim.at("/spec/devices/requests").size() > due.size();
            if (all || !due.containsAll(device.requests())) {
                String words = "device %s was allocated for request %s, but is reported for %s";
                found.add(new Violation(words, text(device), due, all ? "none, which means all" : device.requests())
                        .about("DRA-PREP-03"));
            }
        }

        private void reported(JsonNode result, Service service, List<Violation> found) {
            List<PreparedDevice> devices = answer.devices().stream()
                    .filter(device -> isOf(device, result))
                    .toList();
            String name =
                    result.path("pool").asText() + "/" + result.path("device").asText();
            if (devices.isEmpty()) {
                String words = "the claim was allocated device %s, which is not in the answer";
                found.add(new Violation(words.formatted(name), true, "", List.of("DRA-PREP-02")));
                return;
            }
            String due = result.path("shareID").asText(null);
            List<String> shares = devices.stream().map(PreparedDevice::shareId).toList();
            if (service == Service.V1 && shares.stream().noneMatch(share -> Objects.equals(share, due))) {
                String words = "the claim was allocated share %s of device %s, which is answered with the share id %s";
                found.add(new Violation(words, due, name, shares).about("DRA-PREP-21"));
            }
        }
    }
}
