// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.ClaimEdits;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.conformance.settings.ConfigSettings.Valid;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Devices that several claims have at the same time: by shares of the capacity, of counters, or by admin access. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record ShareRules(TestContext context, Publishing publishing) {

    /** The time for which a policy is watched while a share is allocated. */
    private static final Duration WHILE_IN_USE = Duration.ofSeconds(2);

    ShareRules(TestContext context) {
        this(context, new Publishing(context));
    }

    private PublishedDevice shared() {
        return context.devices().upTo(Integer.MAX_VALUE).stream()
                .filter(device -> device.hasRoomFor(2))
                .findFirst()
                .orElseThrow(() -> new NotApplicable("no device that allows several claims has the capacity for two"));
    }

    @Rule("DRA-PREP-21")
    void everyShareIsReportedByItsId() {
        PublishedDevice device = shared();
        KubeletClaim one = context.claims().allocate(device);
        KubeletClaim other = context.claims().allocate(device);
        reported(one, prepared(one, "a share of device " + device));
        reported(other, prepared(other, "a second share of device " + device));
        context.tidy();
        if (context.devices().areShaped()) {
            return; // a claim with two shares does not have the shape
        }
        KubeletClaim both = context.claims()
                .create(context.claims().draft().request("r0", device).request("r1", device));
        reported(both, prepared(both, "two shares of device " + device));
    }

    private ClaimResult prepared(KubeletClaim claim, String of) {
        return context.calls().prepared(claim, "a claim with %s is refused: %s", of);
    }

    private JsonNode results(KubeletClaim claim) {
        return context.claims().object(claim).at("/status/allocation/devices/results");
    }

    private void reported(KubeletClaim claim, ClaimResult answer) {
        JsonNode results = results(claim);
        if (Reported.isNone(context, answer)) {
            return;
        }
        Set<String> due = new TreeSet<>();
        results.forEach(result -> due.add(result.path("shareID").asText()));
        if (context.calls().service() == Service.V1) {
            Set<String> shares = answer.devices().stream()
                    .map(PreparedDevice::shareId)
                    .map(String::valueOf)
                    .collect(Collectors.toCollection(TreeSet::new));
            Violation.unless(shares.equals(due))
                    .because("the answer has the share ids %s, but the allocation has %s", shares, due);
        }
        Set<String> requests = results.valueStream()
                .map(result -> result.path("request").asText())
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> answered = answer.devices().stream()
                .flatMap(device -> device.requests().stream())
                .collect(Collectors.toCollection(TreeSet::new));
        Violation.unless(answered.isEmpty() || answered.equals(requests))
                .because("shares were allocated for %s, but are reported for %s", requests, answered);
    }

    @Rule("DRA-PREP-22")
    void sharesAreIndependent() {
        PublishedDevice device = shared();
        KubeletClaim gone = context.claims().allocate(device);
        KubeletClaim stays = context.claims().allocate(device);
        prepared(gone, "a share of device " + device);
        ClaimResult answer = prepared(stays, "a second share of device " + device);
        List<String> edits = context.cdi().edits(answer.devices());

        context.calls().unprepared(gone);

        for (String id : CdiView.ids(answer)) {
            Violation.unless(!context.cdi().find(id).isEmpty())
                    .because("the unprepare of one share removed CDI device %s of the other", id);
        }
        List<String> now = context.cdi().edits(answer.devices());
        Violation.unless(now.equals(edits))
                .because("the unprepare of one share changed the edits of the other from %s to %s", edits, now);
        Violation.unless(Reported.of(context.calls().prepared(stays)).equals(Reported.of(answer)))
                .about("DRA-PREP-05")
                .because("the unprepare of one share changed what the other's claim is answered");
        prepared(context.claims().allocate(device), "a share of device " + device + " after another was released");
    }

    @Rule("DRA-PREP-38")
    void bothFormsOfACapacitysNameAreOne() {
        PublishedDevice device = shared();
        NotApplicable.unless(!device.json().path("capacity").isEmpty(), "device %s has no capacity".formatted(device));
        List<String> published = edits(share(device), "");
        List<String> again = edits(share(device), "");
        List<String> other = edits(share(device).inOtherForm(), ", with the other form of its capacity's name,");
        Violation.unless(!published.equals(again) || other.equals(published))
                .because(
                        "a share of device %s has the edits %s, and with the other form of its capacity's name %s",
                        device, published, other);
        countsBoth(device);
    }

    private ClaimDraft share(PublishedDevice device) {
        return context.claims().draft().request("r0", device);
    }

    private List<String> edits(ClaimDraft draft, String how) {
        KubeletClaim claim = context.claims().create(draft);
        List<String> edits = ClaimEdits.of(context, claim, prepared(claim, "a share" + how));
        context.calls().unprepared(claim);
        return edits;
    }

    /** Checks a driver that refuses more than the capacity. */
    private void countsBoth(PublishedDevice device) {
        KubeletClaim first = context.claims().create(share(device).all(device));
        boolean counts = context.calls().prepare(first).complaint().isEmpty()
                && context.calls()
                        .prepare(context.claims().create(share(device).all(device)))
                        .complaint()
                        .isPresent();
        KubeletClaim more = context.claims().create(share(device).all(device).inOtherForm());
        Violation.unless(!counts || context.calls().prepare(more).complaint().isPresent())
                .because(
                        "the capacity of device %s is used up, and a claim for more is refused; with the other form of its name, a claim gets it",
                        device);
    }

    /** Checks what was published, and what was refused. */
    @Rule("DRA-CAP-01")
    @ExecutionGroup.On(ExecutionGroup.OPTIONAL)
    void policiesAreSound() {
        publishing.begun();
        for (RecordedRequest write : context.proxy().requests(Publishing.WRITES)) {
            Publishing.body(write).ifPresent(s -> s.at("/spec/devices").forEach(ShareRules::check));
        }
        publishing.now().devices().forEach(device -> check(device.json()));
    }

    private static void check(JsonNode device) {
        for (Map.Entry<String, JsonNode> capacity : device.path("capacity").properties()) {
            JsonNode policy = capacity.getValue().path("requestPolicy");
            if (policy.isObject()) {
                check(device, capacity.getKey(), capacity.getValue(), policy);
            }
        }
    }

    private static void check(JsonNode device, String name, JsonNode capacity, JsonNode policy) {
        String whose = "the requestPolicy of capacity %s of device %s"
                .formatted(name, device.path("name").asText());
        Violation.unless(device.path("allowMultipleAllocations").asBoolean())
                .because("%s has no effect: the device does not allow multiple allocations", whose);
        JsonNode preset = policy.path("default");
        if (preset.isMissingNode()) {
            Violation.unless(policy.path("validValues").isMissingNode()
                            && policy.path("validRange").isMissingNode())
                    .because("%s has valid values, but no default", whose);
            return;
        }
        Violation.unless(amount(preset).compareTo(amount(capacity.path("value"))) <= 0)
                .because("%s has the default %s, but the capacity is %s", whose, preset, capacity.path("value"));
        checkValues(whose, preset, policy.path("validValues"));
        checkRange(whose, preset, policy.path("validRange"));
    }

    private static void checkValues(String whose, JsonNode preset, JsonNode values) {
        boolean isOne = values.isMissingNode()
                || ApiObjects.elements(values).stream().anyMatch(v -> amount(v).compareTo(amount(preset)) == 0);
        Violation.unless(isOne).because("%s has the default %s, which is not one of its %s", whose, preset, values);
    }

    private static void checkRange(String whose, JsonNode preset, JsonNode range) {
        if (range.isMissingNode()) {
            return;
        }
        BigDecimal value = amount(preset);
        BigDecimal least = amount(range.path("min"));
        boolean isInside =
                value.compareTo(least) >= 0 && (!range.has("max") || value.compareTo(amount(range.path("max"))) <= 0);
        Violation.unless(isInside).because("%s has the default %s, outside of its range %s", whose, preset, range);
        Violation.unless(!range.has("step")
                        || value.subtract(least)
                                        .remainder(amount(range.path("step")))
                                        .signum()
                                == 0)
                .because("%s has the default %s, which is not a step of its range %s", whose, preset, range);
    }

    private static BigDecimal amount(JsonNode quantity) {
        return quantity.isMissingNode() ? BigDecimal.ZERO : Quantities.exact(quantity.asText());
    }

    @Rule("DRA-CAP-02")
    @ExecutionGroup.On(ExecutionGroup.OPTIONAL)
    void policiesStayWhileAShareIsAllocated() throws InterruptedException {
        publishing.settled();
        PublishedDevice device = context.devices().usable().stream()
                .filter(PublishedDevice::isShared)
                .findFirst()
                .orElseThrow(() -> new Untested("no device that claims can share is free of taints"));
        Map<String, JsonNode> before = policies(publishing.now());
        KubeletClaim claim = context.preparedClaim(device);
        Optional<SeenPools> changed = publishing.await(seen -> !policies(seen).equals(before), WHILE_IN_USE);
        context.calls().unprepared(claim);
        Violation.unless(changed.isEmpty())
                .because(
                        "a share of device %s is allocated, and the request policies changed from %s to %s",
                        device, before, changed.map(ShareRules::policies).orElse(before));
    }

    private static Map<String, JsonNode> policies(SeenPools seen) {
        Map<String, JsonNode> policies = new TreeMap<>();
        for (PublishedDevice device : seen.devices()) {
            for (Map.Entry<String, JsonNode> one :
                    device.json().path("capacity").properties()) {
                policies.put(device + " " + one.getKey(), one.getValue().path("requestPolicy"));
            }
        }
        return policies;
    }

    /** The counters that a pool has, by set and name; no set appears twice. */
    private static Map<String, BigDecimal> had(String pool, List<JsonNode> slices) {
        Map<String, BigDecimal> had = new TreeMap<>();
        for (JsonNode slice : slices) {
            for (JsonNode set : slice.at("/spec/sharedCounters")) {
                String name = set.path("name").asText();
                for (Map.Entry<String, BigDecimal> one :
                        PublishedDevice.counters(name, set).entrySet()) {
                    Violation.unless(had.put(one.getKey(), one.getValue()) == null)
                            .because("pool %s has the counter set %s twice", pool, name);
                }
            }
        }
        return had;
    }

    @Rule("DRA-PART-01")
    @ExecutionGroup.On(ExecutionGroup.OPTIONAL)
    void everyCounterIsInItsPool() throws InterruptedException {
        SeenPools pools = publishing.settled();
        pools.byPool().forEach((pool, slices) -> check(pool, slices, pools, false));
    }

    private static void check(String pool, List<JsonNode> slices, SeenPools pools, boolean withAmounts) {
        Map<String, BigDecimal> had = had(pool, slices);
        for (PublishedDevice device : pools.devices()) {
            if (device.pool().equals(pool)) {
                device.counters()
                        .forEach((counter, amount) -> check(device, counter, amount, had.get(counter), withAmounts));
            }
        }
    }

    private static void check(
            PublishedDevice device,
            String counter,
            BigDecimal amount,
            @Nullable BigDecimal whole,
            boolean withAmounts) {
        Violation.unless(whole != null)
                .because(
                        "device %s consumes the counter %s, and no slice of pool %s has it in its sharedCounters: no scheduler can allocate from this pool",
                        device, counter, device.pool());
        Violation.unless(!withAmounts || whole == null || amount.compareTo(whole) <= 0)
                .because(
                        "device %s consumes %s of the counter %s, which has only %s: it can never be allocated",
                        device, amount.toPlainString(), counter, whole);
    }

    @Rule("DRA-PART-02")
    @ExecutionGroup.On(ExecutionGroup.OPTIONAL)
    void devicesFitAndOverlapIsRefused() throws InterruptedException {
        SeenPools pools = publishing.settled();
        pools.byPool().forEach((pool, slices) -> check(pool, slices, pools, true));
        for (PublishedDevice first : pools.devices()) {
            for (PublishedDevice second : pools.devices()) {
                if (!first.name().equals(second.name()) && isTooMuch(first, second, pools)) {
                    refuse(first, second);
                    return;
                }
            }
        }
        throw new NotApplicable("no two devices exclude one another by their counters");
    }

    private static boolean isTooMuch(PublishedDevice first, PublishedDevice second, SeenPools pools) {
        if (!first.pool().equals(second.pool()) || first.isTainted() || second.isTainted()) {
            return false;
        }
        Map<String, BigDecimal> had = had(first.pool(), pools.byPool().get(first.pool()));
        Map<String, BigDecimal> both = first.counters();
        Map<String, BigDecimal> others = second.counters();
        both.keySet().retainAll(others.keySet());
        both.replaceAll((counter, amount) -> amount.add(others.get(counter)));
        return both.entrySet().stream().anyMatch(one -> one.getValue().compareTo(had.get(one.getKey())) > 0);
    }

    private void refuse(PublishedDevice first, PublishedDevice second) {
        context.preparedClaim(first);
        KubeletClaim other = context.claims().allocate(second);
        context.calls()
                .refused(
                        other,
                        "device %s overlaps with %s, which another claim holds: together they take more than their counters have"
                                .formatted(second, first));
    }

    /** A device that claims do not share, if there is one. */
    private PublishedDevice device() {
        return context.devices().upTo(Integer.MAX_VALUE).stream()
                .min(Comparator.comparing(PublishedDevice::isShared))
                .orElseThrow();
    }

    private KubeletClaim admin(PublishedDevice device) {
        return context.claims().create(context.claims().draft().adminRequest("r0", device));
    }

    @Rule("DRA-PREP-19")
    void administratorsAndOwnersDoNotDisturbEachOther() {
        PublishedDevice device = device();
        KubeletClaim owner = context.claims().allocate(device);
        KubeletClaim admin = admin(device);
        ClaimResult owned = context.calls().prepared(owner);
        List<String> edits = context.cdi().edits(owned.devices());
        good(admin, "admin access to a device in use is refused");
        context.calls().unprepared(admin);
        stays(owner, owned, edits, "the unprepare of a claim with admin access");
        if (!device.isShared()) {
            notFreed(device);
        }
        context.calls().unprepared(owner);

        KubeletClaim first = admin(device);
        ClaimResult seen = good(first, "admin access to a free device is refused");
        List<String> seenEdits = context.cdi().edits(seen.devices());
        KubeletClaim later = context.claims().allocate(device);
        good(later, "a claim is refused because of another's admin access");
        context.calls().unprepared(later);
        stays(first, seen, seenEdits, "the unprepare of the device's owner");
    }

    private ClaimResult good(KubeletClaim claim, String otherwise) {
        return context.calls().prepared(claim, "%s: %s", otherwise);
    }

    private void stays(KubeletClaim claim, ClaimResult answer, List<String> edits, String cause) {
        for (String id : CdiView.ids(answer)) {
            Violation.unless(!context.cdi().find(id).isEmpty())
                    .because("%s removed the CDI device %s of another claim", cause, id);
        }
        Violation.unless(context.cdi().edits(answer.devices()).equals(edits)
                        && Reported.of(context.calls().prepared(claim)).equals(Reported.of(answer)))
                .about("DRA-PREP-05")
                .because("%s changed what another claim of the device has", cause);
    }

    /** Asserts that a driver that defends devices still defends the owner's. */
    private void notFreed(PublishedDevice device) {
        KubeletClaim third = context.claims().allocate(device);
        CallResult result = context.calls().prepare(third);
        Violation.unless(result.complaint().isPresent() || !defends())
                .because("the unprepare of a claim with admin access freed device %s of its owner", device);
        context.calls().unprepared(third);
    }

    /** Returns whether a device in use is refused to other claims, without any admin access. */
    private boolean defends() {
        context.tidy();
        PublishedDevice device = context.devices().exclusive();
        context.calls().prepared(context.claims().allocate(device));
        boolean refused = context.calls()
                .prepare(context.claims().allocate(device))
                .complaint()
                .isPresent();
        context.tidy();
        return refused;
    }

    @Rule("DRA-PREP-20")
    void configsGiveNoPrivileges() {
        PublishedDevice device = device();
        List<String> normal = edits(context.claims().allocate(device));
        Set<String> privileges = new HashSet<>(edits(admin(device)));
        normal.forEach(privileges::remove);
        NotApplicable.unless(!privileges.isEmpty(), "admin access adds nothing to the edits of a device");
        for (Valid config : context.settings().driver().configs().valid()) {
            List<String> configured = edits(context.claims()
                    .create(context.claims().draft().request("r0", device).config(config.parameters())));
            for (String line : configured) {
                Violation.unless(!privileges.contains(line))
                        .because(
                                "the config %s gives a claim without admin access \"%s\", which only admin access should give",
                                config.parameters(), line);
            }
        }
    }

    /** Returns the edits of a claim's container, without those that only this claim has. */
    private List<String> edits(KubeletClaim claim) {
        List<String> lines = context.cdi().edits(context.calls().prepared(claim).devices()).stream()
                .map(line -> line.replace(claim.uid(), "UID").replace(claim.name(), "NAME"))
                .toList();
        context.tidy();
        return lines;
    }
}
