// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.fabric.FabricManager;
import io.dra4j.nvidia.gates.GateOptions;
import io.dra4j.nvidia.gates.NvidiaGate;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.node.DeviceFolder;
import io.dra4j.nvidia.node.DriverFinder;
import io.dra4j.nvidia.node.DriverRoot;
import io.dra4j.nvidia.node.InstalledDriver;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.Installation;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.pci.PciBus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of the driver and of {@code probe}: the installed driver, and the kind of devices. */
@Command(resourceBundle = "io.dra4j.nvidia.options")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class InstallOptions {

    private static final Path USUAL_MOUNT = Path.of("/driver-root");

    @Option(
            names = "--nvidia-driver-root",
            order = 1,
            paramLabel = "DIR",
            defaultValue = "${env:NVIDIA_DRIVER_ROOT:-${env:HOST_DRIVER_ROOT:-/}}")
    private Path nvidiaDriverRoot;

    @Option(
            names = "--container-driver-root",
            order = 2,
            paramLabel = "DIR",
            defaultValue = "${env:CONTAINER_DRIVER_ROOT:-${env:DRIVER_ROOT_CTR_PATH:-}}")
    private Path containerDriverRoot;

    @Option(names = "--sysfs-root", order = 3, paramLabel = "DIR", defaultValue = "${env:SYSFS_ROOT:-/sys}")
    private Path sysfsRoot;

    @Option(
            names = "--fabric-manager",
            order = 16,
            paramLabel = "SOCKET|HOST[:PORT]",
            defaultValue = "${env:NVIDIA_FABRICMANAGER_ADDRESS:-${env:NVIDIA_FABRICMANAGER_UNIX_SOCKET:-}}")
    private String fabricManager;

    private @Nullable FabricManager ofNode; // guarded by this

    @Option(
            names = "--driver-library-folders",
            order = 4,
            paramLabel = "DIR",
            split = ",",
            defaultValue = "${env:DRIVER_LIBRARY_FOLDERS:-}")
    private List<Path> libraryFolders;

    @Option(
            names = "--driver-program-folders",
            order = 4,
            paramLabel = "DIR",
            split = ",",
            defaultValue = "${env:DRIVER_PROGRAM_FOLDERS:-}")
    private List<Path> programFolders;

    @Mixin
    private OfferOptions offers;

    private DriverFinder driver() {
        return new DriverFinder(driverRoot());
    }

    private DriverRoot driverRoot() {
        return new DriverRoot(hereDriverRoot(), nvidiaDriverRoot, given(libraryFolders), given(programFolders));
    }

    private Path hereDriverRoot() {
        if (!containerDriverRoot.toString().isEmpty()) {
            return containerDriverRoot;
        }
        return Files.isDirectory(USUAL_MOUNT) ? USUAL_MOUNT : nvidiaDriverRoot;
    }

    /** An empty variable sets no folder. */
    private static List<Path> given(List<Path> folders) {
        return folders.stream().filter(folder -> !folder.toString().isEmpty()).toList();
    }

    /** Returns NVML for a driver that outlives updates and reloads of NVIDIA's; opens nothing. */
    public Nvml nvml(Path proc) {
        return new Nvml(installation(proc));
    }

    public Installation installation(Path proc) {
        return new InstalledDriver(driver(), sysfsRoot, proc);
    }

    public NvidiaSmi nvidiaSmi() {
        return new NvidiaSmi(driver());
    }

    /**
     * Returns the driver's control daemon of MPS.
     *
     * @param label the label of what it shares with containers where SELinux is enforced
     */
    public MpsProgram mpsProgram(String label) {
        String enforce = "fs/selinux/enforce";
        Path ofNode = driverRoot().here().resolve("sys").resolve(enforce);
        return new MpsProgram(
                driver(), List.of(label, sysfsRoot.resolve(enforce).toString(), ofNode.toString()));
    }

    /**
     * Opens NVML.
     *
     * @throws DraException if there is no library, the kernel has no driver, or the root is relative
     */
    public Nvml openNvml() {
        return Nvml.open(driver().findNvml());
    }

    public Roots roots(DeviceFolder dev, Path proc) {
        return new Roots(driverRoot(), dev, proc, sysfsRoot);
    }

    public NodeDevices.Settings inventorySettings(String nodeName) {
        return offers.settings(nodeName, sysfsRoot).with(fabricManager()::read);
    }

    /** Returns the node's fabric manager, always the same object, since calls must not overlap; calls nothing. */
    public synchronized FabricManager fabricManager() {
        if (ofNode == null) {
            Path socket = driverRoot().here().resolve("run/nvidia-fabricmanager/socket");
            ofNode = new FabricManager(
                    () -> isPartitioned() && new PciBus(sysfsRoot).hasNvswitches(),
                    () -> driver().findLibrary("libnvfm.so.1"),
                    fabricManager.isEmpty() ? socket.toString() : fabricManager);
        }
        return ofNode;
    }

    /** Returns whether claims of whole GPUs get partitions of the fabric, where there is one. */
    public boolean isPartitioned() {
        return gates().featureGates().isOn(NvidiaGate.FabricManagerPartitioning);
    }

    public boolean isPassthrough() {
        return gates().featureGates().isOn(NvidiaGate.PassthroughSupport);
    }

    /** Returns the GPUs that can be assigned to virtual machines, on a node without claims. */
    public PassthroughGpus passthroughGpus() {
        return isPassthrough() ? PassthroughGpus.of(new PciBus(sysfsRoot).gpus(), Set.of()) : PassthroughGpus.NONE;
    }

    public Path sysfs() {
        return sysfsRoot;
    }

    public boolean isDynamicMig() {
        return offers.isDynamicMig();
    }

    public GateOptions gates() {
        return offers.gates();
    }
}
