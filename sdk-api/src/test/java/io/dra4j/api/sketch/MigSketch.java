// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.sketch;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A GPU that is cut into instances when a claim asks for one.
 *
 * <p>Each possible instance is a device; counters keep two that overlap from being allocated at
 * once. Hardware changes here: what is about to be made is recorded first.
 */
final class MigSketch implements DeviceProvider {

    /** The seam to the hardware. An instance is known by profile and start, as its device is. */
    interface Gpu {
        List<Integer> starts(String profile) throws Exception;

        String create(String profile, int start) throws Exception;

        void destroyIfPresent(String profile, int start) throws Exception;
    }

    private static final Map<String, Integer> SLICES = Map.of("1g.10gb", 1, "3g.40gb", 4);

    private final String node;
    private final Gpu gpu;

    MigSketch(String node, Gpu gpu) {
        this.node = node;
        this.gpu = gpu;
    }

    @Override
    public Inventory inventory() throws Exception {
        List<Device> devices = new ArrayList<>();
        for (String profile : SLICES.keySet().stream().sorted().toList()) {
            for (int start : gpu.starts(profile)) {
                devices.add(instance(profile, start));
            }
        }
        Map<String, Quantity> counters = new LinkedHashMap<>();
        Stream.iterate(0, slice -> slice + 1)
                .limit(8)
                .forEach(slice -> counters.put("memory-slice-" + slice, Quantity.of(1)));
        return Inventory.of(
                Pool.ofNode(node, devices)
                        .withCounterSets(List.of(new CounterSet("gpu-0", counters))));
    }

    private static Device instance(String profile, int start) {
        Map<String, Quantity> taken = new LinkedHashMap<>();
        for (int slice = start; slice < start + SLICES.get(profile); slice++) {
            taken.put("memory-slice-" + slice, Quantity.of(1));
        }
        return Device.builder("gpu-0-mig-" + profile.replace('.', '-') + "-" + start)
                .attribute("type", "mig")
                .attribute("profile", profile)
                .capacity("memory", profile.endsWith("40gb") ? "40Gi" : "10Gi")
                .consumes(new CounterConsumption("gpu-0", taken))
                .build();
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, Progress progress) throws Exception {
        List<String> begun = new ArrayList<>();
        List<PreparedDevice> prepared = new ArrayList<>();
        for (AllocatedDevice device : claim.devices()) {
            begun.add(device.device().value());
            progress.record(state(begun)); // before the change: a crash leaves no riddle
            String uuid =
                    gpu.create(profile(device.device().value()), start(device.device().value()));
            ContainerEdits edits =
                    ContainerEdits.builder()
                            .env("NVIDIA_VISIBLE_DEVICES", uuid)
                            .deviceNode(DeviceNode.of("/dev/nvidia-caps/nvidia-cap" + begun.size()))
                            .build();
            prepared.add(PreparedDevice.of(device, edits));
        }
        return PreparedClaim.of(prepared).withState(state(begun));
    }

    @Override
    public void unprepare(HeldClaim claim, Progress progress) throws Exception {
        for (String device : begun(claim)) {
            gpu.destroyIfPresent(profile(device), start(device));
        }
    }

    /** A claim whose record is lost has no state, but its devices are known. */
    private static List<String> begun(HeldClaim claim) {
        ProviderState state = claim.state();
        return state == null
                ? claim.devices().stream().map(held -> held.device().value()).toList()
                : List.of(state.json().replaceAll("[\\[\\]\"]", "").split(","));
    }

    private static ProviderState state(List<String> devices) {
        return new ProviderState(1, "[\"" + String.join("\",\"", devices) + "\"]");
    }

    private static String profile(String device) {
        String[] parts = device.split("-");
        return parts[3] + "." + parts[4];
    }

    private static int start(String device) {
        return Integer.parseInt(device.substring(device.lastIndexOf('-') + 1));
    }
}
