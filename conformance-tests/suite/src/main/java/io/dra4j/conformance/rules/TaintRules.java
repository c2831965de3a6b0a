// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.ApiRules;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.QuietWindow;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Taints of devices that do not work as they should. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record TaintRules(TestContext context, Publishing publishing) {

    private static final String TAINTED = "time from the hook fault until a device was tainted";

    /** A helper checks again after 30 s. */
    private static final Duration RESYNC = Duration.ofSeconds(35);

    private static final Duration LINGERING = Duration.ofSeconds(5);

    TaintRules(TestContext context) {
        this(context, new Publishing(context));
    }

    /** When each taint was added, by its device, key, value and effect. */
    private static Map<String, String> taints(SeenPools pools) {
        Map<String, String> taints = new TreeMap<>();
        for (PublishedDevice device : pools.devices()) {
            for (JsonNode taint : device.json().path("taints")) {
                taints.put(
                        "%s %s=%s:%s"
                                .formatted(
                                        device,
                                        taint.path("key").asText(),
                                        taint.path("value").asText(),
                                        taint.path("effect").asText()),
                        taint.path("timeAdded").asText());
            }
        }
        return taints;
    }

    @Rule("DRA-TAINT-01")
    @ExecutionGroup.On(ExecutionGroup.QUIET)
    void taintsAreValidAndKeepTheirTime() throws InterruptedException {
        SeenPools well = publishing.settled();
        if (!taints(well).isEmpty()) {
            QuietWindow window = QuietWindow.of(context);
            window.writes();
            keptTheirTime(window.before());
            return;
        }
        Untested.unless(context.hooks().has("fault"), "no device is tainted now, and the settings have no hook fault");
        Opened fault = context.hook("fault", "recover");
        try {
            SeenPools tainted = publishing
                    .measured(
                            TAINTED,
                            seen -> seen.settled() && !taints(seen).isEmpty(),
                            context.timeouts().change())
                    .orElseThrow(() -> new Untested("the hook fault taints no device"));
            SeenPools before = lasting(tainted);
            publishing.writesWithin(context.proxy().lastNumber(), RESYNC);
            keptTheirTime(before);
        } finally {
            publishing.undo(fault, well);
        }
    }

    private void keptTheirTime(SeenPools before) throws InterruptedException {
        ApiRules rules = ApiRules.of(context);
        for (PublishedDevice device : before.devices()) {
            int taints = device.json().path("taints").size();
            context.measurements()
                    .count("taints of a device", taints, rules.limits().taints());
        }
        before.slices().forEach(slice -> rules.requireValid(slice, ApiRules.TAINTS));
        unchanged(before, "while no device was changed");
        if (context.driver().adapter().controlsProcess()) {
            int number = context.proxy().lastNumber();
            context.driver().restart();
            publishing.writesWithin(number, Duration.ofSeconds(2));
            publishing.settled();
            unchanged(before, "by a restart");
        }
    }

    private void unchanged(SeenPools before, String how) {
        Map<String, String> then = taints(before);
        Map<String, String> now = taints(publishing.now());
        Violation.unless(now.equals(then))
                .because("the timeAdded of taints must stay; %s it changed from %s to %s", how, then, now);
    }

    /** The pools once their taints are stable: others may change soon after a fault or a recovery. */
    private SeenPools lasting(SeenPools now) throws InterruptedException {
        Set<String> first = taints(now).keySet();
        return first.isEmpty()
                ? now
                : publishing
                        .await(seen -> seen.settled() && !taints(seen).keySet().equals(first), LINGERING)
                        .orElse(now);
    }

    @Rule("DRA-TAINT-02")
    void aFaultTaintsAndItsRecoveryTakesTheTaintAway() throws InterruptedException {
        Set<String> known = taints(lasting(publishing.settled())).keySet();
        Duration timeout = context.timeouts().change();
        Opened fault = context.hook("fault", "recover");
        try {
            Predicate<SeenPools> more = seen -> !known.containsAll(taints(seen).keySet());
            SeenPools broken = publishing
                    .measured(TAINTED, seen -> seen.settled() && more.test(seen), timeout)
                    .orElseThrow(() -> untainted(known.isEmpty(), timeout));
            broken.devices().forEach(this::checkDomain);
        } finally {
            fault.close();
        }
        Violation.unless(publishing
                        .measured(
                                "time from the hook recover until the taints were as before",
                                seen -> seen.settled() && taints(seen).keySet().equals(known),
                                timeout)
                        .isPresent())
                .because(
                        "%d s after the hook recover the taints are %s instead of %s",
                        timeout.toSeconds(), taints(publishing.now()).keySet(), known);
    }

    /** A fault may show only in health, unless taints were seen or are declared. */
    private RuntimeException untainted(boolean noneSeen, Duration timeout) {
        String words = "%d s after the hook fault no device has a new taint".formatted(timeout.toSeconds());
        boolean declared = context.settings().driver().declares().contains("taint");
        return noneSeen && !declared
                ? new NotApplicable(words + ", and the settings do not declare taints")
                : new Violation(words);
    }

    private void checkDomain(PublishedDevice device) {
        String driver = context.place().driver();
        for (JsonNode taint : device.json().path("taints")) {
            String key = taint.path("key").asText();
            String domain = key.contains("/") ? key.substring(0, key.indexOf('/')) : "";
            boolean isOwn = !domain.isEmpty()
                    && (driver.equals(domain) || driver.endsWith("." + domain) || domain.endsWith("." + driver));
            Violation.unless(isOwn)
                    .because(
                            "device %s has a taint with the key %s, which should be in the driver's domain: %s/…",
                            device, key, driver);
        }
    }

    @Rule("DRA-TAINT-03")
    void aToleratedTaintIsNoReasonToRefuse() throws InterruptedException {
        Predicate<SeenPools> tainted =
                seen -> seen.settled() && seen.devices().stream().anyMatch(PublishedDevice::isTainted);
        SeenPools now = publishing.settled();
        if (tainted.test(now)) {
            prepared(ofTainted(now));
            return;
        }
        String none = "no device has a taint that claims must tolerate";
        Untested.unless(context.hooks().has("fault"), none);
        Opened fault = context.hook("fault", "recover");
        try {
            prepared(ofBroken(publishing
                    .measured(TAINTED, tainted, context.timeouts().change())
                    .orElseThrow(() -> new Untested(none + ", not even after the hook fault"))));
        } finally {
            context.tidy(); // before the device recovers
            publishing.undo(fault, now);
        }
    }

    /** A tainted device that is broken should be prepared, but its fault is a reason not to. */
    private KubeletClaim ofBroken(SeenPools pools) {
        KubeletClaim claim = ofTainted(pools);
        context.calls()
                .prepare(claim)
                .complaint()
                .filter(why -> !why.contains("taint"))
                .ifPresent(why -> {
                    throw new Untested(
                            "the device that the hook fault taints is refused, possibly because of the fault: " + why);
                });
        return claim;
    }

    private KubeletClaim ofTainted(SeenPools pools) {
        PublishedDevice device = pools.devices().stream()
                .filter(PublishedDevice::isTainted)
                .findFirst()
                .orElseThrow();
        return context.claims().create(context.claims().draft().tolerantRequest("r0", device));
    }

    private void prepared(KubeletClaim claim) {
        context.calls().prepared(claim, "a claim that tolerates the taint of its device was refused: %s");
    }
}
