// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.cluster.ClusterApi;
import io.dra4j.runtime.internal.driver.ClusterMain;
import io.dra4j.runtime.internal.driver.JournalMain;
import io.dra4j.runtime.internal.driver.MaintenanceMain;
import io.dra4j.runtime.internal.http.HttpPages;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;

/**
 * Runs a driver as a program: reads the command line, sets up logging, starts, and stops on a
 * signal.
 *
 * <p>A vendor's main method is one call:
 *
 * <pre>{@code
 * DriverMain.run(args, "fpga.example.com", options -> new FpgaProvider(options.nodeName()));
 * }</pre>
 *
 * <p>Options of the program's own are the second step:
 *
 * <pre>{@code
 * DriverMain.run(args, "fpga.example.com", new FpgaOptions(), options -> new FpgaProvider(...));
 * }</pre>
 *
 * <p>{@code journal inspect FILE} instead of options prints a journal, and {@code maintenance on}
 * takes the devices of a driver that runs out of use. {@code explain} and {@code tree} are those of
 * {@code kubectl dra}, if its jar is beside the driver's. {@code webhook} before options runs an
 * {@link AdmissionWebhook} for the driver's configurations, which needs no node: it asks a provider
 * that is never started for its {@link DeviceProvider#configTypes}. {@code claim-metrics} serves
 * the age of claims that wait, for the whole cluster. {@code doctor} before options prints what is
 * wrong with the node, and ends, as does {@code audit} with what the node's records contradict each
 * other in.
 *
 * <p>SIGUSR2 writes the stacks of all threads to {@code goroutine-stacks.dump} in the temporary
 * folder.
 *
 * <p>The exit status is 0 after {@code --help}, {@code --version}, SIGTERM and SIGINT, 2 if the
 * command line is wrong, and 1 if the driver can't start, go on or stop in time. The reason is a
 * line or two on standard error; {@code -v 4} adds the stack trace. It needs Logback and
 * jul-to-slf4j at run time.
 */
public final class DriverMain {

    private static final int SUCCESS = 0;
    private static final int FAILURE = 1;
    private static final String CLAIM_METRICS = "claim-metrics";

    private final PrintStream out;
    private final PrintStream err;
    private final Map<String, String> environment;
    private final Ending ending;
    private final ProgramMain line;

    DriverMain(PrintStream out, PrintStream err, Map<String, String> environment, Ending ending) {
        this.out = out;
        this.err = err;
        this.environment = environment;
        this.ending = ending;
        this.line = new ProgramMain(out, err);
    }

    /**
     * Runs a driver with the options that every driver has, until a signal; it never returns.
     *
     * @param args the command line
     * @param driverName the driver's name, where none is given; the program is called so, too
     * @param provider makes the provider from the filled options; a {@link DraException} that it
     *     throws is reported as the reason why the driver can't start
     */
    public static void run(
            String[] args, String driverName, Function<? super DriverOptions, ? extends DeviceProvider> provider) {
        run(args, driverName, new DriverOptions.Standard(), provider);
    }

    /**
     * Runs a driver with options of its own, until a signal; it never returns.
     *
     * @param args the command line
     * @param driverName the driver's name, where none is given; the program is called so, too
     * @param options the options to fill
     * @param provider makes the provider from the filled options; a {@link DraException} that it
     *     throws is reported as the reason why the driver can't start
     * @param <O> the program's own options
     */
    public static <O extends DriverOptions> void run(
            String[] args, String driverName, O options, Function<? super O, ? extends DeviceProvider> provider) {
        Objects.requireNonNull(args, "args");
        Objects.requireNonNull(driverName, "driverName");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(provider, "provider");
        run(args, DriverProgram.of(driverName, provider.getClass()), options, provider);
    }

    /**
     * Runs the driver until a signal, then ends the JVM; it never returns.
     *
     * @param args the command line
     * @param program the program's name, summary and version
     * @param options the options to fill
     * @param provider makes the provider from the filled options; a {@link DraException} that it
     *     throws is reported as the reason why the driver can't start
     * @param <O> the program's own options
     */
    public static <O extends DriverOptions> void run(
            String[] args, DriverProgram program, O options, Function<? super O, ? extends DeviceProvider> provider) {
        run(args, program, options, provider, (filled, builder) -> {});
    }

