// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.doctor.cluster.ClusterChecks;
import io.dra4j.nvidia.doctor.MpsProcesses;
import io.dra4j.nvidia.doctor.NvidiaChecks;
import io.dra4j.nvidia.gates.GateOptions;
import io.dra4j.nvidia.gates.NvidiaGate;
import io.dra4j.nvidia.gates.NvidiaGates;
import io.dra4j.nvidia.health.HealthPolicy;
import io.dra4j.nvidia.health.HealthPolicy.ErrorWatch;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.health.Thresholds;
import io.dra4j.nvidia.health.XidEffects;
import io.dra4j.nvidia.install.InstallOptions;
import io.dra4j.nvidia.install.NvidiaSmi;
import io.dra4j.nvidia.mps.MpsSharing;
import io.dra4j.nvidia.node.DeviceFolder;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.prepare.DaemonSocket;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.sharing.ComputeModes;
import io.dra4j.nvidia.sharing.ConfigKinds;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.slicing.TimeSlicing;
import io.dra4j.nvidia.state.GpuFiles;
import io.dra4j.nvidia.takeover.EarlierBoot;
import io.dra4j.nvidia.takeover.GoCheckpoint;
import io.dra4j.nvidia.takeover.GoForm;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.AuditedNode;
import io.dra4j.runtime.DriverOptions;
import io.dra4j.runtime.LegacyPlugin;
import io.dra4j.runtime.takeover.TakeOver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of every driver program, and those of this one. */
@Command(resourceBundle = "io.dra4j.nvidia.options")
@SuppressWarnings("NullAway.Init") // picocli sets the fields
class NvidiaOptions extends DriverOptions {

    private static final int MOST_SECONDS = 86_400;

    @Spec
    private CommandSpec spec;

    @Mixin
    private InstallOptions install;

    @Option(names = "--nvidia-cdi-hook-path", order = 5, paramLabel = "FILE")
    private @Nullable Path cdiHook;

    @Option(names = "--dev-root", order = 6, paramLabel = "DIR")
    private @Nullable Path devRoot;

    @Option(names = "--container-dev-root", order = 6, paramLabel = "DIR")
    private @Nullable Path containerDevRoot;

    @Option(names = "--additional-xids-to-ignore", order = 7, paramLabel = "XID", split = ",")
    private List<String> ignoredXids = List.of();

    private XidEffects chosenEffects = XidEffects.DEFAULT;

    @Option(names = "--xid-effects", order = 11, paramLabel = "XID=EFFECT,...", defaultValue = "")
    private void xidEffects(String text) {
        try {
            chosenEffects = XidEffects.parse(text);
        } catch (IllegalArgumentException e) {
            throw invalid("--xid-effects", e.getMessage());
        }
    }

    private ParameterException invalid(String option, @Nullable String why) {
        return new ParameterException(spec.commandLine(), "Invalid value for option '%s': %s".formatted(option, why));
    }

    private XidEffects effects() {
        try {
            return chosenEffects.ignoring(ignoredXids);
        } catch (IllegalArgumentException e) {
            throw invalid("--additional-xids-to-ignore", e.getMessage());
        }
    }

    @Option(
            names = "--destroy-unknown-mig-devices",
            order = 8,
            arity = "0..1",
            paramLabel = "true|false",
            defaultValue = "false",
            fallbackValue = "true")
    private boolean destroyUnknown;

    @Option(
            names = "--selinux-label",
            order = 16,
            paramLabel = "LABEL",
            defaultValue = "system_u:object_r:container_file_t:s0")
    private String selinuxLabel;

    @Option(names = "--daemon-sockets", order = 17, paramLabel = "DAEMON", split = ",")
    private @Nullable Set<DaemonSocket> sockets;

    @Option(names = "--health-watch", order = 10, paramLabel = "auto|always|never")
    private @Nullable ErrorWatch healthWatch;

    private Duration rescanInterval;

    @Option(names = "--rescan-interval", order = 9, paramLabel = "SECONDS", defaultValue = "60")
    private void rescanInterval(long seconds) {
        if (seconds < 1 || seconds > MOST_SECONDS) {
            throw invalid("--rescan-interval", "%d is not between 1 and %d".formatted(seconds, MOST_SECONDS));
        }
        rescanInterval = Duration.ofSeconds(seconds);
    }

    private LegacyPlugin legacyPlugin;

