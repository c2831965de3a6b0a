// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import ch.qos.logback.classic.Level;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Failed;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.claim.LostClaims.DamagedDevices;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims whose records or specs are gone or damaged. */
@Isolated
class LostClaimsTest extends NodeFixture {

    @BeforeEach
    void prepare() {
        node.claims.recover();
        node.allocate(A, "gpu-0");
        node.prepare(A);
        node.allocate(B, "gpu-0");
    }

    private void loseTheJournal(String boot) throws IOException {
        node.stop();
        Files.delete(node.data.resolve("claims.journal"));
        Files.delete(node.data.resolve("claims.lock"));
        node.recover(boot);
    }

    /** Cuts the journal at the end of a line: only the lock file shows what is lost. */
    private void cutTheJournal() throws IOException {
        node.stop();
        Path journal = node.data.resolve("claims.journal");
        String all = Files.readString(journal);
        Files.writeString(journal, all.substring(0, all.indexOf('\n') + 1));
        node.recover("boot-1");
    }

    @Nested
    class ASpecWithoutARecord {

        @Test
        void isHeldAsDamagedWithTheDevicesThatItNames() throws IOException {
            loseTheJournal("boot-1");

            HeldClaim held = node.claims.held().get(0);
            assertThat(held.phase()).isEqualTo(Phase.DAMAGED);
            assertThat(held.ref().uid()).isEqualTo("uid-a");
            assertThat(held.devices()).extracting(d -> d.device().value()).containsExactly("gpu-0");
            assertThat(message(node.prepare(B))).contains("gpu-0 is held by another claim");
            assertThat(node.events).extracting(DriverEvent::reason).contains(Reason.JOURNAL_DAMAGED);
        }

        @Test
        void isUnpreparedWithoutAnyState() throws IOException {
            loseTheJournal("boot-1");

            assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);

