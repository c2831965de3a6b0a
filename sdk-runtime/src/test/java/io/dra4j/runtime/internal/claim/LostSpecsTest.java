// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CDI specs that vanish while the driver runs, of containers that the kubelet will start again. */
@Isolated
class LostSpecsTest extends NodeFixture {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(SpecRepair.class, Level.WARN);

    @BeforeEach
    void prepare() {
        node.allocate(A, "gpu-0");
        node.allocate(B, "gpu-1");
        node.claims.recover();
        node.prepare(A);
        node.prepare(B);
        provider.calls.clear();
    }

    private void deleteSpecs() throws IOException {
        try (Stream<Path> files = Files.list(node.cdi)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void areWrittenAgainAsTheyWere() throws IOException {
        String before = Files.readString(node.spec("uid-a"));
        Files.delete(node.spec("uid-a"));

        node.claims.maintain();

        assertThat(node.spec("uid-a")).hasContent(before);
        assertThat(node.specs()).containsExactly("uid-a", "uid-b");
        assertThat(provider.calls).isEmpty();
        assertThat(node.events).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100})
    void areWrittenAgainIfTheyAreCutOff(int length) throws IOException {
        String before = Files.readString(node.spec("uid-a"));
        Files.writeString(node.spec("uid-a"), before.substring(0, length));

        node.claims.maintain();

        assertThat(node.spec("uid-a")).hasContent(before);
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
        deleteSpecs();
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
    void thatCannotBeWrittenAreReportedAndWrittenWhenTheyCan() throws IOException {
        deleteSpecs();
        Files.delete(node.cdi);
        Files.createFile(node.cdi);

        node.claims.maintain();
        assertThat(node.events)
                .singleElement()
                .satisfies(event -> assertThat(event.reason()).isEqualTo(Reason.SPECS_NOT_REPAIRED));
        Files.delete(node.cdi);
        node.claims.maintain();

        assertThat(node.specs()).containsExactly("uid-a", "uid-b");
    }

    @Test
    void ofUnpreparedClaimsStayGone() throws IOException {
        node.unprepare(A);

        node.claims.maintain();

        assertThat(node.specs()).containsExactly("uid-b");
    }
}
