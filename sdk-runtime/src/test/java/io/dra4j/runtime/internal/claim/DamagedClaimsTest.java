// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.PrepareOutcome.Failed;
import io.dra4j.runtime.internal.claim.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Devices of a claim whose record is damaged or lost are kept from others, no matter who finds it.
 */
class DamagedClaimsTest extends NodeFixture {

    private Path file;

    @BeforeEach
    void prepare() {
        file = node.data.resolve("claims.journal");
        node.allocate(A, "gpu-0");
        node.prepare(A);
        node.claims.recover();
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
        assertThat(node.events)
                .extracting(DriverEvent::reason)
                .containsExactly(DriverEvent.Reason.JOURNAL_DAMAGED);
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
