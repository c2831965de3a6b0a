// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.probe.ProbeMain;
import io.dra4j.nvidia.probe.TemplateMain;
import io.dra4j.nvidia.sharing.ConfigKinds;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverMain;
import io.dra4j.runtime.DriverProgram;
import io.dra4j.runtime.takeover.HandOver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Metrics;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.cumulative.CumulativeCounter;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Runs the NVIDIA driver as a program; {@code probe} only prints what it would publish. */
public final class NvidiaDriverMain {

    private static final DriverProgram PROGRAM = new DriverProgram(
            "dra4j-nvidia-driver",
            "A DRA driver for NVIDIA GPUs and MIG devices. `probe`, in place of options, prints what it would publish, without a cluster; `template` prints what a node with other GPUs would publish: see `probe --help` and `template --help`. `export-checkpoint` returns claims to NVIDIA's own driver.",
            NodeDevices.DRIVER_NAME,
            NvidiaDriverMain.class);

    private NvidiaDriverMain() {}

    /**
     * Runs until SIGTERM or SIGINT.
     *
     * @param args the command line; {@code --help} explains it
     */
    public static void main(String[] args) {
        // No constructor references: with them, a driver would also load the classes of the commands.
        DriverMain.of(PROGRAM, new NvidiaOptions(), NvidiaDriverMain::provider)
                .abilities(NvidiaDriverMain::addAbilities)
                .configTypes(NvidiaDriverMain::configTypes)
                .checks(NvidiaOptions::checks)
                .audited(NvidiaOptions::audited)
                .command("probe", () -> new ProbeMain())
                .command("template", () -> new TemplateMain())
                .command("export-checkpoint", () -> new ExportMain())
                .run(args);
    }

    private static void addAbilities(NvidiaOptions options, DraDriver.Builder driver) {
        driver.healthService().legacyPlugin(options.legacyPlugin());
        options.takeOver().ifPresent(driver::takeOver);
    }

    private static List<ConfigType<?>> configTypes(NvidiaOptions options) {
        options.install().gates().check();
        return ConfigKinds.of(options.featureGates());
    }

    static DeviceProvider provider(NvidiaOptions options) {
        options.install().gates().check();
        Nvml nvml = options.install().nvml(options.procRoot());
        NvidiaDeviceProvider provider = new NvidiaDeviceProvider(
                nvml,
                options.install().inventorySettings(options.nodeName()),
                options.edits(),
                options.healthPolicy(),
                options.sharing(),
                options.passthrough(nvml),
                new PartitionClaims(
                        options.install().fabricManager(),
                        nvml,
                        options.install().nvidiaSmi(),
                        options.directory().resolve("partitions")));
        if (options.isWithNvidiaMetrics()) {
            GoMetrics.addTo(Metrics.globalRegistry, options.driverName(), options.nodeName(), provider::held);
        }
        return provider;
    }

    /**
     * Metrics with the names of NVIDIA's driver, in addition to the runtime's: a registry that receives the runtime's
     * measurements and records them again.
     *
     * @see <a href="https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/tree/main/pkg/metrics">The names</a>
     */
    private static final class GoMetrics extends SimpleMeterRegistry {

        private static final String CALLS = "dra4j.call.duration";
        private static final String CLAIMS = "dra4j.claims";

        /** Starts at 50 ms, and doubles with each bucket. */
        private static final Duration[] BUCKETS = IntStream.range(0, 9)
                .mapToObj(each -> Duration.ofMillis(50L << each))
                .toArray(Duration[]::new);

        /** The names of devices by type; other names have no type. */
        private static final Map<String, String> TYPES =
                Map.of("gpu", "gpu-[0-9]+", "mig", "gpu-.*-mig-.*", "vfio", "gpu-vfio-[0-9]+");

        private final Map<String, Operation> operations;

        /** The meters of prepare, or of unprepare. */
        private record Operation(Counter requests, Timer duration, Counter errors) {