    /**
     * Runs the driver as {@link #run(String[], DriverProgram, DriverOptions, Function)} does, with
     * abilities beside the provider.
     *
     * @param args the command line
     * @param program the program's name, summary and version
     * @param options the options to fill
     * @param provider makes the provider from the filled options; a {@link DraException} that it
     *     throws is reported as the reason why the driver can't start
     * @param abilities gives the driver's builder what else the filled options ask for
     * @param <O> the program's own options
     */
    public static <O extends DriverOptions> void run(
            String[] args,
            DriverProgram program,
            O options,
            Function<? super O, ? extends DeviceProvider> provider,
            BiConsumer<? super O, DraDriver.Builder> abilities) {
        if (isWebhook(args)) {
            runWebhook(args, program, options, filled -> configTypes(provider.apply(filled)));
        }
        if (NodeMain.isAudit(args)) {
            NodeMain.runAudit(args, program, options, filled -> audited(provider.apply(filled)));
        }
        if (isDoctor(args)) {
            runDoctor(args, program, options, (filled, cluster) -> List.of());
        }
        Ending ending = new Ending();
        Runtime.getRuntime().addShutdownHook(new Thread(ending::endJvm, "dra4j-shutdown"));
        DriverMain main = new DriverMain(System.out, System.err, System.getenv(), ending);
        System.exit(main.execute(args, program, options, filled -> {
            DraDriver.Builder builder = filled.builder(provider.apply(filled)).listener(endOnFatal(ending));
            abilities.accept(filled, builder);
            DraDriver driver = builder.build();
            return Run.of(driver::start, driver::close);
        }));
    }

    private static List<ConfigType<?>> configTypes(DeviceProvider provider) {
        try (provider) {
            return List.copyOf(provider.configTypes());
        }
    }

    /**
     * Returns whether a command line is one of an {@link AdmissionWebhook}.
     *
     * @param args the command line
     * @return whether it begins with {@code webhook}
     */
    public static boolean isWebhook(String[] args) {
        return WebhookOptions.isFor(args);
    }

    /**
     * Runs an {@link AdmissionWebhook} until a signal, then ends the JVM; it never returns.
     *
     * <p>{@code run} does so for a command line that begins with {@code webhook}; a program calls
     * this in its place if its provider can be made on a node alone.
     *
     * @param args the command line, with {@code webhook} first
     * @param program the program's name, summary and version
     * @param options the options to fill
     * @param configTypes makes the driver's configurations from the filled options
     * @param <O> the program's own options
     */
    public static <O extends DriverOptions> void runWebhook(
            String[] args,
            DriverProgram program,
            O options,
            Function<? super O, ? extends List<ConfigType<?>>> configTypes) {
        HttpPages.lookUpNoNames(); // before anything is
        Ending ending = new Ending();
        Runtime.getRuntime().addShutdownHook(new Thread(ending::endJvm, "dra4j-shutdown"));
        DriverMain main = new DriverMain(System.out, System.err, System.getenv(), ending);
        System.exit(main.executeWebhook(args, program, options, configTypes));
    }

    /**
     * Returns whether a command line is one of {@link #runDoctor}.
     *
     * @param args the command line
     * @return whether it begins with {@code doctor}
     */
    public static boolean isDoctor(String[] args) {
        return DoctorOptions.isFor(args);
    }

    /**
     * Prints what is wrong with the driver's node, then ends the JVM; it never returns.
     *
     * <p>{@code run} does so for a command line that begins with {@code doctor}; a program calls
     * this in its place if it has checks of its own. The exit status is 0 if nothing is wrong, 1 if
     * there are findings, and 2 if there are none but a check could not look, or the command line
     * is wrong.
     *
     * @param args the command line, with {@code doctor} first
     * @param program the program's name, summary and version
     * @param options the options to fill
     * @param own makes the program's own checks from the filled options; they may ask the API
     *     server with the driver's rights
     * @param <O> the program's own options
     */
    public static <O extends DriverOptions> void runDoctor(
            String[] args,
            DriverProgram program,
            O options,
            BiFunction<? super O, ? super ClusterApi, ? extends List<? extends Check>> own) {
        DriverMain main = new DriverMain(System.out, System.err, System.getenv(), new Ending());
        System.exit(main.executeDoctor(args, program, options, own));
    }

    /**
     * Runs a controller until a signal, as drivers are run; it never returns.
     *
     * @param args the command line
     * @param program the program's name, summary and version
     * @param options the options to fill
     * @param controller makes the controller from the filled options
     * @param <O> the program's own options
     */
    public static <O extends ProgramOptions> void runController(
            String[] args, DriverProgram program, O options, Function<? super O, BindingController> controller) {
        Ending ending = new Ending();
        Runtime.getRuntime().addShutdownHook(new Thread(ending::endJvm, "dra4j-shutdown"));
        DriverMain main = new DriverMain(System.out, System.err, System.getenv(), ending);
        System.exit(main.execute(args, program, options, filled -> {
            BindingController made = controller.apply(filled);
            return Run.of(made::start, made::close);
        }));
    }

    private static <O extends DriverOptions> Run webhook(
            WebhookOptions given, O options, Function<? super O, ? extends List<ConfigType<?>>> configTypes) {
        AdmissionWebhook webhook = given.webhook(options.driverName(), configTypes.apply(options));
        return Run.of(webhook::start, webhook::close);
    }

