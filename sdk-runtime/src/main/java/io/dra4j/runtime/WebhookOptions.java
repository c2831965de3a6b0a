// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.runtime.internal.driver.DriverSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** A driver program's command {@code webhook}: its options, which come before the driver's. */
@Command(
        name = "webhook",
        description = {
            "Refuses claims whose configurations the driver could not prepare: a validating admission webhook. It needs"
                    + " no node and no API server. It takes the driver's other options as well.",
            ""
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class WebhookOptions {

    /** No node has this name. */
    private static final String NO_NODE = "webhook";

    /** The options that a driver and its webhook both need. */
    private static final Set<String> SHARED = Set.of("--driver-name", "--v", "--logging-format", "--help", "--version");

    private CommandSpec command;

    @Option(
            names = "--tls-cert-file",
            order = -4,
            paramLabel = "FILE",
            required = true,
            description = "The server's certificate in PEM, followed by its issuers' certificates; reloaded"
                    + " when it changes. Required. [TLS_CERT_FILE]")
    private Path certificate;

    @Option(
            names = "--tls-private-key-file",
            order = -3,
            paramLabel = "FILE",
            required = true,
            description = "The certificate's private key in PEM, not encrypted. Required. [TLS_PRIVATE_KEY_FILE]")
    private Path key;

    private int port;

    @Option(
            names = "--port",
            order = -2,
            paramLabel = "PORT",
            defaultValue = "443",
            description = "The port for HTTPS; 0 for any. [PORT]" + ProgramOptions.DEFAULT)
    private void port(int given) {
        if (given < 0 || given > DriverSettings.LAST_PORT) {
            throw new ParameterException(
                    command.commandLine(),
                    "Invalid value for option '--port': %d is not 0 to %d".formatted(given, DriverSettings.LAST_PORT));
        }
        port = given;
    }

    @Option(
            names = "--refuse-extended-resources",
            order = -1,
            paramLabel = "NAME,...",
            split = ",",
            description = {
                "Resources that pods must not request, at /validate-pods: for namespaces whose devices"
                        + " are requested only by claims. [REFUSE_EXTENDED_RESOURCES]",
                "Default: none"
            })
    private List<String> extendedResources = List.of();

    <O extends DriverOptions> ProgramMain.Command command(
            ProgramMain main, O options, Function<? super O, ? extends List<ConfigType<?>>> configTypes) {
        return main.serving(
                ProgramMain.with(this, hideOthers(main.line(options), options)),
                () -> start(options.driverName(), configTypes.apply(options)));
    }

    /** Shows only the options that the webhook needs; it accepts all, so that both may have the same environment. */
    private CommandLine hideOthers(CommandLine line, DriverOptions options) {
        command = line.getCommandSpec();
        return ProgramMain.only(
                line,
                (option, isOfEveryDriver) -> SHARED.contains(option.longestName())
                        || options.ofConfigurations().contains(option.longestName())
                        || (!isOfEveryDriver && option.required()),
                NO_NODE);
    }

    private Runnable start(String driverName, List<ConfigType<?>> configTypes) {
        AdmissionWebhook webhook = AdmissionWebhook.of(driverName, configTypes, certificate, key)
                .port(port)
                .refuseExtendedResources(extendedResources.stream()
                        .filter(name -> !name.isBlank())
                        .toList());
        webhook.start();
        return webhook::close;
    }
}
