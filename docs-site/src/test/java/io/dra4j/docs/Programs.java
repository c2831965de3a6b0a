// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The command lines of the programs that the documentation describes. Their classes are private to
 * their packages, so picocli gets them by name.
 */
final class Programs {

    static final CommandSpec EVERY_DRIVER = spec("io.dra4j.runtime.DriverOptions$Standard");
    static final CommandSpec FAKE_DRIVER = spec("io.dra4j.example.FakeDriverOptions");
    static final CommandSpec CONTROLLER = spec("io.dra4j.example.ControllerMain$Options");
    static final CommandSpec NVIDIA_DRIVER = spec("io.dra4j.nvidia.NvidiaOptions");
    static final CommandSpec PROBE = spec("io.dra4j.nvidia.probe.ProbeMain");
    static final CommandSpec TEMPLATE = spec("io.dra4j.nvidia.probe.TemplateMain");
    static final CommandSpec WEBHOOK = spec("io.dra4j.runtime.WebhookOptions");
    static final CommandSpec CLAIM_METRICS = spec("io.dra4j.tools.ClaimMetricsOptions");
    static final CommandSpec POOL_CONTROLLER = spec("io.dra4j.runtime.ControllerOptions");
    static final CommandSpec MAINTENANCE = spec("io.dra4j.tools.MaintenanceMain");
    static final CommandSpec DOCTOR = spec("io.dra4j.tools.DoctorOptions");
    static final CommandSpec CONFORMANCE = spec("io.dra4j.conformance.ConformanceMain");

    private Programs() {}

    private static CommandSpec spec(String name) {
        try {
            return CommandSpec.forAnnotatedObject(Class.forName(name));
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("The class with the options was not found", e);
        }
    }

    /** The commands of {@code dra-conformance}, by their names. */
    static Map<String, CommandSpec> commands() {
        Map<String, CommandSpec> commands = new LinkedHashMap<>();
        CONFORMANCE.subcommands().forEach((name, command) -> commands.put(name, command.getCommandSpec()));
        return commands;
    }

    /** All names of the options of a command, including hidden ones. */
    static Set<String> names(CommandSpec command) {
        Set<String> names = new TreeSet<>();
        for (OptionSpec option : command.options()) {
            names.addAll(Set.of(option.names()));
        }
        return names;
    }

    /** All names of options of all programs. */
    static Set<String> allNames() {
        Set<String> names = new TreeSet<>();
        names.addAll(names(FAKE_DRIVER));
        names.addAll(names(CONTROLLER));
        names.addAll(names(NVIDIA_DRIVER));
        names.addAll(names(PROBE));
        names.addAll(names(TEMPLATE));
        names.addAll(names(WEBHOOK));
        names.addAll(names(CLAIM_METRICS));
        names.addAll(names(POOL_CONTROLLER));
        names.addAll(names(MAINTENANCE));
        names.addAll(names(DOCTOR));
        names.addAll(names(CONFORMANCE));
        commands().values().forEach(command -> names.addAll(names(command)));
        return names;
    }
}
