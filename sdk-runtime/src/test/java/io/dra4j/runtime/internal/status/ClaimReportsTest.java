// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** The status of a claim, report by report, as claim-reports.txt says. */
@Isolated
class ClaimReportsTest extends ReportsUnderTest implements ScenarioSteps {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(ClaimReports.class, Level.ERROR);

    private static final DeviceStatus PARTLY_BAD = DeviceStatus.builder()
            .condition(new Condition("Ready", ConditionStatus.FALSE, "no reason", ""))
            .networkData(new NetworkData("eth0", List.of(), null))
            .build();

    private static AllocatedDevice device(String word) {
        String[] device = word.split("=")[0].split("/");
        return device("r", null, device[0], device.length == 1 ? null : device[1]);
    }

    private static DeviceStatus status(String word) {
        return switch (word.split("=")[1]) {
            case "ready" -> READY;
            case "still-ready" -> DeviceStatus.of(new Condition("Ready", ConditionStatus.TRUE, "StillUp", ""));
            case "broken" -> BROKEN;
            case "partly-bad" -> PARTLY_BAD;
            default -> throw new IllegalArgumentException(word);
        };
    }

    private static PreparedDevice prepared(String word) {
        PreparedDevice device = plain(device(word));
        if (word.endsWith("=plain")) {
            return device;
        } else if (word.endsWith("+metadata")) {
            return prepared(word.replace("+metadata", "")).withMetadata(EMPTY);
        }
        return device.withStatus(status(word));
    }

