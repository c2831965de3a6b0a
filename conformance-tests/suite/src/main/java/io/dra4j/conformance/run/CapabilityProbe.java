// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Unpublished;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.settings.ConfigSettings;
import io.dra4j.conformance.settings.TestedDriver;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Detects the capabilities of a driver that has just registered, and what the settings offer. */
final class CapabilityProbe {

    private static final Duration STATUS = Duration.ofMillis(250);
    private static final String HEALTH = "DRAResourceHealth";
    private static final Pattern SHARES = Pattern.compile("\"allowMultipleAllocations\"\\s*:\\s*true"); // in any layout

    /** Capabilities that show in published devices, and in the results of claims that have them. */
    private static final Set<Applicability> SEEN_IN_DEVICES = EnumSet.of(
            Applicability.API,
            Applicability.CDI,
            Applicability.DEV1,
            Applicability.DEV2,
            Applicability.MULTI,
            Applicability.BIND,
            Applicability.TAINT,
            Applicability.CTR);

    private final TestContext context;
    private final Set<Applicability> present = EnumSet.noneOf(Applicability.class);
    private final Map<Applicability, Closed> absent = new EnumMap<>(Applicability.class);
    private @Nullable Unpublished unpublished;

    private CapabilityProbe(TestContext context) {
        this.context = context;
    }

    /** Detects capabilities, which takes until the driver has published its devices. */
    static Capabilities of(TestContext context) {
        return new CapabilityProbe(context).capabilities();
    }

    private Capabilities capabilities() {
        PluginInfo info = context.driver().info();
        List<Service> services = Arrays.stream(Service.values())
                .filter(service -> info.versions().contains(service.wireName()))
                .toList();
        open(Applicability.BOTH, services.size() == Service.values().length);
        boolean health = info.versions().stream().anyMatch(name -> name.endsWith(HEALTH));
        open(Applicability.HC, health);
        open(Applicability.NOT_HC, !health);
        settings();
        devices();
        if (present.contains(Applicability.DEV1)) {
            answers();
        }
        return new Capabilities(services, present, absent, "", unpublished);
    }

    /** Detects capabilities of a running driver that the kubelet does not register. */
    static Capabilities ofUnregistered(TestContext context, DriverUnusable failure) {
        CapabilityProbe probe = new CapabilityProbe(context);
        probe.settings();
        probe.open(
                Applicability.API,
                !context.proxy().requests(Requests.to("resourceslices")).isEmpty());
        return new Capabilities(List.of(), probe.present, probe.absent, String.valueOf(failure.getMessage()), null);
    }

    private void settings() {
        TestedDriver driver = driver();
        ConfigSettings configs = driver.configs();
        Set<String> hooks = driver.hooks().keySet();
        open(Applicability.PROC, context.driver().adapter().controlsProcess());
        open(Applicability.ROLL, driver.seamlessUpgrade() && present.contains(Applicability.PROC));
        if (driver.seamlessUpgrade()) {
            absent.put(Applicability.ROLL, Closed.usually(Applicability.PROC));
        }
        open(Applicability.CFG_OK, !configs.valid().isEmpty());
        open(Applicability.CFG_BAD, !configs.invalid().isEmpty());
        open(Applicability.CFG_SEE, configs.visible().size() > 1);
        if (present.contains(Applicability.CFG_OK)) {
            absent.put(Applicability.CFG_SEE, new Closed(Verdict.UNTESTED, Applicability.CFG_SEE.otherwise()));
        }
        open(Applicability.PLUG, hooks.containsAll(Set.of("plug", "unplug")));
        open(Applicability.FAULT, hooks.containsAll(Set.of("fault", "recover")));
        open(Applicability.TAINT, present.contains(Applicability.FAULT)); // which may make one
        open(Applicability.OLD, hooks.contains("old"));
        open(Applicability.METRICS, !driver.metrics().isEmpty());
        open(Applicability.STATE, !driver.stateFiles().isEmpty());
        open(Applicability.FS, present.contains(Applicability.PROC) && mayBreakDirectories());
        for (Applicability gate :
                List.of(Applicability.ADM, Applicability.DST, Applicability.META, Applicability.TAINT)) {
            open(gate, driver.declares().contains(gate.label()));
        }
    }

    /** The suite breaks its own directories by replacing them. */
    private boolean mayBreakDirectories() {
        Path root = context.place().root();
        return Files.isWritable(root) && context.place().cdi().startsWith(root);
    }

