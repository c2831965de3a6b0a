// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Taint;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** A driver's program that is run in the JVM of a test, with a driver that only notes its start and end. */
abstract class ProgramFixture {

    /** An option at the begin of its line in a help text. */
    private static final Pattern OPTION = Pattern.compile("(?m)(?<=^(  |  -[a-z], | {6}))--[a-z-]+");

    static final DriverProgram PROGRAM =
            new DriverProgram("acme-driver", "Drives Acme cards.", "acme.example.com", ProgramFixture.class);

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    final Map<String, String> environment = new HashMap<>();
    final List<String> events = new ArrayList<>();
    final Ending ending = new Ending();
    final AcmeOptions options = new AcmeOptions();
    final DriverMain<AcmeOptions> driver =
            DriverMain.of(PROGRAM, options, ProgramFixture::none).configTypes(filled -> List.of());

    private static DeviceProvider none(DriverOptions options) {
        throw new AssertionError("The driver itself is not run");
    }

    static class AcmeOptions extends DriverOptions {
        @Option(names = "--num-cards", defaultValue = "8", description = "How many. [NUM_CARDS]")
        int cards;

        @Option(names = "--fast", arity = "0..1", description = "Hurry. [FAST]")
        boolean fast;

        @Option(names = "--hostname", description = "Of the fabric.")
        String hostname = "fabric";

        @Option(names = "--lanes", description = "Of each card.")
        int lanes = 2;

        @Option(names = "--speed", description = "Of each lane [W] and card [MHZ, or so]. [$ACME_SPEED]")
        Thread.State speed;

        Optional<Taint.Effect> taint = Optional.empty();

        @Override
        protected Optional<Taint.Effect> defaultUnhealthyTaint() {
            return taint;
        }

        @Override
        protected Set<String> ofConfigurations() {
            return Set.of("--fast");
        }
    }

    ProgramMain main() {
        ending.request(); // as if the signal were there already: nothing waits
        return new ProgramMain(
                PROGRAM, environment, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), ending);
    }

    int execute(String... args) {
        return driver.execute(
                main(),
                filled -> {
                    events.add("start");
                    return () -> events.add("close");
                },
                args);
    }

    String out() {
        return out.toString(UTF_8);
    }

    String err() {
        return err.toString(UTF_8);
    }

    /** Returns the options that the help on standard output shows. */
    Stream<String> shownOptions() {
        return OPTION.matcher(out()).results().map(MatchResult::group);
    }
}
