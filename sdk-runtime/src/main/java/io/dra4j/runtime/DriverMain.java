// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.ProgramMain.Command;
import io.dra4j.runtime.internal.admission.AdmissionService;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.driver.DriverLogging;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Runs a driver as a program: reads the command line, sets up logging, starts, and stops on a signal.
 *
 * <p>A vendor's main method is one call, the second one for a program with its own options:
 *
 * <pre>{@code
 * DriverMain.run(args, "fpga.example.com", options -> new FpgaProvider(options.nodeName()));
 * DriverMain.of("fpga.example.com", new FpgaOptions(), options -> new FpgaProvider(...)).run(args);
 * }</pre>
 *
 * <p>The program also has commands, given before the options, which run instead of the driver:
 *
 * <ul>
 *   <li>{@code webhook}, an {@link AdmissionWebhook};
 *   <li>those of {@code dra4j-node-tools}, if it is on the class path: {@code doctor}, {@code audit} and {@code journal
 *       inspect FILE}, which only read; {@code maintenance on}, which takes a running driver's devices out of use; and
 *       {@code claim-metrics} for the whole cluster;
 *   <li>{@code explain} and {@code tree} for the whole cluster, as in {@code kubectl dra}, if its jar is next to the
 *       driver's;
 *   <li>a {@link #controller}, if the program has one, and commands that it {@link #command adds}.
 * </ul>
 *
 * <p>SIGUSR2 writes the stacks of all threads to {@code goroutine-stacks.dump} in the temporary folder.
 *
 * <p>The exit status is 0 after {@code --help}, {@code --version}, SIGTERM and SIGINT, 2 if the command line is
 * invalid, 1 if the driver can't start, continue or stop in time, and 3 if a command is in an artifact that the program
 * lacks. The reason is a line or two on standard error; {@code -v 4} adds the stack trace. It needs Logback and jul-to-slf4j at run time.
 *
 * @param <O> the program's options
 */
public final class DriverMain<O extends DriverOptions> {

    private static final String WEBHOOK = "webhook";

    private final DriverProgram program;
    private final O options;
    private final Function<? super O, ? extends DeviceProvider> provider;
    private final Map<String, Function<ProgramMain, Command>> commands = new HashMap<>();
    private BiConsumer<? super O, DraDriver.Builder> abilities = (filled, builder) -> {};
    private Function<? super O, ? extends List<ConfigType<?>>> configTypes;
    private Function<? super O, ? extends AuditedNode> audited;
    private BiFunction<? super O, ? super ClusterApi, ? extends List<? extends Check>> checks =
            (filled, cluster) -> List.of();

    private DriverMain(DriverProgram program, O options, Function<? super O, ? extends DeviceProvider> provider) {
        this.program = Objects.requireNonNull(program, "program");
        this.options = Objects.requireNonNull(options, "options");
        this.provider = Objects.requireNonNull(provider, "provider");
        configTypes = filled -> new UnstartedNode(provider.apply(filled)).configTypes();
        audited = filled -> new UnstartedNode(provider.apply(filled));
    }

    /**
     * Runs a driver with the options that every driver has, until a signal; it never returns.
     *
     * @param driverName the driver's name if the options give none; also the program's name
     */
    public static void run(
            String[] args, String driverName, Function<? super DriverOptions, ? extends DeviceProvider> provider) {
        of(driverName, new DriverOptions.Standard(), provider).run(args);
    }

    /** Creates a program with its driver's name; otherwise like {@link #of(DriverProgram, DriverOptions, Function)}. */
    public static <O extends DriverOptions> DriverMain<O> of(
            String driverName, O options, Function<? super O, ? extends DeviceProvider> provider) {
        return of(DriverProgram.of(driverName, provider.getClass()), options, provider);
    }

    /**
     * Creates a program with a name, a summary and a version, to be run.
     *
     * @param options the options to fill
     * @param provider creates the provider from them; a {@link DraException} that it throws is reported as the reason
     *     that the driver can't start
     */
    public static <O extends DriverOptions> DriverMain<O> of(
            DriverProgram program, O options, Function<? super O, ? extends DeviceProvider> provider) {
        return new DriverMain<>(program, options, provider);
    }

    /** Applies the filled options to the driver's builder, except the provider. */
    public DriverMain<O> abilities(BiConsumer<? super O, DraDriver.Builder> additions) {
        abilities = additions;
        return this;
    }

    /**
     * Creates the configurations of the command {@code webhook} from the filled options, for a provider that can be
     * created only on a node; by default a provider that is never started is asked for them.
     */
    public DriverMain<O> configTypes(Function<? super O, ? extends List<ConfigType<?>>> types) {
        configTypes = types;
        return this;
    }

    /** Adds the driver's own checks to the command {@code doctor}; they may ask the API server with its rights. */
    public DriverMain<O> checks(BiFunction<? super O, ? super ClusterApi, ? extends List<? extends Check>> own) {
        checks = own;
        return this;
    }

    /**
     * Creates the node of the command {@code audit}, with the driver's own checks, and of {@code doctor}, which only
     * reads its devices; by default a provider that is never started reads the inventory.
     */
    public DriverMain<O> audited(Function<? super O, ? extends AuditedNode> node) {
        audited = node;
        return this;
    }

    /**
     * Creates the provider of the command {@code controller}, a {@link PoolController} with the program's options; by
     * default the program does not have that command. In that case the options name no node.
     */
    public DriverMain<O> controller(Function<? super O, ? extends DeviceProvider> pools) {
        commands.put("controller", main -> new ControllerOptions().command(main, options, pools));
        return this;
    }

    /**
     * Adds a command of the program.
     *
     * <p>It is an object with picocli's annotations, {@code @Command} among them; an object that extends {@link
     * ProgramOptions} or {@link DriverOptions} also has their options. It returns the exit status; a {@link
     * DraException} that it throws is reported.
     */
    public DriverMain<O> command(String name, Supplier<? extends Callable<Integer>> command) {
        commands.put(name, main -> main.command(name, command.get()));
        return this;
    }

    /** Runs the driver until a signal, or the command that is named first, then ends the JVM; it never returns. */
    public void run(String[] args) {
        DriverLogging.begin();
        if (args.length > 0 && args[0].equals(WEBHOOK)) {
            AdmissionService.lookUpNoNames(); // before anything else looks one up
        }
        ProgramMain main = ProgramMain.of(program);
        if (args.length == 0 || args[0].startsWith("-")) { // the driver itself
            Executor beside = ShortLivedThreads.unlimited("dra4j-start");
            Cluster.load(beside);
            beside.execute(Journal::load);
        }
        main.exit(() -> execute(main, filled -> start(filled, main.ending()), args));
    }

    private Runnable start(O filled, Ending ending) {
        DraDriver.Builder builder = filled.builder(provider.apply(filled)).listener(ending);
        abilities.accept(filled, builder);
        DraDriver driver = builder.build();
        driver.start();
        return driver::close;
    }

    /** Does everything except ending the JVM, and returns the exit status. */
    int execute(ProgramMain main, Function<? super O, Runnable> start, String... args) {
        return main.execute(
                switch (args.length == 0 ? "" : args[0]) {
                    case WEBHOOK -> new WebhookOptions().command(main, options, configTypes);
                    case "audit", "claim-metrics", "doctor", "journal", "maintenance" ->
                        new NodeToolsMain(
                                        main,
                                        options,
                                        () -> audited.apply(options),
                                        cluster -> checks.apply(options, cluster))
                                .command(args[0]);
                    case "explain", "tree" -> new ClusterMain(main.err(), main.environment()).command(program, args);
                    default -> own(main, () -> start.apply(options), args);
                },
                args);
    }

    /** Returns the command of this program that is named first, or else the driver. */
    private Command own(ProgramMain main, Supplier<Runnable> start, String... args) {
        Function<ProgramMain, Command> named = args.length == 0 ? null : commands.get(args[0]);
        return named == null ? main.serving(main.line(options), start) : named.apply(main);
    }

    /** The node of a provider that is not started, and adds no checks. */
    private record UnstartedNode(DeviceProvider provider) implements AuditedNode {

        /** Returns the provider's configurations, and closes it. */
        List<ConfigType<?>> configTypes() {
            try (this) {
                return ConfigCheck.declared(provider.configTypes());
            }
        }

        @Override
        public Inventory inventory(List<HeldClaim> held) {
            try {
                return provider.inventory();
            } catch (Exception | LinkageError e) { // of a provider that is not started
                throw new UnsupportedOperationException(
                        "the provider can't read its devices without being started: " + e, e);
            }
        }

        @Override
        public void close() {
            try {
                provider.close();
            } catch (Exception | LinkageError e) { // of a provider that was only asked
                LoggerFactory.getLogger(UnstartedNode.class)
                        .atDebug()
                        .setCause(e)
                        .log("The provider failed to close");
            }
        }
    }
}
