// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.ClaimEdits;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.conformance.rules.UpgradeRules.TwoInstances.Running;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Rules for two instances of a driver side by side. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record UpgradeRules(TestContext context) {

    private static final int PARALLEL = 16;
    private static final int RACES = 10;
    private static final int ROUNDS = 4;

    /** Enough for a choice among a few, such as queues, to collide. */
    private static final int CLAIMS = 8;

    /** A random choice, or one by the claim's UID, collides as often with one instance as with two. */
    private static final int TRIES = 20;

    @Rule("DRA-UPG-01")
    void bothAnswer() {
        TwoInstances two = TwoInstances.start(context);
        List<?> endpoints =
                two.both().stream().map(r -> r.info().endpoint()).distinct().toList();
        Violation.unless(endpoints.size() == 2).because("two instances have one service socket, %s", endpoints);
        List<Path> sockets =
                two.both().stream().map(Running::registration).distinct().toList();
        Violation.unless(sockets.size() == 2).because("two instances have one registration socket, %s", sockets);
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        for (Running instance : two.both()) {
            two.prepared(instance, claim);
            two.unprepared(instance, claim);
        }
        two.endOld();
    }

    @Rule("DRA-UPG-02")
    void eachWorksOnTheClaimsOfTheOther() {
        TwoInstances two = TwoInstances.start(context);
        PublishedDevice device = context.devices().one();
        Leftovers leftovers = Leftovers.since(context);
        across(two, two.old(), two.fresh(), device);
        across(two, two.fresh(), two.old(), device);
        leftovers.none("after Prepare at one instance and Unprepare at the other");
        atOnce(two, device);
        leftovers.none("after equal Prepares at two instances, and Unprepare");
        if (isGuarded(two.old(), device)) {
            for (int i = 0; i < RACES; i++) {
                race(two, device);
            }
        }
        KubeletClaim claim = context.claims().allocate(device);
        two.prepared(two.old(), claim);
        two.kill(two.old());
        two.unprepared(two.fresh(), claim);
        leftovers.none("after Prepare at an instance that was killed, and Unprepare at the other");
    }

    private void across(TwoInstances two, Running from, Running to, PublishedDevice device) {
        KubeletClaim claim = context.claims().allocate(device);
        Reported first = Reported.of(two.prepared(from, claim));
        Reported second = Reported.of(two.prepared(to, claim));
        Violation.unless(first.equals(second))
                .because("two instances answered differently for claim %s: %s, and %s", claim.uid(), first, second);
        two.unprepared(to, claim);
    }

    private void atOnce(TwoInstances two, PublishedDevice device) {
        KubeletClaim claim = context.claims().allocate(device);
        List<CompletableFuture<ClaimResult>> calls = new ArrayList<>();
        for (int i = 0; i < PARALLEL; i++) {
            Running at = two.both().get(i % 2);
            calls.add(Calls.async(() -> two.prepared(at, claim)));
        }
        List<Reported> answers =
                calls.stream().map(Calls::join).map(Reported::of).distinct().toList();
        Violation.unless(answers.size() == 1)
                .because(
                        "%d equal Prepares of claim %s at two instances were answered differently: %s",
                        PARALLEL, claim.uid(), answers);
        two.unprepared(two.fresh(), claim);
    }

    private boolean isGuarded(Running instance, PublishedDevice device) {
        KubeletClaim first = context.claims().allocate(device);
        KubeletClaim second = context.claims().allocate(device);
        context.calls().prepareAt(instance.info(), first);
        boolean refused =
                context.calls().prepareAt(instance.info(), second).complaint().isPresent();
        context.calls().unprepareAt(instance.info(), first);
        context.calls().unprepareAt(instance.info(), second);
        return refused && !device.isShared();
    }

    private void race(TwoInstances two, PublishedDevice device) {
        KubeletClaim left = context.claims().allocate(device);
        KubeletClaim right = context.claims().allocate(device);
        CompletableFuture<CallResult> one =
                Calls.async(() -> context.calls().prepareAt(two.old().info(), left));
        CompletableFuture<CallResult> other =
                Calls.async(() -> context.calls().prepareAt(two.fresh().info(), right));
        long given = Stream.of(one.join(), other.join())
                .filter(r -> r.complaint().isEmpty())
                .count();
        Violation.unless(given < 2)
                .because(
                        "two instances gave the device %s to two claims at the same time, %s and %s",
                        device, left.uid(), right.uid());
        if (given == 0) { // the kubelet tries again
            two.prepared(two.old(), left);
        }
        two.unprepared(two.fresh(), left);
        two.unprepared(two.old(), right);
    }

    private Map<String, String> slices() {
        Map<String, String> versions = new TreeMap<>();
        for (JsonNode slice : context.devices().slices()) {
            versions.put(
                    slice.at("/metadata/name").asText(),
                    slice.at("/metadata/resourceVersion").asText());
        }
        return versions;
    }

    @Rule("DRA-UPG-03")
    void slicesOutliveTheOverlap() {
        TwoInstances two = TwoInstances.start(context);
        Map<String, String> before = slices();
        int number = context.proxy().lastNumber();
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        two.prepared(two.old(), claim);
        two.unprepared(two.fresh(), claim);
        two.endOld();
        two.prepared(two.fresh(), claim);
        List<RecordedRequest> writes =
                context.proxy().requests(Requests.writes("resourceslices").and(Requests.after(number)));
        Violation.unless(writes.stream().noneMatch(request -> request.method().equals("DELETE")))
                .because(
                        "slices were deleted while two instances overlapped, or when the older one ended: there were %s, and are %s",
                        before, slices());
        context.measurements().count("writes of slices by two instances", writes.size(), 2L * before.size());
        Violation.unless(writes.size() <= 2 * before.size())
                .because(
                        "two instances wrote slices %d times while they overlapped and nothing changed", writes.size());
    }

    @Rule("DRA-UPG-04")
    void anEndRemovesOnlyOnesOwnSockets() {
        TwoInstances two = TwoInstances.start(context);
        two.endOld();
        serves(two.fresh(), "after the older instance ended");
        TwoInstances next = TwoInstances.start(context);
        next.kill(next.fresh());
        serves(next.old(), "after the newer instance was killed");
    }

    private void serves(Running instance, String after) {
        for (Path socket : List.of(instance.registration(), instance.info().endpoint())) {
            Violation.unless(Files.exists(socket)).because("%s, the other one's socket %s is gone", after, socket);
        }
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        String message = "%s, the other one no longer serves: %s";
        context.calls().answerOf(claim, context.calls().prepareAt(instance.info(), claim), message, after);
        Violation.ifPresent(context.calls().unprepareAt(instance.info(), claim).complaint(), message, after);
    }

    @Rule("DRA-UPG-05")
    void anInstanceThatCannotStartDisturbsNoOther() {
        TwoInstances two = TwoInstances.start(context);
        two.endOld();
        Map<String, String> before = slices();
        Place place = context.place();
        Path none = place.root().resolve("no-such-kubeconfig");
        Place wrong = place.withKubeconfig(none).withSecurePort(0);
        context.transcript().note("start an instance with a kubeconfig that does not exist");
        Instance bad = context.driver().launch(context.driver().adapter(), wrong, Map.of("POD_UID", "cannot-start"));
        try {
            bad.awaitExit(context.timeouts().times(Duration.ofSeconds(5)));
        } finally {
            bad.kill();
        }
        String after = "after another instance could not start";
        serves(two.fresh(), after);
        Violation.unless(slices().equals(before))
                .because("%s, the slices changed: there were %s, and are %s", after, before, slices());
    }

    @Rule("DRA-UPG-06")
    void whatIsOneClaimsAloneIsNoOthers() {
        TwoInstances two = TwoInstances.start(context);
        List<PublishedDevice> devices = sideBySide();
        for (int round = 0; round < ROUNDS; round++) {
            boolean inTurn = round == 0;
            ClaimEdits due = prepared(two, List.of(two.old()), claims(devices), inTurn);
            List<KubeletClaim> claims = claims(devices);
            ClaimEdits found = prepared(two, two.both(), claims, inTurn);
            Violation.unless(found.own() >= due.own() || isByChance(two, claims, due, inTurn))
                    .because(
                            "two instances, asked %s, gave several claims %s, which one instance gives to one claim each: neither knows what the other keeps in memory. Choose it under a node-wide lock, by the claims that are prepared on the node (with dra4j: DriverContext.lock, DriverContext.held)",
                            inTurn ? "in turn" : "at the same time",
                            found.common().stream()
                                    .filter(edit -> !due.common().contains(edit))
                                    .toList());
        }
        two.endOld();
    }

    /** A device for each claim: shares of one, or, where no device has room for two, different ones. */
    private List<PublishedDevice> sideBySide() {
        List<PublishedDevice> usable = context.devices().upTo(Integer.MAX_VALUE);
        Optional<PublishedDevice> shared =
                usable.stream().filter(device -> device.hasRoomFor(2)).findFirst();
        List<PublishedDevice> devices = shared.map(device -> IntStream.rangeClosed(1, CLAIMS)
                        .filter(device::hasRoomFor)
                        .mapToObj(claims -> device)
                        .toList())
                .orElse(usable.subList(0, Math.min(CLAIMS, usable.size())));
        NotApplicable.unless(devices.size() > 1, "claims can have one device at a time, and no shares of it");
        return devices;
    }

    private List<KubeletClaim> claims(List<PublishedDevice> devices) {
        return devices.stream().map(context.claims()::allocate).toList();
    }

    /** Returns whether one instance gives the same result with these claims, or two hardly ever do. */
    private boolean isByChance(TwoInstances two, List<KubeletClaim> claims, ClaimEdits due, boolean inTurn) {
        Predicate<List<Running>> isFewer =
                at -> prepared(two, at, claims, inTurn).own() < due.own();
        return Stream.generate(() -> List.of(two.old())).limit(TRIES).anyMatch(isFewer)
                || Stream.generate(two::both).limit(TRIES / 2).filter(isFewer).count() < 2;
    }

    /** Prepares claims at these instances, compares their edits, and unprepares them. */
    private ClaimEdits prepared(TwoInstances two, List<Running> at, List<KubeletClaim> claims, boolean inTurn) {
        List<CompletableFuture<ClaimResult>> calls = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            KubeletClaim claim = claims.get(i);
            Running instance = at.get(i % at.size());
            CompletableFuture<ClaimResult> call = Calls.async(() -> prepared(two, at, instance, claim));
            calls.add(call);
            if (inTurn) {
                Calls.join(call);
            }
        }
        List<List<String>> edits = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            edits.add(ClaimEdits.of(context, claims.get(i), Calls.join(calls.get(i))));
        }
        claims.forEach(claim -> two.unprepared(at.get(0), claim));
        return ClaimEdits.among(edits);
    }

    private ClaimResult prepared(TwoInstances two, List<Running> at, Running instance, KubeletClaim claim) {
        if (at.size() > 1) {
            return two.prepared(instance, claim);
        }
        CallResult result = context.calls().prepareAt(instance.info(), claim);
        Untested.unless(
                result.complaint().isEmpty(),
                "a single instance does not prepare as many claims: %s",
                result.complaint().orElse(""));
        return result.results().get(claim.uid());
    }

    /** Two instances of a driver side by side, as during a rolling update. */
    record TwoInstances(TestContext context, Running old, Running fresh) {

        /** An instance with its answer to GetInfo and its registration socket. */
        public record Running(Instance process, PluginInfo info, Path registration) {}

        /** Instances that already run under a pod's UID, so that one of them can be the older. */
        private static final class Known {
            private final Set<Running> running = new HashSet<>();
        }

        /** Starts a second instance beside the running one, which is replaced before if it has no pod UID. */
        public static TwoInstances start(TestContext context) {
            Set<Running> known = context.shared(Known.class, Known::new).running;
            Optional<Running> older = known.stream()
                    .filter(r -> r.process() == context.driver().current())
                    .findFirst();
            if (older.isEmpty()) {
                context.driver().terminate();
            }
            Running old = older.orElseGet(() -> launch(context));
            context.driver().use(old.process());
            context.awaitPools();
            Running fresh = launch(context);
            known.add(old);
            known.add(fresh);
            return new TwoInstances(context, old, fresh);
        }

        private static Running launch(TestContext context) {
            int before = context.kubelet().events().size();
            Instance process =
                    context.driver().launch(Map.of("POD_UID", UUID.randomUUID().toString()));
            try {
                context.driver().awaitRegistered(process, before);
            } catch (DriverUnusable e) {
                throw new Violation("an instance with a POD_UID did not start: " + e.getMessage());
            }
            Path socket =
                    context.kubelet().events(Kind.REGISTERED, before).get(0).socket();
            List<PluginInfo> plugins = context.kubelet().plugins(context.place().driver());
            return new Running(process, plugins.get(plugins.size() - 1), socket);
        }

        public List<Running> both() {
            return List.of(old, fresh);
        }

        public ClaimResult prepared(Running at, KubeletClaim claim) {
            CallResult result = context.calls().prepareAt(at.info(), claim);
            return context.calls().answerOf(claim, result, "%s did not prepare claim %s: %s", name(at), claim.uid());
        }

        public void unprepared(Running at, KubeletClaim claim) {
            Violation.ifPresent(
                    context.calls().unprepareAt(at.info(), claim).complaint(),
                    "%s did not unprepare claim %s: %s",
                    name(at),
                    claim.uid());
        }

        private String name(Running at) {
            return at == old ? "the older instance" : "the newer instance";
        }

        /** Stops the older, and continues with the newer. */
        public void endOld() {
            context.driver().use(old.process());
            context.driver().terminate();
            context.driver().use(fresh.process());
        }

        /** Kills one, and continues with the other. */
        public void kill(Running one) {
            context.driver().use(one.process());
            context.driver().kill();
            context.driver().use((one == old ? fresh : old).process());
        }
    }
}