            static Operation of(MeterRegistry shown, String driver, String name) {
                Tags own = Tags.of("driver", driver, "operation", name);
                return new Operation(
                        shown.counter("nvidia.dra.requests", own),
                        Timer.builder("nvidia.dra.request.duration")
                                .serviceLevelObjectives(BUCKETS)
                                .tags(own)
                                .register(shown),
                        shown.counter(
                                "nvidia.dra.node." + name + ".errors",
                                "driver",
                                driver,
                                "error_type",
                                name + "_devices"));
            }
        }

        private GoMetrics(MeterRegistry shown, String driver) {
            operations = Stream.of("prepare", "unprepare")
                    .collect(Collectors.toMap(name -> name, name -> Operation.of(shown, driver, name)));
            config().meterFilter(
                            MeterFilter.denyUnless(id -> Set.of(CALLS, CLAIMS).contains(id.getName())));
        }

        static void addTo(CompositeMeterRegistry shown, String driver, String node, Supplier<List<HeldClaim>> held) {
            Map.of("prepare", Phase.PREPARING, "unprepare", Phase.UNPREPARING)
                    .forEach((name, phase) -> Gauge.builder(
                                    "nvidia.dra.requests.inflight",
                                    () -> claims(held, phase).count())
                            .tags("driver", driver, "operation", name)
                            .register(shown));
            TYPES.forEach((type, names) -> Gauge.builder("nvidia.dra.prepared.devices", () -> prepared(held, names))
                    .tags("driver", driver, "node", node, "device_type", type)
                    .register(shown));
            shown.add(new GoMetrics(shown, driver));
        }

        private static Stream<HeldClaim> claims(Supplier<List<HeldClaim>> held, Phase phase) {
            return held.get().stream().filter(claim -> claim.phase() == phase);
        }

        private static long prepared(Supplier<List<HeldClaim>> held, String names) {
            return claims(held, Phase.PREPARED)
                    .flatMap(claim -> claim.devices().stream())
                    .filter(device -> device.device().value().matches(names))
                    .count();
        }

        @Override
        protected Timer newTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauses) {
            Operation operation = operations.get(String.valueOf(id.getTag("operation")));
            if (operation == null) {
                return super.newTimer(id, config, pauses);
            }
            return new CumulativeTimer(id, clock, config, pauses, getBaseTimeUnit(), false) {
                @Override
                protected void recordNonNegative(long amount, TimeUnit unit) {
                    super.recordNonNegative(amount, unit);
                    operation.requests().increment();
                    operation.duration().record(amount, unit);
                }
            };
        }

        @Override
        protected Counter newCounter(Meter.Id id) {
            Operation operation = operations.get(String.valueOf(id.getTag("operation")));
            if (operation == null || !"error".equals(id.getTag("result"))) {
                return super.newCounter(id);
            }
            return new CumulativeCounter(id) {
                @Override
                public void increment(double amount) {
                    super.increment(amount);
                    operation.errors().increment(amount);
                }
            };
        }
    }

    /** The command {@code export-checkpoint}, with the options of the driver. */
    @Command(
            name = "export-checkpoint",
            description = {
                "Writes a checkpoint for NVIDIA's own driver from this driver's journal, so that NVIDIA's driver continues with the claims. This driver must not be running; when it starts again, it takes the claims back from that checkpoint. Takes the options of the driver.",
                ""
            })
    @SuppressWarnings("NullAway.Init") // picocli sets the fields
    private static final class ExportMain extends NvidiaOptions implements Callable<Integer> {

        @Spec
        private CommandSpec spec;

        @Override
        public Integer call() {
            try (HandOver handOver = HandOver.begin(driverName(), nodeName(), directory(), cdiRoot(), procRoot());
                    Nvml nvml = install().nvml(procRoot())) {
                CheckpointExport export = new CheckpointExport(
                        driverName(),
                        nvml,
                        install().inventorySettings(nodeName()),
                        passthrough(nvml),
                        checkpointForm());
                spec.commandLine().getOut().println(export.run(handOver));
                return 0;
            }
        }
    }
}
