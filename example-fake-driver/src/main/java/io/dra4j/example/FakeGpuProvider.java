// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.StandardAttributes;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Offers fake GPUs, {@code gpu-0} and up, and sets environment variables that name them in containers.
 *
 * <p>This is all that a vendor writes: which devices exist, and what the containers of a claim receive. Containers of
 * this driver receive only environment variables, so nothing has to be undone. Immutable, and therefore thread-safe;
 * for equal input the results are equal.
 */
public final class FakeGpuProvider implements DeviceProvider {

    private final String driverName;
    private final String nodeName;
    private final int deviceCount;
    private final String prefix;
    private final int fabricDevices;

    /**
     * Creates a provider.
     *
     * @param driverName the driver's name, which containers see
     * @param nodeName the node, after which the pool is named
     * @param deviceCount the number of GPUs
     */
    public FakeGpuProvider(String driverName, String nodeName, int deviceCount) {
        this(driverName, nodeName, "gpu-", deviceCount, 0);
    }

    /** Also prepares GPUs of the fabric, which the controller publishes. */
    FakeGpuProvider(String driverName, String nodeName, String prefix, int deviceCount, int fabricDevices) {
        this.driverName = driverName;
        this.nodeName = nodeName;
        this.deviceCount = deviceCount;
        this.prefix = prefix;
        this.fabricDevices = fabricDevices;
    }

    @Override
    public List<ConfigType<?>> configTypes() {
        return List.of(FakeGpuConfig.TYPE);
    }

    @Override
    public Inventory inventory() {
        List<Device> gpus = IntStream.range(0, deviceCount).mapToObj(this::gpu).toList();
        Pool ofNode = Pool.ofNode(nodeName, gpus);
        return fabricDevices > 0
                ? Inventory.of(ofNode, Pool.publishedElsewhere(FabricGpus.POOL))
                : Inventory.of(ofNode);
    }

    private Device gpu(int index) {
        return Device.builder(prefix + index)
                .physicalId("gpu-" + uuid(index))
                .attribute("index", index)
                .attribute("uuid", "gpu-" + uuid(index))
                .attribute("model", "LATEST-GPU-MODEL")
                .version("driverVersion", "1.0.0")
                .attribute(StandardAttributes.PCIE_ROOT, PciSlot.ofGpu(index).root())
                .attribute(StandardAttributes.PCI_BUS_ID, PciSlot.ofGpu(index).busId())
                .capacity("memory", "80Gi")
                .capacity("compute", "100")
                .build();
    }

    /** Returns a UUID that stays the same after a restart, and differs between nodes. */
    private UUID uuid(int index) {
        return UUID.nameUUIDFromBytes((nodeName + "/" + index).getBytes(StandardCharsets.UTF_8));
    }

    /** Measures GPUs that are always idle, and so stay at room temperature. */
    @Override
    public DeviceMeter meter() {
        return (claim, gpu) -> DeviceReadings.builder()
                .uuid(gpu.physicalId())
                .value(DeviceMeasure.UTILIZATION, 0)
                .value(DeviceMeasure.POWER, 0)
                .value(DeviceMeasure.TEMPERATURE, 20)
                .build();
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        claim.devices().forEach(this::requireExisting);
        List<PreparedDevice> devices = claim.devices().stream()
                .map(gpu -> PreparedDevice.of(gpu, environment(gpu, claim.ref().uid())))
                .toList();
        ContainerEdits everyContainer = ContainerEdits.builder()
                .env("KUBERNETES_NODE_NAME", nodeName)
                .env("DRA_RESOURCE_DRIVER_NAME", driverName)
                .build();
        return PreparedClaim.of(devices).withEdits(everyContainer);
    }

    /** Everything that a claim gets is in the results, so the SDK waits for the disk only once. */
    @Override
    public boolean changesNothing(AllocatedClaim claim) {
        return true;
    }

    /** Checks a device that the controller publishes, because the SDK knows only those of this node's pool. */
    private void requireExisting(AllocatedDevice gpu) {
        String name = gpu.device().value();
        if (gpu.pool().value().equals(FabricGpus.POOL)
                && IntStream.range(0, fabricDevices).noneMatch(i -> name.equals(FabricGpus.PREFIX + i))) {
            throw new PrepareException("The fabric has %d GPUs, and %s is not one of them; delete its ResourceSlice"
                    .formatted(fabricDevices, name));
        }
    }

    private static ContainerEdits environment(AllocatedDevice gpu, String claimUid) {
        String variable = variable(gpu.device());
        ContainerEdits.Builder edits = ContainerEdits.builder()
                .env(variable, gpu.device().value())
                .env(variable + "_RESOURCE_CLAIM", claimUid)
                .env(variable.replace("DEVICE_", "DEVICE_GPU_") + "_RESOURCE_CLAIM", claimUid);
        gpu.config(FakeGpuConfig.TYPE).value().environment(variable).forEach(edits::env);
        if (gpu.adminAccess()) {
            edits.env("DRA_ADMIN_ACCESS", "true");
        }
        return edits.build();
    }

    /** Returns the variable of a device: {@code GPU_DEVICE_3} for {@code gpu-3}, keeping a prefix of the name. */
    static String variable(DeviceName gpu) {
        return "GPU_DEVICE_"
                + gpu.value().replaceFirst("gpu-", "").toUpperCase(Locale.ROOT).replace('-', '_');
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) {
        // Environment variables end with the container that has them.
    }
}
