// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Writes of which the driver can't know whether they were done: none is done twice. */
class SliceDoubtIT {

    private static final int DEVICES = 130;
    private static final int SLICES = 3;
    private static final Predicate<RecordedRequest> CREATES = Requests.creates("resourceslices");

    private DevicesUnderTest gpus;
    private int number;

    @BeforeEach
    void start() throws Exception {
        gpus = new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES);
        gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.awaitWatching(0);
        number = gpus.driver.proxy.lastNumber();
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    @Test
    @Tag("DRA-SLICE-13")
    void anUpdateWhoseAnswerIsLostIsNotDoneTwice() throws Exception {
        gpus.driver.proxy.inject(
                Fault.dropAfterSend().on(Requests.updates("resourceslices")).times(SLICES));
        gpus.faults("gpu-0 NoSchedule hot", "gpu-70 NoExecute dead");

        gpus.awaitPool(
                p ->
                        p.settled(DEVICES)
                                && p.faults().get("gpu-0").equals("hot")
                                && p.faults().get("gpu-70").equals("dead"));

        assertThat(gpus.writesAfter(number)).as(gpus.driver.proxy.log()).hasSize(SLICES);
        printRequests("update, answer lost");
    }

    private void printRequests(String name) {
        System.out.printf(
                "DRA-SLICE-13, %s: %d writes%n%s%n",
                name,
                gpus.writesAfter(number).size(),
                gpus.driver.proxy.log(Requests.to("resourceslices").and(Requests.after(number))));
    }

    @Test
    @Tag("DRA-SLICE-13")
    void aCreateWhoseAnswerIsLostMakesNoSecondSlice() throws Exception {
        recreated("create, answer lost", Fault.dropAfterSend().on(CREATES).times(2));
    }

    @Test
    @Tag("DRA-SLICE-13")
    void aCreateThatMeetsAnotherOfItsNameIsRepeated() throws Exception {
        recreated("create, AlreadyExists", Fault.status(409, "AlreadyExists").on(CREATES).times(2));
    }

    /** Lets the driver write all slices again, under a fault. */
    private void recreated(String name, Fault fault) throws Exception {
        Set<String> placement = placement(gpus.pool());
        gpus.driver.proxy.inject(fault);

        new SliceTraffic(gpus.driver.api).wipe();

        SeenPool pool = gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.driver.proxy.awaitAll(
                PATIENCE, all -> all.stream().allMatch(r -> r.watch() || r.ended() != null));
        assertThat(placement(pool)).as("each device is in its old place").isEqualTo(placement);
        assertThat(gpus.slices()).as(gpus.driver.proxy.log()).hasSize(SLICES);
        printRequests(name);
    }

    private static Set<String> placement(SeenPool pool) {
        Set<String> placement = new TreeSet<>();
        for (JsonNode slice : pool.slices()) {
            placement.add(
                    String.join(
                            " ",
                            new TreeSet<>(slice.at("/spec/devices").findValuesAsText("name"))));
        }
        return placement;
    }
}