    private static DriverListener endOnFatal(Ending ending) {
        return new DriverListener() {
            @Override
            public void fatal(DraException problem) {
                ending.fail(problem);
            }
        };
    }

    /** Does all of it but ending the JVM, and returns the exit status. */
    <O extends ProgramOptions> int execute(String[] args, DriverProgram program, O options, Function<O, Run> assembly) {
        return reported(() -> {
            Optional<Integer> other = otherCommand(args, program);
            return other.isPresent()
                    ? other.get()
                    : runUntilEnd(args, options.commandLine(program, environment), program, options, assembly);
        });
    }

    /** Runs a command that is about the driver, and returns its exit status. */
    private Optional<Integer> otherCommand(String[] args, DriverProgram program) {
        if (JournalMain.isFor(args)) {
            return Optional.of(new JournalMain(out, err).execute(program.name(), args));
        }
        if (ClusterMain.isFor(args)) {
            return Optional.of(new ClusterMain(err, environment).execute(program.name(), program.main(), args));
        }
        if (args.length > 0 && args[0].equals(CLAIM_METRICS)) {
            return Optional.of(new ClaimMetricsMain(line, ending).execute(args, program, environment));
        }
        return MaintenanceMain.isFor(args)
                ? Optional.of(MaintenanceMain.execute(
                        program.name(),
                        program.defaultDriverName(),
                        environment,
                        args,
                        List.of(out, err),
                        ending::isRequestedWithin))
                : Optional.empty();
    }

    /** Runs the webhook in the driver's place. */
    <O extends DriverOptions> int executeWebhook(
            String[] args,
            DriverProgram program,
            O options,
            Function<? super O, ? extends List<ConfigType<?>>> configTypes) {
        WebhookOptions own = new WebhookOptions();
        return reported(() -> runUntilEnd(
                WebhookOptions.without(args),
                own.addTo(options.commandLine(program, environment), options),
                program,
                options,
                filled -> webhook(own, filled, configTypes)));
    }

    /** Looks at the node in the driver's place. */
    <O extends DriverOptions> int executeDoctor(
            String[] args,
            DriverProgram program,
            O options,
            BiFunction<? super O, ? super ClusterApi, ? extends List<? extends Check>> own) {
        DoctorOptions doctor = new DoctorOptions();
        OptionalInt over = line.parse(
                Arrays.copyOfRange(args, 1, args.length),
                doctor.addTo(options.commandLine(program, environment)),
                program,
                options);
        if (over.isPresent()) {
            return over.getAsInt();
        }
        try {
            Report report = doctor.report(options, environment, cluster -> own.apply(options, cluster));
            out.print(doctor.print(report));
            out.flush();
            return report.exitStatus();
        } catch (DraException e) {
            line.explain(program, options, String.valueOf(e.getMessage()), e);
            return Report.INCOMPLETE;
        }
    }

    /** Returns the node of a provider that is not started, with no checks of its own. */
    private static AuditedNode audited(DeviceProvider provider) {
        return new AuditedNode() {
            @Override
            public Inventory inventory(List<HeldClaim> held) {
                try {
                    return provider.inventory();
                } catch (Exception | LinkageError e) { // of a provider that is not started
                    throw new DraException("the provider can't read its devices without being started: " + e, e);
                }
            }

            @Override
            public void close() {
                try {
                    provider.close();
                } catch (Exception | LinkageError e) { // of a provider that was only asked
                    LoggerFactory.getLogger(DriverMain.class)
                            .atDebug()
                            .setCause(e)
                            .log("The provider did not close well");
                }
            }
        };
    }

    private int reported(IntSupplier execution) {
        int status = FAILURE;
        try {
            status = execution.getAsInt();
        } finally {
            ending.reached(status);
        }
        return status;
    }

    private <O extends ProgramOptions> int runUntilEnd(
            String[] args, CommandLine command, DriverProgram program, O options, Function<O, Run> assembly) {
        OptionalInt over = line.parse(args, command, program, options);
        if (over.isPresent()) {
            return over.getAsInt();
        }
        ThreadDump.onSignal(Path.of(System.getProperty("java.io.tmpdir"), ThreadDump.FILE));
        try (Run driver = assembly.apply(options)) {
            driver.start();
            ending.awaitRequest();
            ending.throwFailure();
            return SUCCESS;
        } catch (DraException e) {
            line.explain(program, options, String.valueOf(e.getMessage()), e);
        } catch (RuntimeException e) {
            line.explain(program, options, "unexpected: " + e, e);
        }
        return FAILURE;
    }

    /** A driver as this class uses it: the seam at which tests put another one. */
    interface Run extends AutoCloseable {
        void start();

        @Override
        void close();

        static Run of(Runnable start, Runnable close) {
            return new Run() {
                @Override
                public void start() {
                    start.run();
                }

                @Override
                public void close() {
                    close.run();
                }
            };
        }
    }
}
