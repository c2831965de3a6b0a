// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A driver program's commands about the whole cluster, the same as in {@code kubectl dra}.
 *
 * <p>They run in a separate JVM, from {@code kubectl-dra.jar} next to the driver's jar: they
 * need a CEL evaluator, which no driver needs on its node, and more memory than a driver has.
 *
 * <p>The exit status is that of the command, and 3 if it can't be run.
 */
record ClusterMain(PrintStream err, Map<String, String> environment) {
    private static final String JAR = "kubectl-dra.jar";
    private static final String JAR_VARIABLE = "KUBECTL_DRA_JAR";
    private static final int NOT_RUN = 3;

    /** Returns the command, whose arguments this program does not read. */
    ProgramMain.Command command(DriverProgram program, String... args) {
        CommandLine line = new CommandLine(CommandSpec.create().name(args[0])).setUnmatchedArgumentsAllowed(true);
        return new ProgramMain.Command(line, () -> execute(program, args));
    }

    /**
     * Runs the command with this program's standard input and outputs.
     *
     * @param program the driver's program: the jar is next to the one that has its main class
     * @param args the command line, with the command first
     */
    int execute(DriverProgram program, String[] args) {
        Optional<Path> jar = jar(program.main());
        if (jar.isEmpty()) {
            err.printf(
                    "%s: %s is a command of %s, which is not next to this program's jar: put it there, or set %s to its"
                            + " path. `kubectl dra %s` is the same command, and needs no driver.%n",
                    program.name(), args[0], JAR, JAR_VARIABLE, args[0]);
            return NOT_RUN;
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar"));
        command.add(jar.get().toString());
        command.addAll(Arrays.asList(args));
        return run(program.name(), command);
    }

    private int run(String program, List<String> command) {
        try {
            return new ProcessBuilder(command).inheritIO().start().waitFor();
        } catch (IOException e) {
            err.printf("%s: %s can't be run: %s%n", program, command.get(0), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return NOT_RUN;
    }

    private Optional<Path> jar(Class<?> main) {
        String given = environment.getOrDefault(JAR_VARIABLE, "");
        Optional<Path> jar =
                given.isEmpty() ? home(main).map(home -> home.resolveSibling(JAR)) : Optional.of(Path.of(given));
        return jar.filter(Files::isRegularFile);
    }

    /** The jar that has a class; empty if it is in a jar inside another one, or not in a file. */
    private static Optional<Path> home(Class<?> main) {
        return Optional.ofNullable(main.getProtectionDomain().getCodeSource())
                .map(code -> URI.create(String.valueOf(code.getLocation())))
                .filter(home -> "file".equals(home.getScheme()))
                .map(Path::of);
    }
}
