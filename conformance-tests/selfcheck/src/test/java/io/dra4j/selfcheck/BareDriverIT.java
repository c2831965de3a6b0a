// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static io.dra4j.selfcheck.BareBench.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The driver that has no fault, or the others would prove nothing. */
class BareDriverIT {

    private BareBench bench;

    @BeforeEach
    void prepareTheNode() throws Exception {
        bench = new BareBench(BareProgram.command());
    }

    @AfterEach
    void clear() {
        bench.close();
    }

    @Test
    void preparesRepeatsAndUnpreparesInBothVersions() throws Exception {
        start();
        KubeletClaim claim = bench.allocate("one", "gpu-0", "gpu-1");

        ClaimAnswer first = answer(bench.prepare(claim), claim);
        CallResult again = bench.kubelet.prepare(DRIVER, List.of(claim), Service.V1BETA1);

        assertThat(first.devices()).hasSize(2);
        assertThat(answer(again, claim).devices()).isEqualTo(first.devices());
        assertThat(bench.specs()).hasSize(1);
        KubeletClaim rival = bench.allocate("two", "gpu-1");
        assertThat(bench.prepare(rival).complaint()).get().asString().contains("is held by");
        assertThat(bench.unprepare(claim, rival).complaint()).isEmpty();
        assertThat(bench.specs()).isEmpty();
        assertThat(bench.prepare(rival).complaint()).isEmpty();
    }

    @Test
    void remembersClaimsOverACrash() throws Exception {
        start();
        KubeletClaim claim = bench.allocate("one", "gpu-0");
        ClaimAnswer first = answer(bench.prepare(claim), claim);
        List<JsonNode> slices = bench.awaitSlices(1);

        restartAfterKill();

        assertThat(answer(bench.prepare(claim), claim).devices()).isEqualTo(first.devices());
        assertThat(bench.prepare(bench.allocate("two", "gpu-0")).complaint()).isPresent();
        bench.deleteObject(claim);
        assertThat(bench.unprepare(claim).complaint()).isEmpty();
        assertThat(bench.specs()).isEmpty();
        assertThat(bench.awaitSlices(1)).isEqualTo(slices);
        assertThat(bench.terminate()).isZero();
        assertThat(bench.registry).isEmptyDirectory();
    }

    @Test
    void makesADamagedStateAnew() throws Exception {
        start();
        KubeletClaim claim = bench.allocate("one", "gpu-0");
        answer(bench.prepare(claim), claim);
        Path state = bench.plugins.resolve(DRIVER).resolve("state.json");

        Files.writeString(state, Files.readString(state).substring(0, 20));

        assertThat(bench.prepare(bench.allocate("two", "gpu-0")).complaint()).isPresent();
        assertThat(bench.unprepare(claim).complaint()).isEmpty();
        assertThat(bench.specs()).isEmpty();
    }

    @Test
    void mendsSlicesAndSurvivesTroubleOfTheApi() throws Exception {
        bench.proxy.inject(
                Fault.status(500, "trouble").on(Requests.writes("resourceslices")).times(2));
        start("--num-devices", "130");
        List<JsonNode> slices = bench.awaitSlices(2);

        bench.api.store().delete("resourceslices", "", slices.get(0).at("/metadata/name").asText());

        bench.awaitSlices(
                found -> found.size() == 2 && !found.containsAll(slices) && settled(found));
        bench.proxy.cutWatches();
        bench.api.store().list("resourceslices").forEach(this::tamper);
        bench.awaitSlices(found -> found.size() == 2 && settled(found) && devices(found) == 130);
        bench.proxy.down();
        KubeletClaim claim = bench.allocate("one", "gpu-129");
        assertThat(bench.prepare(claim).complaint()).isPresent();
        assertThat(bench.unprepare(claim).complaint()).isEmpty();
        bench.proxy.up();
        assertThat(bench.prepare(claim).complaint()).isEmpty();
    }

    @Test
    void publishesTaintsPartitionsAndWhatIsPluggedIn() throws Exception {
        Path faults = bench.root.resolve("faults");
        start("--gpu-partitions", "2", "--num-devices", "2", "--fault-file", faults.toString());
        bench.awaitSlices(found -> found.size() == 2 && devices(found) == 6 && settled(found));

        Files.writeString(faults, "gpu-0-full NoSchedule broken\ngpu-1-full absent\n");

        bench.awaitSlices(found -> devices(found) == 5 && found.toString().contains("timeAdded"));
        KubeletClaim part = bench.allocate("part", "gpu-0-partition-1");
        assertThat(bench.prepare(part).complaint()).isEmpty();
        assertThat(bench.prepare(bench.allocate("full", "gpu-0-full")).complaint()).isPresent();
    }

    private void tamper(JsonNode slice) {
        ObjectNode changed = slice.deepCopy();
        ((ObjectNode) changed.path("spec")).putArray("devices").addObject().put("name", "foreign");
        bench.api.store().put(changed);
    }

    private static boolean settled(List<JsonNode> slices) {
        return slices.stream().map(slice -> slice.at("/spec/pool").toString()).distinct().count()
                        == 1
                && slices.get(0).at("/spec/pool/resourceSliceCount").asInt() == slices.size();
    }

    private static int devices(List<JsonNode> slices) {
        return slices.stream().mapToInt(slice -> slice.at("/spec/devices").size()).sum();
    }

    private void start(String... options) throws Exception {
        bench.start(options);
        bench.awaitRegistered();
    }

    private void restartAfterKill() throws Exception {
        int before = bench.kubelet.events().size();
        bench.kill();
        bench.start();
        bench.awaitRegisteredAfter(before);
    }

    private ClaimAnswer answer(CallResult result, KubeletClaim claim) {
        assertThat(result.complaint()).as(bench::log).isEmpty();
        return result.answers().get(claim.uid());
    }
}