    @Option(names = "--legacy-plugin", order = 15, paramLabel = "warn|withhold", defaultValue = "warn")
    private void legacyPlugin(String text) {
        try {
            legacyPlugin = LegacyPlugin.valueOf(text.strip().toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw invalid("--legacy-plugin", "'%s' is neither warn nor withhold".formatted(text));
        }
    }

    LegacyPlugin legacyPlugin() {
        return legacyPlugin;
    }

    /** The handling of claims that NVIDIA's own driver has prepared. */
    enum TakeOverMode {
        /** Takes them over, or refuses to start. */
        auto,
        /** Leaves them alone. */
        ignore
    }

    @Option(names = "--take-over", order = 12, paramLabel = "auto|ignore", defaultValue = "auto")
    private TakeOverMode takeOver;

    @Option(names = "--checkpoint-release", order = 12, paramLabel = "RELEASE", defaultValue = "")
    private String checkpointRelease;

    GoForm checkpointForm() {
        return checkpointRelease.isEmpty()
                ? GoForm.ofTakenOver(directory().resolve(GoCheckpoint.FILE + NvidiaTakeOver.PUT_ASIDE))
                : GoForm.of(checkpointRelease);
    }

    @Mixin
    private ThresholdOptions thresholds;

    @Mixin
    private UnusedOptions unused;

    boolean isWithNvidiaMetrics() {
        return unused.isWithNvidiaMetrics();
    }

    /** Returns the feature gates that were given; {@code install} applies DynamicMIG. */
    NvidiaGates featureGates() {
        return install.gates().featureGates();
    }

    @Override
    protected Set<String> ofConfigurations() {
        return Set.of("--feature-gates", "--ignore-unknown-gates");
    }

    InstallOptions install() {
        return install;
    }

    Edits edits() {
        return new Edits(roots(), hookProgram(), DaemonSocket.of(sockets, install.isPartitioned()));
    }

    private Roots roots() {
        return install.roots(DeviceFolder.of(devRoot, containerDevRoot), procRoot());
    }

    private HookProgram hookProgram() {
        Path given = cdiHook();
        return given == null ? HookProgram.install(Path.of("/"), directory()) : HookProgram.at(given);
    }

    private @Nullable Path cdiHook() {
        return cdiHook == null || cdiHook.toString().isEmpty() ? null : cdiHook;
    }

    List<Check> checks(ClusterApi cluster) {
        List<Check> checks = new ArrayList<>(NvidiaChecks.of(install, roots(), cdiHook(), directory()));
        if (install.isDynamicMig()) {
            checks.add(ClusterChecks.migManager(cluster, driverName(), nodeName()));
        }
        return checks;
    }

    @Override
    protected Map<String, String> neededGates() {
        Map<String, String> needed = new TreeMap<>(super.neededGates());
        if (install.isDynamicMig()) {
            needed.put("--dynamic-mig", "DRAPartitionableDevices");
        }
        if (install.gates().shares().areAllowed()) {
            needed.put("--consumable-shares", "DRAConsumableCapacity");
        }
        if (featureGates().isOn(NvidiaGate.DRAListTypeAttributes)) {
            needed.put("--feature-gates=DRAListTypeAttributes", "DRAListTypeAttributes");
        }
        if (install.isPassthrough()) {
            needed.putIfAbsent("--feature-gates=PassthroughSupport", "DRAPartitionableDevices");
        }
        return needed;
    }

    DeviceSharing sharing() {
        Supplier<String> moduleLoad = install.installation(procRoot())::moduleLoad;
        NvidiaSmi smi = install.nvidiaSmi();
        ComputeModes modes = new ComputeModes(smi, new GpuFiles(directory().resolve("compute-modes"), moduleLoad));
        GpuFiles slices = new GpuFiles(directory().resolve("time-slices"), moduleLoad);
        MpsSharing mps = new MpsSharing(
                directory(),
                modes,
                install.mpsProgram(selinuxLabel),
                install.gates().shares().areAllowed());
        return new DeviceSharing(
                ConfigKinds.of(featureGates()),
                List.of(mps, new TimeSlicing(smi, slices, modes)),
                featureGates().isOn(NvidiaGate.MPSSupport) ? new MpsProcesses(procRoot()).problem() : Optional.empty());
    }

    Passthrough passthrough(Nvml nvml) {
        return new Passthrough(
                nvml,
                install.nvidiaSmi(),
                new Passthrough.Settings(install.isPassthrough(), install.sysfs(), procRoot()));
    }

    Optional<TakeOver> takeOver() {
        return takeOver == TakeOverMode.ignore
                ? Optional.empty()
                : Optional.of(new NvidiaTakeOver(
                        new NvidiaTakeOver.Node(
                                install.nvml(procRoot()), install.inventorySettings(nodeName()), earlierBoot()),
                        edits(),
                        sharing()));
    }

    private EarlierBoot earlierBoot() {
        return new EarlierBoot(
                directory().resolve(GoCheckpoint.FILE), procRoot(), cdiRoot(), "k8s." + driverName() + "/claim");
    }

    AuditedNode audited() {
        Nvml nvml = install.nvml(procRoot());
        return new NvidiaAuditedNode(
                nvml,
                install.inventorySettings(nodeName()),
                sharing(),
                passthrough(nvml),
                earlierBoot(),
                healthPolicy().stateFile().read().gpus());
    }

    final Path directory() {
        return kubeletPluginsDirectory().resolve(driverName());
    }

    private ErrorWatch healthWatch() {
        if (healthWatch != null) {
            return healthWatch;
        }
        return featureGates()
                .given(NvidiaGate.NVMLDeviceHealthCheck)
                .map(on -> on ? ErrorWatch.always : ErrorWatch.never)
                .orElse(ErrorWatch.auto);
    }

    HealthPolicy healthPolicy() {
        return new HealthPolicy(
                healthWatch(),
                effects(),
                thresholds.fabric(),
                thresholds.thresholds(),
                destroyUnknown,
                rescanInterval,
                new HealthStateFile(directory().resolve("gpus.json"), procRoot()));
    }

    /**
     * Options of NVIDIA's driver for features that this one lacks; its chart sets them, and one of them identifies the
     * chart.
     */
    @Command(resourceBundle = "io.dra4j.nvidia.options")
    private static final class UnusedOptions {

        @Option(names = "--namespace", hidden = true)
        private String namespace = "";

        @Option(names = "--image-name", hidden = true)
        private String imageName = "";

        @Option(
                names = "--nvidia-metrics",
                order = 13,
                arity = "0..1",
                paramLabel = "true|false",
                defaultValue = "",
                fallbackValue = "true",
                converter = GateOptions.OptionalBoolean.class)
        private @Nullable Boolean nvidiaMetrics;

        boolean isWithNvidiaMetrics() {
            return nvidiaMetrics == null ? !imageName.isEmpty() : nvidiaMetrics;
        }

        @Option(names = "--image-pull-policy", hidden = true)
        private String imagePullPolicy = "";

        @Option(names = "--image-pull-secrets", hidden = true)
        private String imagePullSecrets = "";

        @Option(names = "--service-account-name", hidden = true)
        private String serviceAccountName = "";

        @Option(names = "--host-root", hidden = true)
        private String hostRoot = "";
    }

    /** The options for GPU health, except those for errors. */
    @Command(resourceBundle = "io.dra4j.nvidia.options")
    @SuppressWarnings("NullAway.Init") // picocli sets the fields
    private static final class ThresholdOptions {

        private static final String TEMPERATURE = "--temperature-threshold";
        private static final String POWER = "--power-threshold";
        private static final String INTERVAL = "--threshold-interval";
        private static final int MOST_CELSIUS = 150;
        private static final int MOST_WATTS = 100_000;
        private static final int MOST_SECONDS = 3600;

        @Spec(Spec.Target.MIXEE)
        private CommandSpec spec;

        private enum FabricEffect {
            None,
            NoSchedule,
            NoExecute
        }

        @Option(names = "--fabric-effect", order = 11, paramLabel = "None|NoSchedule|NoExecute", defaultValue = "None")
        private FabricEffect fabric;

        /** Returns the effect on GPUs whose NVLink fabric is not up. */
        Effect fabric() {
            return Effect.values()[fabric.ordinal()];
        }

        @Option(names = TEMPERATURE, order = 12, paramLabel = "CELSIUS")
        private @Nullable Integer celsius;

        @Option(names = POWER, order = 13, paramLabel = "WATTS")
        private @Nullable Integer watts;

        @Option(names = INTERVAL, order = 14, paramLabel = "SECONDS", defaultValue = "10")
        private int seconds;

        Thresholds thresholds() {
            Map<DeviceMeasure, Integer> limits = new EnumMap<>(DeviceMeasure.class);
            if (celsius != null) {
                limits.put(DeviceMeasure.TEMPERATURE, checked(TEMPERATURE, celsius, MOST_CELSIUS));
            }
            if (watts != null) {
                limits.put(DeviceMeasure.POWER, checked(POWER, watts, MOST_WATTS));
            }
            return new Thresholds(limits, Duration.ofSeconds(checked(INTERVAL, seconds, MOST_SECONDS)));
        }

        private int checked(String option, int value, int most) {
            if (value < 1 || value > most) {
                throw new ParameterException(
                        spec.commandLine(),
                        "Invalid value for option '%s': %d is not between 1 and %d".formatted(option, value, most));
            }
            return value;
        }
    }
}
