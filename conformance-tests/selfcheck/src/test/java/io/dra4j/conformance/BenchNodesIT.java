// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command {@code bench --nodes}: what must not grow with the number of drivers. */
class BenchNodesIT {

    private static final int NODES = 20;
    private static final int DEVICES = 100; // two slices of 64 at most

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... options) {
        List<String> line = new ArrayList<>(List.of("bench"));
        line.addAll(List.of(options));
        CommandLine commands = ConformanceMain.commandLine();
        commands.setOut(new PrintWriter(out));
        commands.setErr(new PrintWriter(err, true));
        return commands.execute(line.toArray(String[]::new));
    }

    @Test
    @Tag("nightly")
    void driversPublishAllAndAskTheApiServerOnceForEachThing() throws Exception {
        Path json = folder.resolve("numbers.json");
        bench("--nodes=" + NODES, "--devices=" + DEVICES, "--idle-seconds=11", "--json=" + json);

        assertThat(err.toString()).isEmpty();
        JsonNode numbers = new ObjectMapper().readTree(json.toFile());
        assertThat(numbers.path("complete").asBoolean()).as(out.toString()).isTrue();
        assertThat(numbers.path("registered").asInt()).isEqualTo(NODES);
        assertThat(numbers.path("slices").asInt()).isEqualTo(2 * NODES);
        JsonNode requests = numbers.path("requests");
        assertThat(requests.path("create resourceslices").asInt()).isEqualTo(2 * NODES);
        assertThat(requests.path("get nodes").asInt()).isEqualTo(NODES);
        assertThat(requests.path("watch resourceslices").asInt()).isGreaterThanOrEqualTo(NODES);
        assertThat(numbers.path("requestsEach").asDouble())
                .as("%s", requests)
                .isLessThan(9); // 8, and what a machine under load repeats
        assertThat(numbers.at("/idle/requests")).as("in the pace of the upkeep").isEmpty();
        assertThat(numbers.at("/connectionsEach").asDouble()).isBetween(1.0, 5.0);
        JsonNode hour = numbers.path("perNodeAndHour");
        assertThat(hour.at("/idle/watch resourceslices/requests").asDouble())
                .as("each watch ends every 45 minutes")
                .isCloseTo(4 / 3.0, within(0.1));
        assertThat(hour.at("/idle").has("get resourceclaims")).isFalse();
        assertThat(hour.at("/busy/get resourceclaims/requests").asDouble())
                .as("a claim is read once to be prepared, and not to be unprepared")
                .isEqualTo(60);
        assertThat(hour.at("/busy/get resourceclaims/sentBytes").asDouble()).isGreaterThan(60 * 300);
        assertThat(numbers.at("/eachAdds/threads").asDouble()).isBetween(1.0, 11.0);
        assertThat(out.toString())
                .containsPattern("slices published +40\n")
                .containsPattern("in all +1[67][0-9] +8.[0-9]+\n")
                .containsPattern("resident +[0-9.]+ MiB +[0-9.]+ MiB +-?[0-9.]+ KiB\n")
                .containsPattern("the same with 60 prepares +requests +KiB sent to it +KiB from it\n")
                .containsPattern("get resourceclaims +60.0 +[0-9.]+ +[0-9.]+\n")
                .containsPattern("other API requests +0 +0.00\n")
                .containsPattern("processor, of one core +[0-9.]+ % +[0-9.]+ %\n");
        assertThat(out.toString().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThan(101));
    }

    @Test
    void whatIsOfOneDriverCannotBeGiven() {
        assertThat(bench("--nodes=2", "--against=other.yaml", "--rounds=3", "--", "true"))
                .isEqualTo(3);
        assertThat(bench("--nodes=2", "--driver-name=gpu.example.com")).isEqualTo(3);
        assertThat(bench("--nodes=2", "--calls=10")).isEqualTo(3);
        assertThat(bench("--nodes=1")).isEqualTo(3);
        assertThat(bench("--nodes=2", "--devices=0")).isEqualTo(3);
        assertThat(bench("--nodes=2", "--idle-seconds=0")).isEqualTo(3);
        assertThat(bench("--devices=3", "--driver-name=gpu.example.com", "--", "true"))
                .isEqualTo(3);

        assertThat(err.toString().lines())
                .containsExactly(
                        "dra-conformance: --nodes hosts its own drivers, and cannot be combined with --against, --rounds, COMMAND",
                        "dra-conformance: --nodes hosts its own drivers, and cannot be combined with --driver-name",
                        "dra-conformance: --nodes hosts its own drivers, and cannot be combined with --calls",
                        "dra-conformance: --nodes must be at least 2: the others are measured against the first",
                        "dra-conformance: --devices must be at least 1",
                        "dra-conformance: --idle-seconds must be at least 1 with --nodes",
                        "dra-conformance: --devices requires --nodes");
    }
}
