// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Report;
import java.io.PrintStream;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Function;
import picocli.CommandLine;

/** The commands of driver programs that look at a node, or tidy it, with the driver's options. */
public final class NodeMain {

    private static final int SUCCESS = 0;
    private static final int FAILURE = 1;
    private static final int NOT_LOOKED = 3;

    private final PrintStream out;
    private final Map<String, String> environment;
    private final ProgramMain line;

    NodeMain(PrintStream out, PrintStream err, Map<String, String> environment) {
        this.out = out;
        this.environment = environment;
        this.line = new ProgramMain(out, err);
    }

    private static NodeMain ofProcess() {
        return new NodeMain(System.out, System.err, System.getenv());
    }

    /**
     * Returns whether a command line asks for an audit of the node.
     *
     * @param args the command line
     * @return whether it begins with {@code audit}
     */
    public static boolean isAudit(String[] args) {
        return AuditOptions.isFor(args);
    }

    /**
     * Audits the node, then ends the JVM; it never returns.
     *
     * <p>{@link DriverMain#run} does so for a command line that begins with {@code audit}; a
     * program calls this in its place if it has checks of its own.
     *
     * @param args the command line, with {@code audit} first
     * @param program the program's name, summary and version
     * @param options the options to fill
     * @param node makes the node from the filled options
     * @param <O> the program's own options
     */
    public static <O extends DriverOptions> void runAudit(
            String[] args, DriverProgram program, O options, Function<? super O, ? extends AuditedNode> node) {
        System.exit(ofProcess().audit(args, program, options, node));
    }

    /**
     * Runs a short command with the driver's options, then ends the JVM; it never returns.
     *
     * @param args the command line, with the command first
     * @param program the program's name, summary and version
     * @param description the command's effect, for its help
     * @param options the options to fill
     * @param command does it, and returns what is printed; a {@link DraException} that it throws is
     *     reported, with exit status 1
     * @param <O> the program's own options
     */
    public static <O extends DriverOptions> void run(
            String[] args, DriverProgram program, String description, O options, Function<? super O, String> command) {
        System.exit(ofProcess().command(args, program, description, options, command));
    }

    /** Audits the node, and returns the exit status. */
    <O extends DriverOptions> int audit(
            String[] args, DriverProgram program, O options, Function<? super O, ? extends AuditedNode> nodes) {
        AuditOptions own = new AuditOptions();
        CommandLine command = own.addTo(options.commandLine(program, environment));
        OptionalInt over = line.parse(AuditOptions.without(args), command, program, options);
        if (over.isPresent()) {
            return over.getAsInt();
        }
        try (AuditedNode node = nodes.apply(options)) {
            Report report = own.report(options, node);
            out.print(own.text(report));
            out.flush();
            return report.exitStatus();
        } catch (DraException e) {
            line.explain(program, options, String.valueOf(e.getMessage()), e);
            return NOT_LOOKED;
        }
    }

    private <O extends DriverOptions> int command(
            String[] args, DriverProgram program, String description, O options, Function<? super O, String> command) {
        CommandLine filled = options.commandLine(program, environment);
        filled.getCommandSpec()
                .name(program.name() + " " + args[0])
                .usageMessage()
                .description(description, "");
        OptionalInt over = line.parse(AuditOptions.without(args), filled, program, options);
        if (over.isPresent()) {
            return over.getAsInt();
        }
        try {
            out.println(command.apply(options));
            return SUCCESS;
        } catch (DraException e) {
            line.explain(program, options, String.valueOf(e.getMessage()), e);
            return FAILURE;
        }
    }
}