    /** Returns what each device's entry says that was applied last, or "-" if it says nothing of that. */
    private String last(String pointer) throws IOException {
        List<String> parts = new ArrayList<>();
        for (String device : statuses.last().devices()) {
            JsonNode part = JSON.readTree(device).at(pointer);
            parts.add(part.isMissingNode() ? "-" : part.asText());
        }
        return list(parts.stream());
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        Stream<String> devices = Stream.of(words).skip(1);
        switch (words[0]) {
            case "hold" ->
                hold(
                        Phase.valueOf(words[1]),
                        devices.skip(1).map(ClaimReportsTest::device).toArray(AllocatedDevice[]::new));
            case "hold-none" -> held.clear();
            case "prepare" ->
                prepare("{}", devices.map(ClaimReportsTest::prepared).toArray(PreparedDevice[]::new));
            case "update" -> reports.updateStatus(CLAIM, device(words[1]).held(), status(words[1]));
            case "update-fails" ->
                assertThatThrownBy(() ->
                                reports.updateStatus(CLAIM, device(words[1]).held(), status(words[1])))
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            case "update-metadata" ->
                reports.updateMetadata(CLAIM, device(words[1]).held(), EMPTY);
            case "update-metadata-fails" ->
                assertThatThrownBy(() ->
                                reports.updateMetadata(CLAIM, device(words[1]).held(), EMPTY))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining(text);
            case "restart" -> start("v1beta1", "v1alpha1");
            case "crash" -> {
                loop.forget();
                start("v1beta1", "v1alpha1");
            }
            case "take-up" -> reports.reestablish(CLAIM.uid());
            case "end" -> reports.end(CLAIM.uid());
            case "end-earlier" -> reports.endEarlier(CLAIM);
            case "end-left" -> reports.endLeft(CLAIM.uid());
            case "advance" -> loop.advance(Duration.parse("PT" + words[1]));
            case "fail" -> statuses.fail(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "fail-by-bug" -> statuses.failures.add(new IllegalStateException("odd"));
            case "succeed" -> statuses.failures.clear();
            case "claim-is-gone" -> statuses.gone.add(CLAIM);
            case "end-while-it-is-applied" ->
                statuses.afterApply = () -> {
                    statuses.afterApply = () -> {};
                    reports.end(CLAIM.uid());
                    statuses.fail(1, 503);
                };
            default -> compare(words, text);
        }
    }

    private void compare(String[] words, String text) throws IOException {
        switch (words[0]) {
            case "tries" -> assertThat(statuses.tries).isEqualTo(Integer.parseInt(text));
            case "applied" -> assertThat(statuses.applied).hasSize(Integer.parseInt(text));
            case "waiting" -> assertThat(loop.waiting()).isEqualTo(Integer.parseInt(text));
            case "devices" -> assertThat(last("/device")).isEqualTo(text);
            case "ready" -> assertThat(last("/conditions/0/status")).isEqualTo(text);
            case "since" -> assertThat(last("/conditions/0/lastTransitionTime")).isEqualTo(text);
            case "message" -> assertThat(last("/conditions/0/message")).isEqualTo(text);
            case "interface" -> assertThat(last("/networkData/interfaceName")).isEqualTo(text);
            case "reports" ->
                assertThat(list(reports.claimUids().stream().sorted())).isEqualTo(text);
            case "file" -> Files.writeString(directory.resolve(words[1]), text);
            case "folder" -> Files.createDirectories(directory.resolve(words[1]));
            case "remove" -> Files.delete(directory.resolve(words[1]));
            case "there" -> assertThat(directory.resolve(words[1])).exists();
            case "gone" -> assertThat(directory.resolve(words[1])).doesNotExist();
            case "empty" -> assertThat(directory.resolve(words[1])).isEmptyDirectory();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("claim-reports.txt")
    void aStatusGoesToTheClusterUntilItsClaimEnds(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void aStatusIsAppliedLaterAndOnce() throws Exception {
        play("prepare gpu-0=ready gpu-1=plain\ntries : 0\nadvance 0S\nupdate gpu-0=ready\nadvance 0S\napplied : 1");

        assertThat(statuses.last().fieldManager()).isEqualTo("gpu.example.com/node");
        assertThat(entry(0)).isEqualTo(JSON.readTree("""
                        {"driver":"gpu.example.com","pool":"node","device":"gpu-0",
                         "conditions":[{"type":"Ready","status":"True","reason":"Up","message":"",
                           "lastTransitionTime":"2026-11-21T00:00:00Z"}]}
                        """));
    }

    @Test
    void partsThatTheApiWouldRefuseAreLoggedAndTheRestIsSent() throws Exception {
        play("prepare gpu-0=partly-bad gpu-1=ready\nadvance 0S\ntries : 1\ninterface : eth0, -\nready : -, True");

        assertThat(log.list).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.ERROR);
            assertThat(event.getFormattedMessage())
                    .contains("status.devices[gpu-0].conditions[0].reason: ", "\"no reason\"");
            assertThat(event.getKeyValuePairs()).extracting(pair -> pair.key).contains(LogField.CLAIM, LogField.DEVICE);
        });
    }

    @Test
    void aReportOfAClaimThatHasEndedIsRemovedOnceItCanBe() throws IOException {
        report();
        reports.end("uid-1");
        Path report = directory.resolve("reports/uid-1.json");
        Path unreadable = Files.createDirectory(directory.resolve("unreadable"));

        statuses.afterApply = () -> exchange(report, unreadable);
        run();
        statuses.afterApply = () -> {};
        exchange(report, unreadable);
        loop.advance(Duration.ofSeconds(1));

        assertThat(report).doesNotExist();
        assertThat(loop.waiting()).isZero();
    }

    private static void exchange(Path one, Path other) {
        try {
            Path aside = Files.move(one, one.resolveSibling("aside"));
            Files.move(other, one);
            Files.move(aside, other);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void entriesOfThisDriverAreToldFromThoseOfOthers() {
        report();
        String claim = "{\"status\":{\"devices\":[%s]}}";

        assertThat(reports.isReported(claim.formatted(statuses.last().devices().get(0))))
                .isTrue();
        assertThat(reports.isReported(claim.formatted("{\"driver\":\"other.example.com\"}")))
                .isFalse();
    }

    @Test
    void filesThatACrashLeftHalfWrittenAreRemovedAtTheStart() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("reports"));
        Path young = Files.writeString(folder.resolve("1.tmp"), "{"); // of another live process
        for (int i = 2; i < 10; i++) {
            Path old = Files.writeString(folder.resolve(i + ".tmp"), "{");
            Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
            Files.createSymbolicLink(folder.resolve("renamed-%d.tmp".formatted(i)), folder.resolve("uid-1.json"));
        }

        new ReportFiles(folder);

        assertThat(folder)
                .isDirectoryContaining(young::equals)
                .isDirectoryNotContaining(file -> Files.exists(file) && !file.equals(young));
    }

    @Test
    void anOddDirectoryConcernsReportsAlone() throws IOException {
        Files.writeString(directory.resolve("reports"), "no directory");

        assertThat(prepare("{}", plain(gpu0)).devices()).hasSize(1);
        reports.end(CLAIM.uid());

        assertThatThrownBy(() -> prepare("{}", plain(gpu0).withStatus(READY)))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("reports");
    }
}
