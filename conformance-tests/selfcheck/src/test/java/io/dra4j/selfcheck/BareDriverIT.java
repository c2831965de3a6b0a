// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The driver that has no fault, or the others would prove nothing. */
@Tag("gate")
class BareDriverIT {

    @AutoClose
    private TestNode node;

    @BeforeEach
    void prepareTheNode() throws Exception {
        node = BareProgram.node();
    }

    @Test
    void preparesRepeatsAndUnpreparesInBothVersions() throws Exception {
        start();
        KubeletClaim claim = node.allocate("one", "gpu-0", "gpu-1");

        ClaimResult first = answer(node.prepare(claim), claim);
        CallResult again = node.kubelet().prepare(BareProgram.DRIVER, List.of(claim), Service.V1BETA1);

        assertThat(first.devices()).hasSize(2);
        assertThat(answer(again, claim).devices()).isEqualTo(first.devices());
        assertThat(node.specs()).hasSize(1);
        KubeletClaim rival = node.allocate("two", "gpu-1");
        assertThat(node.prepare(rival).complaint()).get().asString().contains("is held by");
        assertThat(node.unprepare(claim, rival).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
        assertThat(node.prepare(rival).complaint()).isEmpty();
    }

    @Test
    void remembersClaimsOverACrash() throws Exception {
        start();
        KubeletClaim claim = node.allocate("one", "gpu-0");
        ClaimResult first = answer(node.prepare(claim), claim);
        List<JsonNode> slices = awaitSlices(1);

        restartAfterKill();

        assertThat(answer(node.prepare(claim), claim).devices()).isEqualTo(first.devices());
        assertThat(node.prepare(node.allocate("two", "gpu-0")).complaint()).isPresent();
        node.delete(claim);
        assertThat(node.unprepare(claim).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
        assertThat(awaitSlices(1)).isEqualTo(slices);
        assertThat(node.terminate()).isZero();
        assertThat(node.place().registry()).isEmptyDirectory();
    }

    @Test
    void replacesADamagedState() throws Exception {
        start();
        KubeletClaim claim = node.allocate("one", "gpu-0");
        answer(node.prepare(claim), claim);
        Path state = node.place().plugins().resolve(BareProgram.DRIVER).resolve("state.json");

        Files.writeString(state, Files.readString(state).substring(0, 20));

        assertThat(node.prepare(node.allocate("two", "gpu-0")).complaint()).isPresent();
        assertThat(node.unprepare(claim).complaint()).isEmpty();
        assertThat(node.specs()).isEmpty();
    }

    @Test
    void repairsSlicesAndSurvivesFaultsOfTheApi() throws Exception {
        node.proxy()
                .inject(Fault.status(500, "fault")
                        .on(Requests.writes("resourceslices"))
                        .times(2));
        start("--num-devices", "130");
        List<JsonNode> slices = awaitSlices(2);

        node.api()
                .store()
                .delete("resourceslices", "", slices.get(0).at("/metadata/name").asText());

        node.awaitSlices(found -> found.size() == 2 && !found.containsAll(slices) && settled(found));
        node.proxy().cutWatches();
        node.api().store().list("resourceslices").forEach(this::tamper);
        node.awaitSlices(found -> found.size() == 2 && settled(found) && devices(found) == 130);
        node.proxy().down();
        KubeletClaim claim = node.allocate("one", "gpu-129");
        assertThat(node.prepare(claim).complaint()).isPresent();
        assertThat(node.unprepare(claim).complaint()).isEmpty();
        node.proxy().up();
        assertThat(node.prepare(claim).complaint()).isEmpty();
    }

    @Test
    void publishesTaintsPartitionsAndWhatIsPluggedIn() throws Exception {
        Path faults = node.place().root().resolve("faults");
        start("--gpu-partitions", "2", "--num-devices", "2", "--fault-file", faults.toString());
        node.awaitSlices(found -> found.size() == 2 && devices(found) == 6 && settled(found));

        Files.writeString(faults, "gpu-0-full NoSchedule broken\ngpu-1-full absent\n");

        node.awaitSlices(found -> devices(found) == 5 && found.toString().contains("timeAdded"));
        KubeletClaim part = node.allocate("part", "gpu-0-partition-1");
        assertThat(node.prepare(part).complaint()).isEmpty();
        assertThat(node.prepare(node.allocate("full", "gpu-0-full")).complaint())
                .isPresent();
    }

    private void tamper(JsonNode slice) {
        ObjectNode changed = slice.deepCopy();
        ((ObjectNode) changed.path("spec")).putArray("devices").addObject().put("name", "foreign");
        node.api().store().put(changed);
    }

    private static boolean settled(List<JsonNode> slices) {
        return slices.stream()
                                .map(slice -> slice.at("/spec/pool").toString())
                                .distinct()
                                .count()
                        == 1
                && slices.get(0).at("/spec/pool/resourceSliceCount").asInt() == slices.size();
    }

    private static int devices(List<JsonNode> slices) {
        return slices.stream()
                .mapToInt(slice -> slice.at("/spec/devices").size())
                .sum();
    }

    private void start(String... options) throws Exception {
        node.start(options);
        node.awaitRegistered();
    }

    private List<JsonNode> awaitSlices(int count) {
        return node.awaitSlices(slices -> slices.size() == count);
    }

    private void restartAfterKill() throws Exception {
        node.kill();
        assertThat(node.startRegistered()).isTrue();
    }

    private ClaimResult answer(CallResult result, KubeletClaim claim) {
        assertThat(result.complaint()).as(node::log).isEmpty();
        return result.results().get(claim.uid());
    }
}
