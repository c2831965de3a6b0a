// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;

/** Commands that pages tell readers to run have the options that their programs have. */
class FlagsOfPagesTest {

    private static final Pattern BLOCK =
            Pattern.compile("^ *```(?:sh|bash|yaml).*?\n(.*?)^ *```", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern CALL =
            Pattern.compile("([\\w.-]*(?:dra-conformance|dra4j-conformance-tests|dra4j-nvidia-driver"
                    + "|dra4j-example-fake-driver)[\\w.-]*\\.jar)\\s+([a-z]+(?:-[a-z]+)*\\b)?([^\n#|&;]*)");
    private static final Pattern FLAG = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");
    private static final Pattern INLINE = Pattern.compile("(?<!`)`([^`\n]+)`(?!`)");

    /** Options of programs that are not ours, or of no program, and which pages may name. */
    private static final Set<String> OF_OTHERS = Set.of(
            "--watch", // kubectl
            "--field-selector", // kubectl
            "--api-group", // kubectl
            "--validate", // kubectl
            "--overwrite", // kubectl
            "--reset-then-reuse-values", // Helm
            "--fpga-root", // the sample of a page, which is compiled
            "--data-dir", // k3s
            "--driver", // kubectl dra, whose module compares its pages
            "--node", // kubectl dra
            "--service-account", // kubectl dra
            "--flag", // any
            "--option"); // any

    /** A command of a page. */
    private record Call(Path page, String program, List<String> flags) {

        /** The doctor of a driver also takes the driver's options. */
        Set<String> known() {
            Set<String> names = new TreeSet<>(Programs.names(spec()));
            if (program.endsWith(".jar doctor")) {
                names.addAll(Programs.names(Programs.DOCTOR));
            }
            return names;
        }

        CommandSpec spec() {
            if (program.endsWith(".jar webhook")) {
                return Programs.WEBHOOK;
            }
            if (program.endsWith(".jar claim-metrics")) {
                return Programs.CLAIM_METRICS;
            }
            if (program.endsWith(".jar maintenance")) {
                return Programs.MAINTENANCE;
            }
            if (program.endsWith("dra4j-nvidia-driver.jar template")) {
                return Programs.TEMPLATE;
            }
            if (program.startsWith("dra4j-nvidia-driver.jar")) {
                return program.endsWith(" probe") ? Programs.PROBE : Programs.NVIDIA_DRIVER;
            }
            if (program.startsWith("dra4j-example-fake-driver.jar")) {
                return Programs.FAKE_DRIVER;
            }
            String command = program.substring(program.indexOf(' ') + 1);
            return Programs.commands().getOrDefault(command, Programs.CONFORMANCE);
        }
    }

    @Test
    void ofCommandsAreThoseOfTheirPrograms() throws Exception {
        List<Call> calls = new ArrayList<>(calls(Path.of("../README.md")));
        for (Path page : Pages.all()) {
            calls.addAll(calls(page));
        }

        assertThat(calls).hasSizeGreaterThan(10);
        assertThat(calls)
                .allSatisfy(call -> assertThat(call.known())
                        .as("%s of %s", call.program(), call.page())
                        .containsAll(call.flags()));
    }

    @Test
    void inTheTextAreThoseOfSomeProgram() throws Exception {
        Set<String> known = new TreeSet<>(Programs.allNames());
        known.addAll(OF_OTHERS);

        for (Path page : Pages.all()) {
            String text = Pattern.compile("^ *```.*?^ *```", Pattern.DOTALL | Pattern.MULTILINE)
                    .matcher(Pages.text(page))
                    .replaceAll("");
            Stream<String> named =
                    INLINE.matcher(text).results().map(code -> code.group(1)).flatMap(FlagsOfPagesTest::flags);
            assertThat(known).as(page.toString()).containsAll(named.toList());
        }
    }

    private static List<Call> calls(Path page) {
        List<Call> calls = new ArrayList<>();
        for (MatchResult block : BLOCK.matcher(Pages.text(page)).results().toList()) {
            Matcher call = CALL.matcher(block.group(1).replaceAll("\\\\\n\\s*", " "));
            while (call.find()) {
                String own = call.group(3).split(" -- ", 2)[0]; // the rest is a driver's
                String command = call.group(2) == null ? "" : " " + call.group(2);
                calls.add(new Call(page, call.group(1) + command, flags(own).toList()));
            }
        }
        return calls;
    }

    private static Stream<String> flags(String text) {
        return FLAG.matcher(text).results().map(MatchResult::group);
    }

    @Test
    void areSeenInCommands() {
        Map<String, CommandSpec> commands = Programs.commands();

        assertThat(commands).containsKeys("run", "play", "apiserver");
        assertThat(Programs.names(commands.get("run"))).contains("--config", "--in-cluster");
        assertThat(Programs.names(Programs.NVIDIA_DRIVER)).contains("--dynamic-mig", "--node-name");
    }
}
