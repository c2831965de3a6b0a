// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.sketch;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.StandardAttributes;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Network interfaces that are moved into the pod when its sandbox starts, by an NRI plugin.
 *
 * <p>Prepare only remembers what the pod shall get; containers receive nothing through CDI. What
 * the interface got is known later, and reported then.
 */
final class NetworkSketch implements DeviceProvider {

    /** The attributes of an interface that a claim may request. */
    record InterfaceConfig(@Nullable String interfaceName, @Nullable Integer mtu) {}

    private static final ConfigType<InterfaceConfig> CONFIG =
            ConfigType.of("net.example.com/v1", "InterfaceConfig", InterfaceConfig.class)
                    .defaultingTo(() -> new InterfaceConfig("net1", 1500))
                    .normalizedBy(
                            given ->
                                    new InterfaceConfig(
                                            given.interfaceName(),
                                            given.mtu() == null ? 1500 : given.mtu()))
                    .validatedBy(NetworkSketch::problems);

    /** The claims that pods wait for; NRI's thread reads it. */
    private final Map<ClaimRef, String> waiting = new ConcurrentHashMap<>();

    private @Nullable DriverContext context;

    @Override
    public List<ConfigType<?>> configTypes() {
        return List.of(CONFIG);
    }

    @Override
    public void start(DriverContext driver) {
        context = driver;
        driver.held().forEach(this::rememberAgain);
    }

    private void rememberAgain(HeldClaim claim) {
        ProviderState state = claim.state();
        if (state != null) {
            waiting.put(claim.ref(), state.json());
        }
    }

    @Override
    public Inventory inventory() {
        Device nic =
                Device.builder("eth1")
                        .attribute(StandardAttributes.PCI_BUS_ID, "0000:65:00.0")
                        .attribute("rdma", true)
                        .build();
        return Inventory.of(Pool.ofNode(context().nodeName(), List.of(nic)));
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, Progress progress) {
        String name =
                claim.devices()
                        .get(0)
                        .config(CONFIG)
                        .map(config -> config.value().interfaceName())
                        .orElse("net1");
        waiting.put(claim.ref(), '"' + name + '"');
        return PreparedClaim.empty().withState(new ProviderState(1, '"' + name + '"'));
    }

    /** NRI calls this long after prepare, on a thread of its own. */
    void onPodSandboxStarted(ClaimRef claim, String address) {
        String name = waiting.getOrDefault(claim, "\"\"").replace("\"", "");
        DeviceStatus.NetworkData got =
                new DeviceStatus.NetworkData(name, List.of(address), "02:00:00:00:00:01");
        DeviceStatus.Condition ready =
                new DeviceStatus.Condition("Ready", DeviceStatus.Truth.TRUE, "Attached", "");
        for (HeldDevice device : devicesOf(claim)) {
            context().updateStatus(claim, device, new DeviceStatus(List.of(ready), null, got));
            context().updateMetadata(claim, device, new DeviceMetadata(Map.of(), got));
        }
    }

    private List<HeldDevice> devicesOf(ClaimRef claim) {
        return context().held().stream()
                .filter(held -> held.ref().equals(claim))
                .flatMap(held -> held.devices().stream())
                .toList();
    }

    @Override
    public void unprepare(HeldClaim claim, Progress progress) {
        waiting.remove(claim.ref());
    }

    private static List<String> problems(InterfaceConfig config) {
        String name = config.interfaceName();
        return name != null && name.length() > 15
                ? List.of("interfaceName must have at most 15 characters")
                : List.of();
    }

    private DriverContext context() {
        if (context == null) {
            throw new IllegalStateException("Not started");
        }
        return context;
    }
}
