// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.nvidia.doctor.MpsProcesses;
import io.dra4j.nvidia.fabric.FabricManager;
import io.dra4j.nvidia.gates.NvidiaGates;
import io.dra4j.nvidia.health.ErrorWatch;
import io.dra4j.nvidia.health.HealthPolicy;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.health.Thresholds;
import io.dra4j.nvidia.health.XidEffects;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.nvidia.mps.MpsSharing;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.sharing.ComputeModes;
import io.dra4j.nvidia.sharing.ConfigKinds;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.slicing.TimeSlicing;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.nvidia.state.GpuFiles;
import io.dra4j.nvidia.vfio.Passthrough;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A provider on boards that do not exist. */
abstract class ProviderOnBoards {

    /** The label of what containers share with a daemon. */
    static final String LABEL = "system_u:object_r:container_file_t:s0";

    @TempDir
    Path folder;

    final List<NvidiaDeviceProvider> started = new ArrayList<>();
    boolean isOlder;
    String gates = "";
    StandInNode node;
    NodeState hardware;
    Nvml nvml; // of the latest provider, as the fabric manager
    private FabricManager fabricManager;
    RecordedContext context = new RecordedContext(new CopyOnWriteArrayList<>());

    /** The context of a call without a deadline. */
    static ClaimContext by(Consumer<ProviderState> recorder) {
        return new ClaimContext() {
            @Override
            public void checkpoint(ProviderState state) {
                recorder.accept(state);
            }

            @Override
            public Instant deadline() {
                return Instant.MAX;
            }
        };
    }

    final NvidiaDeviceProvider start(String boards, boolean dynamicMig) {
        node = isOlder ? StandInNode.installOlder(folder, boards) : StandInNode.install(folder, boards);
        hardware = node.state();
        return startAgain(dynamicMig, false);
    }

    /** The limits of temperature and power. */
    Thresholds thresholds = Thresholds.NONE;

    /** The effect on GPUs whose NVLink fabric is not up. */
    Effect fabric = Effect.NONE;

    /** The effects of errors. */
    XidEffects effects = XidEffects.DEFAULT.ignoring(List.of(94L));

    /** The number of claims that may have one device. */
    Shares shares = Shares.NONE;

    final NvidiaDeviceProvider startAgain(boolean dynamicMig, boolean destroyUnknown) {
        nvml = node.nvml();
        fabricManager = node.options("--feature-gates=" + gates).fabricManager();
        NvidiaDeviceProvider provider = new NvidiaDeviceProvider(
                nvml,
                settings(dynamicMig),
                new Edits(node.roots(), HookProgram.at(node.hook())),
                new HealthPolicy(
                        ErrorWatch.always,
                        effects,
                        fabric,
                        thresholds,
                        destroyUnknown,
                        Duration.ofMillis(100),
                        new HealthStateFile(folder.resolve("gpus.json"), node.proc())),
                sharing(),
                new Passthrough(nvml, node.options().nvidiaSmi(), passthrough()),
                new PartitionClaims(fabricManager, nvml, node.options().nvidiaSmi(), folder.resolve("partitions")));
        provider.start(context);
        started.add(provider);
        readFirst(provider);
        return provider;
    }

    /** Reads the inventory after the start, as the runtime does. */
    void readFirst(NvidiaDeviceProvider provider) {
        provider.inventory();
    }

    final NodeDevices.Settings settings(boolean dynamicMig) {
        return new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig, shares).with(fabricManager::read);
    }

    /** The settings of GPUs for virtual machines, which there are none of. */
    Passthrough.Settings passthrough() {
        return new Passthrough.Settings(false, node.sysfs(), node.proc());
    }

    final DeviceSharing sharing() {
        Supplier<String> moduleLoad = node.options().installation(node.proc())::moduleLoad;
        NvidiaSmi smi = node.options().nvidiaSmi();
        ComputeModes modes = new ComputeModes(smi, new GpuFiles(folder.resolve("compute-modes"), moduleLoad));
        GpuFiles slices = new GpuFiles(folder.resolve("time-slices"), moduleLoad);
        MpsSharing mps = new MpsSharing(folder, modes, node.options().mpsProgram(LABEL), shares.areAllowed());
        return new DeviceSharing(
                ConfigKinds.of(NvidiaGates.parse(gates)),
                List.of(mps, new TimeSlicing(smi, slices, modes)),
                new MpsProcesses(node.proc()).problem());
    }

    @AfterEach
    final void stop() {
        started.forEach(NvidiaDeviceProvider::close);
        started.clear();
    }
}