            assertThat(provider.calls).containsExactly("unprepare uid-a");
            assertThat(provider.unprepared.get(0).state()).isNull();
            assertThat(node.specs()).isEmpty();
            node.api.objects.remove(A);
            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);
        }

        @Test
        void getsItsNameFromTheApiServer() throws IOException {
            loseTheJournal("boot-1");
            node.allocate(B, "gpu-1");

            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);

            assertThat(node.claims.held()).extracting(HeldClaim::ref).contains(A);
        }

        @Test
        void ofAnEarlierBootIsRemovedAndNotHeld() throws IOException {
            loseTheJournal("boot-2");

            assertThat(node.specs()).isEmpty();
            assertThat(node.claims.held()).isEmpty();
            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);
        }
    }

    @Nested
    class ALossThatNothingNames {

        @BeforeEach
        void withoutSpecs() throws IOException {
            Files.delete(node.spec("uid-a"));
        }

        @Test
        void isFoundAtTheApiServerBeforeAnyClaimIsPrepared() throws IOException {
            cutTheJournal();

            assertThat(message(node.prepare(B))).contains("gpu-0 is held by another claim");
            assertThat(node.claims.held()).extracting(HeldClaim::phase).contains(Phase.DAMAGED);
            assertThat(provider.calls).doesNotContain("prepare uid-b");
        }

        @Test
        void isNoneOfAClaimThatIsNeverPrepared() throws IOException {
            node.allocate(A, NodeUnderTest.result("gpu-0", "*"));
            cutTheJournal();

            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);
        }

        /** The API server has the claim as before, until its pod is gone. */
        @Test
        void isNoneOfAClaimThatWasUnpreparedSince() throws IOException {
            cutTheJournal();
            assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);

            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);
            assertThat(node.claims.held()).extracting(HeldClaim::ref).containsExactly(B);
        }

        @Test
        void isOneOfAClaimThatWasPreparedAgainSinceItWasUnprepared() throws IOException {
            assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);
            assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
            Path journal = node.data.resolve("claims.journal");
            List<String> lines = Files.readAllLines(journal);
            Files.write(journal, lines.subList(0, 1)); // the lock file knows of the others

            assertThat(message(node.prepare(B))).contains("gpu-0 is held by another claim");
        }

        @Test
        void keepsAllFromBeingPreparedWhileTheApiServerCannotBeAsked() throws IOException {
            cutTheJournal();
            ClaimRef other = new ClaimRef("ns", "c", "uid-c");
            node.allocate(other, "gpu-1");
            node.api.listFailure = new ClusterException("503 for now", 503, null);

            assertThat(message(node.prepare(other)))
                    .contains("journal was damaged")
                    .contains("503");
            assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);
            node.api.listFailure = null;
            assertThat(node.prepare(other)).isInstanceOf(Prepared.class);
        }

        @Test
        void isNotForgottenByARestart() throws IOException {
            cutTheJournal();

            node.stop();
            node.recover("boot-1");

            assertThat(message(node.prepare(B))).contains("gpu-0 is held by another claim");
        }
    }

    @Nested
    class AStart {

        @Test
        void isNotEndedByACdiDirectoryThatIsNone() throws IOException {
            node.stop();
            Files.delete(node.spec("uid-a"));
            Files.delete(node.cdi);
            Files.writeString(node.cdi, "a file");
            node.start("boot-1");

            assertThatCode(() -> node.claims.recover()).doesNotThrowAnyException();
            assertThat(node.events).extracting(DriverEvent::reason).contains(Reason.SPECS_NOT_REPAIRED);

            Files.delete(node.cdi);
            node.claims.maintain();
            assertThat(node.specs()).containsExactly("uid-a");
        }

        @Test
        void leavesAClaimToTheProcessThatWorksOnIt() throws IOException {
            Files.delete(node.spec("uid-a"));
            node.whileBusy(A, node.claims::recover);
            assertThat(node.specs()).isEmpty();
            assertThat(node.events).isEmpty();
        }
    }

    /** Devices of a claim whose record is damaged or lost are kept from others, no matter who finds it. */
    @Nested
    class DamagedRecords {

        private Path file;

        @BeforeEach
        void withoutAnotherClaim() {
            file = node.data.resolve("claims.journal");
            node.api.objects.remove(B);
        }

        @Test
        void keepTheirDevicesThoughAnotherProcessFoundTheDamage() throws IOException {
            blankTheClaims();
            Files.delete(node.spec("uid-a"));
            Journal.open(file, "boot-1", node.locks, Meters.none()).close(); // compacts it

            node.allocate(B, "gpu-0");
            assertThat(node.prepare(B)).isInstanceOf(Failed.class);

            assertThat(node.phase(A)).isEqualTo(Phase.DAMAGED);
            assertThat(node.api.lists).hasValue(1);
            assertThat(node.events).extracting(DriverEvent::reason).containsExactly(Reason.JOURNAL_DAMAGED);
            assertThat(node.prepare(B)).isInstanceOf(Failed.class);
            assertThat(node.api.lists).hasValue(1);
        }

        @Test
        void keepTheDevicesOfDamagedLinesBesidesThoseOfTheLastIntactOne() throws IOException {
            int intact = Files.readAllLines(file).size();
            node.allocate(A, "gpu-1");
            assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
            damageFrom(intact);
            assertThat(devicesOfA()).containsExactly("gpu-0");

            node.allocate(B, "gpu-1");
            assertThat(node.prepare(B)).isInstanceOf(Failed.class);

            assertThat(devicesOfA()).containsExactly("gpu-1", "gpu-0");
        }

        @Test
        void keepTheDevicesOfTheirSpecThoughTheApiServerKnowsThemNoMore() throws IOException {
            int intact = Files.readAllLines(file).size();
            node.allocate(A, "gpu-1");
            node.prepare(A);
            damageFrom(intact);

            node.api.objects.remove(A);
            node.allocate(B, "gpu-1");
            assertThat(node.prepare(B)).isInstanceOf(Failed.class);

            assertThat(devicesOfA()).containsExactly("gpu-0", "gpu-1");
        }

        @Test
        void areUndoneByAnUnprepareThoughNothingNamesThem() throws IOException {
            loseAll();
            node.api.failure = new ClusterException("503 for now", 503, null);

            assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);

            assertThat(provider.calls).containsExactly("unprepare uid-a");
            HeldClaim undone = provider.unprepared.get(0);
            assertThat(undone.phase()).isEqualTo(Phase.DAMAGED);
            assertThat(undone.state()).isNull();
            assertThat(node.claims.held()).isEmpty();
        }

        @Test
        void areSoughtAgainIfAnotherProcessHadTheirLock() throws IOException {
            loseAll();
            node.allocate(B, "gpu-0");

            node.whileBusy(A, () -> assertThat(node.prepare(B)).isInstanceOf(Failed.class));
            assertThat(node.journal.claim("uid-a")).isEmpty();
            assertThat(node.prepare(B)).isInstanceOf(Failed.class);

            assertThat(node.phase(A)).isEqualTo(Phase.DAMAGED);
        }

        private void loseAll() throws IOException {
            node.stop();
            Files.delete(file);
            Files.delete(node.spec("uid-a"));
            node.recover("boot-1");
        }

        private List<String> devicesOfA() {
            return node.journal.claim("uid-a").orElseThrow().devices().stream()
                    .map(HeldDevice::device)
                    .map(Object::toString)
                    .toList();
        }

        /** Overwrites all lines but the header, in place. */
        private void blankTheClaims() throws IOException {
            String text = Files.readString(file);
            int header = text.indexOf('\n');
            String blank = text.substring(0, header) + text.substring(header).replaceAll(".", "x");
            Files.writeString(file, blank, StandardOpenOption.WRITE);
        }

        /** Spoils the sums of all lines behind the first ones, and restarts; the UIDs stay legible. */
        private void damageFrom(int line) throws IOException {
            node.stop();
            List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
            for (int i = line; i < lines.size(); i++) {
                lines.set(i, lines.get(i).replace("crc32c", "crc32x"));
            }
            Files.write(file, lines);
            node.recover("boot-1");
        }
    }

    @Test
    void namesInASpecAreReadBackIntoDevicesAndShares() {
        String share = "0f8fad5b-d9cb-469f-a165-70867728950e";

        assertThat(DamagedDevices.named(
                        "uid-a",
                        List.of("uid-a-gpu-0-" + share, "uid-a-gpu-1.1", "uid-ab-gpu-0"),
                        provider.inventory()))
                .extracting(d -> d.device() + " " + d.shareId())
                .containsExactly("gpu-0 " + share, "gpu-1 null");
    }

    /** CDI specs that vanish while the driver runs, of containers that the kubelet will start again. */
    @Nested
    class Specs {

        @RegisterExtension
        final LoggedEvents log = new LoggedEvents(SpecRepair.class, Level.WARN);

        @BeforeEach
        void prepareBoth() {
            node.allocate(B, "gpu-1");
            node.prepare(B);
            provider.calls.clear();
        }

        @ParameterizedTest
        @ValueSource(ints = {-1, 0, 100})
        void areWrittenAgainAsTheyWereIfTheyAreGoneOrCutOff(int length) throws IOException {
            String before = Files.readString(node.spec("uid-a"));
            Files.delete(node.spec("uid-a"));
            if (length >= 0) {
                Files.writeString(node.spec("uid-a"), before.substring(0, length));
            }

            node.claims.maintain();

            assertThat(node.spec("uid-a")).hasContent(before);
            assertThat(node.specs()).containsExactly("uid-a", "uid-b");
            assertThat(provider.calls).isEmpty();
            assertThat(node.events).isEmpty();
        }

        @Test
        @Timeout(20)
        void areWrittenAgainWhileTheUnprepareOfAnOrphanHangs() throws Exception {
            CountDownLatch hangs = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            provider.onUnprepare = claim -> {
                hangs.countDown();
                end.await();
            };
            node.api.objects.remove(A);
            while (!hangs.await(10, TimeUnit.MILLISECONDS)) {
                node.now = node.now.plus(Duration.ofMinutes(10));
                node.claims.maintain();
            }
            Files.delete(node.spec("uid-b"));

            node.claims.maintain();

            assertThat(node.specs()).contains("uid-b");
            end.countDown();
        }

        @Test
        void areWrittenAgainWithTheirDirectory() throws IOException {
            Files.delete(node.spec("uid-a"));
            Files.delete(node.spec("uid-b"));
            Files.delete(node.cdi);

            node.claims.maintain();

            assertThat(node.specs()).containsExactly("uid-a", "uid-b");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(node.cdi)))
                    .isEqualTo("rwxr-xr-x");
        }

        @Test
        void ofAClaimThatIsWorkedOnAreLeftToThatWork() throws IOException {
            Files.delete(node.spec("uid-a"));

            node.whileBusy(A, node.claims::maintain);
            assertThat(node.specs()).containsExactly("uid-b");
            assertThat(log.list).isEmpty();
            node.claims.maintain();

            assertThat(node.specs()).containsExactly("uid-a", "uid-b");
            assertThat(log.list).hasSize(1);
        }

        @Test
        void ofUnpreparedClaimsStayGone() throws IOException {
            node.unprepare(A);

            node.claims.maintain();

            assertThat(node.specs()).containsExactly("uid-b");
        }
    }
}
