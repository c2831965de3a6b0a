// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A driver's program that is run in the JVM of a test, with a driver that only notes its start and end. */
abstract class ProgramFixture implements ScenarioSteps {

    /** An option at the begin of its line in a help text. */
    private static final Pattern OPTION = Pattern.compile("(?m)(?<=^(  |  -[a-z], | {6}))--[a-z-]+");

    static final DriverProgram PROGRAM =
            new DriverProgram("acme-driver", "Drives Acme cards.", "acme.example.com", ProgramFixture.class);

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private @Nullable RuntimeException startFailure;
    private boolean endFails;
    private int status;
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

        @Option(names = "--ports", split = ",", hidden = true)
        List<String> ports;

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
                    if (startFailure != null) {
                        throw startFailure;
                    }
                    events.add("start");
                    return this::end;
                },
                args);
    }

    private void end() {
        events.add("close");
        if (endFails) {
            throw new IllegalStateException("busy");
        }
    }

    @Override
    public void run(String[] words, String text) {
        switch (words[0]) {
            case "env" -> environment.put(words[1], text);
            case "does-not-start" -> startFailure = new DraException(text);
            case "starts-wrongly" -> startFailure = new IllegalStateException(text);
            case "cannot-go-on" -> ending.fatal(new DraException(text));
            case "end-fails" -> endFails = true;
            case "taints" -> options.taint = Optional.of(Taint.Effect.valueOf(words[1]));
            case "run" -> {
                out.reset();
                err.reset();
                status = execute(List.of(words).subList(1, words.length).toArray(new String[0]));
            }
            case "status" -> assertNumber(status, words, text);
            case "out" -> assertThat(String.join(" | ", out().lines().toList())).isEqualTo(text);
            case "out-matches" -> assertThat(out()).containsPattern(text);
            case "err" -> assertThat(String.join(" | ", err().lines().toList())).isEqualTo(text);
            case "err-begins" -> assertThat(err()).startsWith(text);
            case "err-has" -> assertThat(err()).contains(text.split(" \\| "));
            case "events" -> assertThat(list(events.stream())).isEqualTo(text);
            case "option" -> assertThat(value(words[1])).isEqualTo(text);
            case "verbosity" -> assertNumber(options.logging().verbosity(), words, text);
            case "shown" -> assertThat(shownOptions()).containsExactlyInAnyOrder(text.split(" "));
            case "shown-first" -> assertThat(shownOptions()).startsWith(text);
            case "shown-too" -> assertThat(shownOptions()).contains(text.split(" "));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    /** Returns the value that an option has got. */
    String value(String option) {
        Object value = main().line(options).getCommandSpec().findOption(option).getValue();
        return String.valueOf(value);
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
