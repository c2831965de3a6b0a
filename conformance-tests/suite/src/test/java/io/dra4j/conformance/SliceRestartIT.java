// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Restarts while the devices stay as they are. */
class SliceRestartIT {

    private static final int DEVICES = 130;
    private static final boolean FULL = Boolean.getBoolean("dra4j.full");

    private DevicesUnderTest gpus;
    private Map<String, String> versions;
    private int number;

    @BeforeEach
    void start() throws Exception {
        gpus = new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES);
        gpus.faults("gpu-0 NoSchedule hot", "gpu-129 NoExecute dead");
        versions = gpus.awaitPool(this::isAsWanted).versions();
        gpus.awaitWatching(0);
        number = gpus.driver.proxy.lastNumber();
    }

    private boolean isAsWanted(SeenPool pool) {
        return pool.settled(DEVICES)
                && pool.faults().get("gpu-0").equals("hot")
                && pool.faults().get("gpu-129").equals("dead");
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    @Test
    @Tag("DRA-SLICE-07")
    @Tag("DRA-SLICE-17")
    void gracefulStopsDeleteNothingAndRestartsWriteNothing() throws Exception {
        for (int restarts = 0; restarts < (FULL ? 3 : 1); restarts++) {
            assertThat(gpus.driver.terminate()).isZero();
            assertThat(gpus.driver.proxy.requests(Requests.deletes("resourceslices")))
                    .as(gpus.driver.proxy.log())
                    .isEmpty();
            assertThat(gpus.pool().versions()).isEqualTo(versions);
            gpus.restart();
        }
        assertNothingWasWritten("graceful");
    }

    @Test
    @Tag("DRA-SLICE-07")
    void restartsAfterSigkillWriteNothing() throws Exception {
        for (int restarts = 0; restarts < (FULL ? 2 : 1); restarts++) {
            gpus.restart();
        }
        assertNothingWasWritten("SIGKILL");
    }

    /** Lets one device recover: when that is written, all that a start writes has been written. */
    private void assertNothingWasWritten(String kind) throws Exception {
        assertThat(gpus.pool().versions()).isEqualTo(versions);
        gpus.faults("gpu-0 NoSchedule hot");
        SeenPool pool = gpus.awaitPool(p -> p.faults().get("gpu-129").isEmpty());

        List<RecordedRequest> writes = gpus.writesAfter(number);
        assertThat(writes).as(gpus.driver.proxy.log()).hasSize(1);
        assertThat(writes.get(0).name())
                .isEqualTo(pool.sliceOf("gpu-129").at("/metadata/name").asText());
        assertThat(versions).containsAllEntriesOf(otherThan(pool, "gpu-129"));
        System.out.printf(
                "DRA-SLICE-07, %s: 0 writes at the start%n%s%n", kind, gpus.driver.proxy.log());
    }

    private static Map<String, String> otherThan(SeenPool pool, String device) {
        Map<String, String> others = pool.versions();
        others.remove(pool.sliceOf(device).at("/metadata/name").asText());
        return others;
    }
}
