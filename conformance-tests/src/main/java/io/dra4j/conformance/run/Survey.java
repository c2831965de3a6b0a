// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.driver.DriverTrouble;
import io.dra4j.conformance.kubelet.CallResult;
import io.dra4j.conformance.kubelet.ClaimAnswer;
import io.dra4j.conformance.kubelet.KubeletClaim;
import io.dra4j.conformance.kubelet.PluginInfo;
import io.dra4j.conformance.kubelet.PluginInfo.Service;
import io.dra4j.conformance.proxy.Requests;
import io.dra4j.conformance.requirements.Gate;
import io.dra4j.conformance.settings.ConfigSettings;
import io.dra4j.conformance.settings.DriverSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Looks at a driver that has just registered, and at what the settings offer. */
final class Survey {

    private static final String HEALTH = "DRAResourceHealth";

    private final Bench bench;
    private final Set<Gate> present = EnumSet.noneOf(Gate.class);
    private final Map<Gate, String> absent = new EnumMap<>(Gate.class);

    private Survey(Bench bench) {
        this.bench = bench;
    }

    /** Looks, which takes until the driver has published its devices. */
    static Capabilities of(Bench bench) {
        return new Survey(bench).capabilities();
    }

    private Capabilities capabilities() {
        PluginInfo info = bench.driver().info();
        List<Service> services =
                Arrays.stream(Service.values())
                        .filter(service -> info.versions().contains(service.wireName()))
                        .toList();
        open(Gate.BOTH, services.size() == Service.values().length);
        boolean health = info.versions().stream().anyMatch(name -> name.endsWith(HEALTH));
        open(Gate.HC, health);
        open(Gate.NOT_HC, !health);
        settings();
        devices();
        if (present.contains(Gate.DEV1)) {
            answers();
        }
        return new Capabilities(services, present, absent, "");
    }

    /** Looks at a driver that runs and that the kubelet does not register: at what is left. */
    static Capabilities ofUnregistered(Bench bench, DriverTrouble trouble) {
        Survey survey = new Survey(bench);
        survey.settings();
        survey.open(Gate.API, !bench.proxy().requests(Requests.to("resourceslices")).isEmpty());
        return new Capabilities(
                List.of(), survey.present, survey.absent, String.valueOf(trouble.getMessage()));
    }

    private void settings() {
        DriverSettings driver = bench.settings().driver();
        ConfigSettings configs = driver.configs();
        Set<String> hooks = driver.hooks().keySet();
        open(Gate.PROC, bench.driver().adapter().controlsProcess());
        open(Gate.ROLL, driver.seamlessUpgrade() && present.contains(Gate.PROC));
        open(Gate.CFG_OK, !configs.valid().isEmpty());
        open(Gate.CFG_BAD, !configs.invalid().isEmpty());
        open(Gate.CFG_SEE, configs.valid().stream().filter(c -> !c.effect().isEmpty()).count() > 1);
        open(Gate.PLUG, hooks.containsAll(Set.of("plug", "unplug")));
        open(Gate.FAULT, hooks.containsAll(Set.of("fault", "recover")));
        open(Gate.REBOOT, hooks.contains("reboot"));
        open(Gate.OLD, hooks.contains("old"));
        open(Gate.METRICS, !driver.metrics().isEmpty());
        open(Gate.STATE, !driver.stateFiles().isEmpty());
        open(Gate.FS, present.contains(Gate.PROC) && mayBreakDirectories());
        for (Gate gate : List.of(Gate.ADM, Gate.DST, Gate.META)) {
            open(gate, driver.declares().contains(gate.label()));
        }
    }

    /** Directories are broken by putting others in their places, which the suite owns. */
    private boolean mayBreakDirectories() {
        Path root = bench.place().root();
        return Files.isWritable(root) && bench.place().cdi().startsWith(root);
    }

    private void devices() {
        bench.awaitPools();
        open(Gate.API, !bench.proxy().requests(Requests.to("resourceslices")).isEmpty());
        absent.put(
                Gate.API,
                "no request of the driver for ResourceSlices came through the suite's proxy");
        List<PublishedDevice> devices = bench.devices().all();
        int usable = bench.devices().usable().size();
        open(Gate.DEV1, usable >= 1);
        open(Gate.DEV2, usable >= 2);
        absent.put(Gate.DEV2, usable + " devices are published that claims can use, not two");
        open(Gate.MULTI, devices.stream().anyMatch(PublishedDevice::isShared) || triesToShare());
        open(Gate.BIND, devices.stream().anyMatch(PublishedDevice::isBound));
        open(
                Gate.TAINT,
                devices.stream().anyMatch(d -> !d.json().path("taints").isEmpty())
                        || bench.settings().driver().declares().contains(Gate.TAINT.label()));
        open(Gate.CTR, devices.stream().anyMatch(d -> !d.counterSets().isEmpty()));
    }

    /** Whether it publishes, or would if the API server let it, devices for several claims. */
    private boolean triesToShare() {
        return bench.proxy().requests(Requests.writes("resourceslices")).stream()
                .anyMatch(write -> write.body().contains("\"allowMultipleAllocations\":true"));
    }

    private void answers() {
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        bench.calls().use(firstService());
        CallResult result = bench.calls().prepare(claim);
        ClaimAnswer answer = result.answers().get(claim.uid());
        if (answer != null) {
            List<String> ids = CdiView.ids(answer);
            open(Gate.CDI, !ids.isEmpty());
            absent.put(Gate.CDI, "the driver answers without CDI device ids");
        }
        bench.tidy();
    }

    private Service firstService() {
        return bench.driver().info().service();
    }

    private void open(Gate gate, boolean isOpen) {
        if (isOpen) {
            present.add(gate);
        }
    }
}