    private void devices() {
        if (driver().hasNoDevices()) {
            context.awaitPools(context.timeouts().soon());
        } else {
            context.awaitPublished().ifPresent(this::unpublished);
        }
        open(
                Applicability.API,
                !context.proxy().requests(Requests.to("resourceslices")).isEmpty());
        List<PublishedDevice> devices = context.devices().all();
        context.devices().requireShape();
        int usable = Math.max(
                context.devices().single().size(), context.devices().usable().size());
        open(Applicability.DEV1, usable >= 1);
        open(Applicability.DEV2, usable >= 2);
        open(Applicability.MULTI, devices.stream().anyMatch(PublishedDevice::isShared) || triesToShare());
        open(Applicability.BIND, devices.stream().anyMatch(PublishedDevice::isBound));
        open(
                Applicability.TAINT,
                devices.stream().anyMatch(d -> !d.json().path("taints").isEmpty()));
        open(Applicability.CTR, devices.stream().anyMatch(d -> !d.counters().isEmpty()));
        if (unpublished == null) {
            few(devices.size(), usable);
        }
        if (devices.isEmpty() && unpublished == null && !driver().hasNoDevices()) {
            context.note(
                    "The driver published no device, so nothing was tested with one. If it has none on this node, declare %s in driver.declares."
                            .formatted(TestedDriver.NO_DEVICES));
            context.warnings().forEach(line -> context.note(Engine.LOGGED + line));
        }
    }

    /** The driver may have any capability that shows in devices: none was seen. */
    private void unpublished(Unpublished found) {
        unpublished = found;
        context.knows(found);
        SEEN_IN_DEVICES.forEach(gate -> absent.put(gate, Closed.by(found)));
    }

    /** The reason for too few devices, if there are too few. */
    private void few(int published, int usable) {
        String silent = "no request of the driver for ResourceSlices came through the suite's proxy";
        absent.put(
                Applicability.API,
                driver().hasNoDevices()
                        ? new Closed(
                                Verdict.NOT_APPLICABLE,
                                "the settings declare that the driver has no devices, and " + silent)
                        : new Closed(Verdict.UNTESTED, silent));
        int wanted = usable == 0 ? 1 : 2;
        Closed few = published < wanted
                ? new Closed(
                        Verdict.NOT_APPLICABLE,
                        "the driver publishes %d devices, but %d are needed".formatted(published, wanted))
                : new Closed(
                        Verdict.UNTESTED,
                        "of the %d devices that the driver publishes, claims can have %d at the same time: others are tainted, wait for binding conditions or share counters"
                                .formatted(published, usable));
        absent.put(Applicability.DEV1, few);
        absent.put(Applicability.DEV2, few);
        if (usable == 0) {
            absent.put(Applicability.CDI, few);
        }
    }

    /** Returns whether it publishes, or would if the API server let it, devices for several claims. */
    private boolean triesToShare() {
        return context.proxy().requests(Requests.writes("resourceslices")).stream()
                .anyMatch(write -> SHARES.matcher(write.body()).find());
    }

    private void answers() {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        context.calls().use(context.driver().info().service());
        CallResult result = context.calls().prepare(claim);
        if (result.complaint().isPresent()) {
            result = context.calls().prepare(claim); // as a kubelet does
        }
        ClaimResult answer = result.results().get(claim.uid());
        boolean failed = answer == null || result.complaint().isPresent();
        open(Applicability.CDI, !failed && !CdiView.ids(answer).isEmpty());
        if (!failed && !context.devices().areShaped()) { // shapes may have their own configurations
            driver().configs().requireAbsent(edits(answer));
        }
        open(Applicability.META, !failed && hasMetadata(answer));
        if (!failed
                && !present.contains(Applicability.CDI)
                && !driver().declares().contains(TestedDriver.NO_CDI)) {
            context.note(
                    "The driver prepared a claim without CDI device ids, so the profile cdi was not tested. If it needs none, declare %s in driver.declares."
                            .formatted(TestedDriver.NO_CDI));
        }
        if (failed) {
            String why = result.complaint().orElse("the answer does not have the claim");
            absent.put(
                    Applicability.CDI,
                    new Closed(Verdict.BLOCKED, "the first claim was not prepared: " + why, "DRA-PREP-01"));
        }
        context.tidy();
        open(Applicability.DST, writesStatus());
    }

    /** Returns whether the CDI ids or files of an answer are those of the Go helper for metadata, or mount some. */
    private boolean hasMetadata(ClaimResult answer) {
        String driver = context.place().driver();
        return CdiView.ids(answer).stream().anyMatch(id -> id.startsWith(driver + "/metadata="))
                || context.cdi().files().keySet().stream().anyMatch(file -> file.contains(driver + "_metadata_"))
                || edits(answer).stream().anyMatch(edit -> edit.contains("/dra-device-attributes/"));
    }

    /** Returns whether the driver has written the status of a claim, or tried to; some do that later. */
    private boolean writesStatus() {
        return context.isRequested(STATUS, one -> one.write() && one.path().matches(".*/resourceclaims/[^/]+/status"));
    }

    /** The edits of an answer, if its ids resolve, which is what a rule is about. */
    private List<String> edits(ClaimResult answer) {
        try {
            return context.cdi().edits(answer.devices());
        } catch (Violation e) {
            return List.of();
        }
    }

    private TestedDriver driver() {
        return context.settings().driver();
    }

    private void open(Applicability gate, boolean isOpen) {
        if (isOpen) {
            present.add(gate);
        }
    }
}
