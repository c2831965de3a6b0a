// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Failed;
import io.dra4j.runtime.internal.claim.LostClaims.DamagedDevices;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
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
class LostClaimsTest extends ScenarioNode {

    @BeforeEach
    void prepare() {
        node.claims.recover();
        node.allocate(A, "gpu-0");
        node.prepare(A);
        node.allocate(B, "gpu-0");
    }

    @Scenarios("lost-claims.txt")
    void claimsWhoseRecordsOrSpecsAreLostKeepTheirDevices(String scenario) throws Exception {
        play(scenario);
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

        /** Overwrites all lines but the header, in place. */
        private void blankTheClaims() throws IOException {
            String text = Files.readString(file);
            int header = text.indexOf('\n');
            String blank = text.substring(0, header) + text.substring(header).replaceAll(".", "x");
            Files.writeString(file, blank, StandardOpenOption.WRITE);
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
    }
}
