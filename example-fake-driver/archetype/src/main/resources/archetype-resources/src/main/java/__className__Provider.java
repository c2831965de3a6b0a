package ${package};

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.List;
import java.util.Locale;

/** The devices of this node, and what a container gets from them. */
final class ${className}Provider implements DeviceProvider {

    private final String nodeName;

    ${className}Provider(String nodeName) {
        this.nodeName = nodeName;
    }

    /** Two examples: replace them with what you find on the node, and throw if you can't tell. */
    @Override
    public Inventory inventory() {
        List<Device> devices = List.of(device("device-0", "a"), device("device-1", "b"));
        return Inventory.of(Pool.ofNode(nodeName, devices));
    }

    private static Device device(String name, String model) {
        return Device.builder(name).attribute("model", model).capacity("memory", "8Gi").build();
    }

    /**
     * Prepares a claim: make real devices ready here, and checkpoint first what unprepare must undo.
     * A driver that only changes its containers overrides changesNothing, so that prepares wait for
     * the disk once, not twice.
     *
     * <p>Keep nothing in memory: during an update, another process of the driver also prepares claims.
     * Choose what must differ between claims under DriverContext.lock.
     */
    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        List<PreparedDevice> devices =
                claim.devices().stream().map(${className}Provider::prepare).toList();
        return PreparedClaim.of(devices);
    }

    /** A container sees DEVICE_0=allocated; device nodes, mounts and hooks are added in the same way. */
    private static PreparedDevice prepare(AllocatedDevice device) {
        String variable = device.device().toString().replace('-', '_').toUpperCase(Locale.ROOT);
        ContainerEdits edits = ContainerEdits.builder().env(variable, "allocated").build();
        return PreparedDevice.of(device, edits);
    }

    /** Does nothing, because prepare changed nothing. */
    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) {}
}
