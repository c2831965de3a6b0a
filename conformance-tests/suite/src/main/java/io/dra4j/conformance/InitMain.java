// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code init}: settings to begin with. */
@Command(
        name = "init",
        mixinStandardHelpOptions = true,
        description = {"Write settings with comments, to be filled in for a driver.", ""})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class InitMain implements Callable<Integer> {

    @Parameters(
            arity = "0..1",
            paramLabel = "FILE",
            defaultValue = "dra-conformance.yaml",
            description = "The file, which must not exist. Default: ${DEFAULT-VALUE}")
    private Path file;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        try (InputStream template = Optional.ofNullable(InitMain.class.getResourceAsStream("init.yaml"))
                .orElseThrow()) {
            Files.copy(template, file);
            spec.commandLine()
                    .getOut()
                    .printf(
                            "%s is written. Fill in name and command, then: dra-conformance run --config %s%n",
                            file, file);
            return 0;
        } catch (FileAlreadyExistsException e) {
            throw new IOException(file + " exists already, and is left alone", e);
        } catch (IOException e) {
            throw new IOException("can't write " + file + ": " + e, e);
        }
    }
}
