// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Isolated
class ClaimReportsTest extends ReportsUnderTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(ClaimReports.class, Level.ERROR);

    private static final DeviceStatus PARTLY_BAD = DeviceStatus.builder()
            .condition(new Condition("Ready", ConditionStatus.FALSE, "no reason", ""))
            .networkData(new NetworkData("eth0", List.of(), null))
            .build();

    @Nested
    class Status {

        @Test
        void isAppliedLaterAndOnce() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY), plain(gpu1));
            assertThat(statuses.tries).isZero();

            run();
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            run();

            assertThat(statuses.applied).hasSize(1);
            assertThat(statuses.last().fieldManager()).isEqualTo("gpu.example.com/node");
            assertThat(entry(0)).isEqualTo(JSON.readTree("""
                                    {"driver":"gpu.example.com","pool":"node","device":"gpu-0",
                                     "conditions":[{"type":"Ready","status":"True","reason":"Up","message":"",
                                       "lastTransitionTime":"2026-11-21T00:00:00Z"}]}
                                    """));
        }

        @Test
        void keepsTheTimeOfAConditionUntilItChanges() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY));
            loop.advance(Duration.ofHours(1));
            reports.updateStatus(
                    CLAIM, gpu0.held(), DeviceStatus.of(new Condition("Ready", ConditionStatus.TRUE, "StillUp", "")));
            run();
            assertThat(entry(0).at("/conditions/0/lastTransitionTime").asText()).isEqualTo("2026-11-21T00:00:00Z");

            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            run();
            assertThat(entry(0).at("/conditions/0/lastTransitionTime").asText()).isEqualTo("2026-11-21T01:00:00Z");
        }

        @ParameterizedTest
        @CsvSource({"gpu-0,, gpu-1,", "gpu-0, share-1, gpu-0, share-2"})
        void ofOneIsUpdatedBesideThatOfAnother(String device, String share, String other, String otherShare)
                throws IOException {
            AllocatedDevice one = device("r", null, device, share);
            AllocatedDevice two = device("r", null, other, otherShare);
            hold(Phase.PREPARED, one, two);
            prepare("{}", plain(one).withStatus(READY), plain(two).withStatus(READY));
            reports.updateStatus(CLAIM, two.held(), BROKEN);
            run();

            assertThat(statuses.applied).hasSize(1);
            assertReady("True", "False");
        }

        private void assertReady(String... statuses) throws IOException {
            for (int i = 0; i < statuses.length; i++) {
                assertThat(entry(i).at("/conditions/0/status").asText()).isEqualTo(statuses[i]);
            }
        }

        @Test
        void survivesARestart() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY), plain(gpu1).withStatus(READY));
            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            start();
            run(); // what the first life still had to do
            int before = statuses.applied.size();

            reports.reestablish("uid-1");
            run();

            assertThat(statuses.applied).hasSize(before + 1);
            assertReady("True", "False");
        }

        /** In a rolling update, the other one may have stopped before it had sent it. */
        @Test
        void thatAnotherProcessWroteIsSentWithAnUpdateOfMetadata() throws IOException {
            hold(Phase.PREPARED, gpu0);
            prepare("{}", plain(gpu0).withStatus(READY).withMetadata(EMPTY));
            start();
            run();
            int before = statuses.applied.size();

            reports.updateMetadata(CLAIM, gpu0.held(), EMPTY);
            run();
            assertThat(statuses.applied).hasSize(before + 1);

            reports.updateMetadata(CLAIM, gpu0.held(), EMPTY);
            run();
            assertThat(statuses.applied).hasSize(before + 1);
        }

        @Test
        void ofAnEarlierPreparationIsEndedByWhoFindsItsEnd() throws IOException {
            report();
            statuses.fail(1, 503);
            reports.end(CLAIM.uid());
            start();

            reports.reestablish(CLAIM.uid());
            run();

            assertThat(statuses.last().devices()).isEmpty();
            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void thatWasReportedWhileTheClaimIsPreparedIsAppliedAfterwards() throws IOException {
            hold(Phase.PREPARING, gpu0);
            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            run();
            assertThat(statuses.tries).isZero();

            prepare("{}", plain(gpu0));
            run();
            assertThat(entry(0).at("/conditions/0/status").asText()).isEqualTo("False");
        }

        @Test
        void ofADeviceThatTheClaimDoesNotHoldIsDropped() throws IOException {
            hold(Phase.PREPARED, gpu1);
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            hold(Phase.UNPREPARING, gpu0);
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            held.clear();
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            run();

            assertThat(statuses.tries).isZero();
            assertThat(directory).isEmptyDirectory();
        }

        @Test
        void isRemovedWhenTheClaimEndsIfThereIsOne() {
            reports.end(CLAIM.uid());
            run();

            assertThat(statuses.tries).isZero();

            report();

            reports.end(CLAIM.uid());
            run();

            assertThat(statuses.last().devices()).isEmpty();
            assertThat(statuses.applied).hasSize(2);
            assertThat(directory.resolve("reports")).isEmptyDirectory();
        }

        @Test
        void hasTheRestWhenThePartsThatTheApiWouldRefuseAreLeftOut() throws IOException {
            prepare("{}", plain(gpu0).withStatus(PARTLY_BAD), plain(gpu1).withStatus(READY));
            run();

            assertThat(log.list).singleElement().satisfies(event -> {
                assertThat(event.getLevel()).isEqualTo(Level.ERROR);
                assertThat(event.getFormattedMessage())
                        .contains("status.devices[gpu-0].conditions[0].reason: ", "\"no reason\"");
                assertThat(event.getKeyValuePairs())
                        .extracting(pair -> pair.key)
                        .contains(LogField.CLAIM, LogField.DEVICE);
            });
            assertThat(statuses.tries).isEqualTo(1);
            assertThat(entry(0).at("/networkData/interfaceName").asText()).isEqualTo("eth0");
            assertThat(entry(0).has("conditions")).isFalse();
            assertThat(entry(1).has("conditions")).isTrue();
        }

        @Test
        void isUpdatedByTheRestBeforeTheWrongPartsAreThrown() throws IOException {
            report();

            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> reports.updateStatus(CLAIM, gpu0.held(), PARTLY_BAD))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining("claim " + CLAIM + ", device gpu-0; ")
                        .hasMessageContaining("conditions[0].reason: Invalid value: \"no reason\"");
                run();
            }

            assertThat(statuses.tries).isEqualTo(2);
            assertThat(entry(0).at("/networkData/interfaceName").asText()).isEqualTo("eth0");
            assertThat(entry(0).has("conditions"))
                    .as("the former one would mislead")
                    .isFalse();
        }
    }

    @Nested
    class Failures {

        @Test
        void areRetriedLessAndLessOften() {
            statuses.fail(9, 403);
            prepare("{}", plain(gpu0).withStatus(READY));

            List<Integer> tries = new ArrayList<>();
            for (int seconds : List.of(0, 1, 2, 4, 8, 16, 32, 64, 120, 120)) {
                loop.advance(Duration.ofSeconds(seconds));
                tries.add(statuses.tries);
            }

            assertThat(tries).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
            assertThat(statuses.applied).hasSize(1);
            assertThat(loop.waiting()).isZero();
        }

        @Test
        void ofABugAreRetriedToo() {
            statuses.failures.add(new IllegalStateException("odd"));
            prepare("{}", plain(gpu0).withStatus(READY));
            loop.advance(Duration.ofSeconds(1));

            assertThat(statuses.applied).hasSize(1);
        }

        @Test
        void makeWayForWhatIsWantedNow() {
            statuses.fail(5, 500);
            report();
            statuses.failures.clear();

            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            run();
            loop.advance(Duration.ofHours(1));

            assertThat(statuses.applied).hasSize(1);
            assertThat(statuses.last().devices().get(0)).contains("unplugged");
        }

        @Test
        void ofAConflictAreRetriedWhileTheClaimIsTheSame() {
            statuses.fail(1, 409);
            prepare("{}", plain(gpu0).withStatus(READY));
            loop.advance(Duration.ofSeconds(1));
            assertThat(statuses.applied).hasSize(1);

            statuses.gone.add(CLAIM);
            statuses.fail(1, 409);
            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            loop.advance(Duration.ofHours(1));
            assertThat(statuses.applied).hasSize(1);
        }

        @Test
        void thatAreFinalAreNotRetried() {
            statuses.fail(1, 422);
            prepare("{}", plain(gpu0).withStatus(READY));
            loop.advance(Duration.ofHours(1));

            assertThat(statuses.tries).isEqualTo(1);
        }

        @Test
        void whileAClaimEndsAreTriedAgainAfterARestart() throws IOException {
            report();
            reports.end(CLAIM.uid()); // the process ends before the API server hears of it
            loop.forget();
            start();

            assertThat(reports.claimUids()).containsExactly("uid-1");
            reports.end("uid-1");
            statuses.fail(1, 503);
            loop.advance(Duration.ofMinutes(1));

            assertThat(statuses.last().devices()).isEmpty();
            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void toRemoveTheReportOfAClaimThatHasEndedAreTriedAgain() throws IOException {
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
        void ofAnEndThatCameDuringAWriteAreTriedAgainAfterARestart() {
            statuses.afterApply = () -> {
                statuses.afterApply = () -> {};
                reports.end("uid-1");
                statuses.fail(1, 503);
            };
            report();

            assertThat(reports.claimUids()).containsExactly("uid-1");
        }

        @Test
        void ofAClaimThatIsOverAreNotEndedAgainWhileTheirEndWaits() {
            report();
            statuses.fail(1, 503);
            reports.end("uid-1");
            run();

            reports.endLeft("uid-1");
            run();
            assertThat(statuses.tries).isEqualTo(2);
            loop.advance(Duration.ofSeconds(1));
            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void ofThePowerThatTakeAReportEndWithItsEntries() throws IOException {
            report();

            String claim = "{\"status\":{\"devices\":[%s]}}";
            assertThat(reports.isReported(
                            claim.formatted(statuses.last().devices().get(0))))
                    .isTrue();
            assertThat(reports.isReported(claim.formatted("{\"driver\":\"other.example.com\"}")))
                    .isFalse();
            Files.writeString(directory.resolve("reports/uid-1.json"), "{torn");
            reports.endEarlier(CLAIM);
            run();

            assertThat(statuses.last().devices()).isEmpty();
            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void ofAnEarlierBootEndOnceThoughTheirReportIsKept() {
            report();
            statuses.fail(1, 503);

            reports.endEarlier(CLAIM);
            run();
            reports.endEarlier(CLAIM);
            run();
            assertThat(statuses.tries).as("it waits").isEqualTo(2);
            loop.advance(Duration.ofSeconds(1));

            assertThat(statuses.last().devices()).isEmpty();
            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void ofAnEarlierStatusAreNotTriedAgainOnceTheClaimHasEnded() throws IOException {
            statuses.fail(1, 503);
            report();
            new ReportFiles(directory.resolve("reports")).remove("uid-1"); // by another process

            loop.advance(Duration.ofMinutes(1));

            assertThat(statuses.last().devices()).isEmpty();
        }

        @Test
        void thatACrashLeftHalfWrittenAreRemovedAtTheStart() throws IOException {
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
        void ofAnOddDirectoryConcernReportsAlone() throws IOException {
            Files.writeString(directory.resolve("reports"), "no directory");

            assertThat(prepare("{}", plain(gpu0)).devices()).hasSize(1);
            reports.end(CLAIM.uid());

            assertThatThrownBy(() -> prepare("{}", plain(gpu0).withStatus(READY)))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("reports");
        }

        @Test
        void ofAReportThatSaysNothingCountAsNone() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY));
            Files.writeString(directory.resolve("reports/uid-1.json"), "null");

            reports.reestablish("uid-1");
            reports.end("uid-1");

            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void ofTheDiskNeverEndAStartOrKeepAClaim() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY));
            Files.writeString(directory.resolve("reports/uid-1.json"), "{torn");
            Files.createDirectories(directory.resolve("reports/uid-2.json/x"));

            assertThat(reports.claimUids()).contains("uid-1", "uid-2");
            reports.reestablish("uid-1");

            assertThat(directory.resolve("reports/uid-2.json")).exists();
            reports.end(CLAIM.uid());
            assertThat(directory.resolve("reports/uid-1.json")).doesNotExist();
        }
    }
}
