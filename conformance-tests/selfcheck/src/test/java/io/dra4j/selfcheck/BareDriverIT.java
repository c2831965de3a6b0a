// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static io.dra4j.selfcheck.BareContext.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
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

    private BareContext context;

    @BeforeEach
    void prepareTheNode() throws Exception {
        context = new BareContext(BareProgram.command());
    }

    @AfterEach
    void clear() {
        context.close();
    }

    @Test
    void preparesRepeatsAndUnpreparesInBothVersions() throws Exception {
        start();
        KubeletClaim claim = context.allocate("one", "gpu-0", "gpu-1");

        ClaimResult first = answer(context.prepare(claim), claim);
        CallResult again = context.kubelet.prepare(DRIVER, List.of(claim), Service.V1BETA1);

        assertThat(first.devices()).hasSize(2);
        assertThat(answer(again, claim).devices()).isEqualTo(first.devices());
        assertThat(context.specs()).hasSize(1);
        KubeletClaim rival = context.allocate("two", "gpu-1");
        assertThat(context.prepare(rival).complaint()).get().asString().contains("is held by");
        assertThat(context.unprepare(claim, rival).complaint()).isEmpty();
        assertThat(context.specs()).isEmpty();
        assertThat(context.prepare(rival).complaint()).isEmpty();
    }

    @Test
    void remembersClaimsOverACrash() throws Exception {
        start();
        KubeletClaim claim = context.allocate("one", "gpu-0");
        ClaimResult first = answer(context.prepare(claim), claim);
        List<JsonNode> slices = context.awaitSlices(1);

        restartAfterKill();

        assertThat(answer(context.prepare(claim), claim).devices()).isEqualTo(first.devices());
        assertThat(context.prepare(context.allocate("two", "gpu-0")).complaint()).isPresent();
        context.deleteObject(claim);
        assertThat(context.unprepare(claim).complaint()).isEmpty();
        assertThat(context.specs()).isEmpty();
        assertThat(context.awaitSlices(1)).isEqualTo(slices);
        assertThat(context.terminate()).isZero();
        assertThat(context.registry).isEmptyDirectory();
    }

    @Test
    void makesADamagedStateAnew() throws Exception {
        start();
        KubeletClaim claim = context.allocate("one", "gpu-0");
        answer(context.prepare(claim), claim);
        Path state = context.plugins.resolve(DRIVER).resolve("state.json");

        Files.writeString(state, Files.readString(state).substring(0, 20));

        assertThat(context.prepare(context.allocate("two", "gpu-0")).complaint()).isPresent();
        assertThat(context.unprepare(claim).complaint()).isEmpty();
        assertThat(context.specs()).isEmpty();
    }

    @Test
    void mendsSlicesAndSurvivesTroubleOfTheApi() throws Exception {
        context.proxy.inject(
                Fault.status(500, "trouble").on(Requests.writes("resourceslices")).times(2));
        start("--num-devices", "130");
        List<JsonNode> slices = context.awaitSlices(2);

        context.api
                .store()
                .delete("resourceslices", "", slices.get(0).at("/metadata/name").asText());

        context.awaitSlices(
                found -> found.size() == 2 && !found.containsAll(slices) && settled(found));
        context.proxy.cutWatches();
        context.api.store().list("resourceslices").forEach(this::tamper);
        context.awaitSlices(found -> found.size() == 2 && settled(found) && devices(found) == 130);
        context.proxy.down();
        KubeletClaim claim = context.allocate("one", "gpu-129");
        assertThat(context.prepare(claim).complaint()).isPresent();
        assertThat(context.unprepare(claim).complaint()).isEmpty();
        context.proxy.up();
        assertThat(context.prepare(claim).complaint()).isEmpty();
    }

    @Test
    void publishesTaintsPartitionsAndWhatIsPluggedIn() throws Exception {
        Path faults = context.root.resolve("faults");
        start("--gpu-partitions", "2", "--num-devices", "2", "--fault-file", faults.toString());
        context.awaitSlices(found -> found.size() == 2 && devices(found) == 6 && settled(found));

        Files.writeString(faults, "gpu-0-full NoSchedule broken\ngpu-1-full absent\n");

        context.awaitSlices(found -> devices(found) == 5 && found.toString().contains("timeAdded"));
        KubeletClaim part = context.allocate("part", "gpu-0-partition-1");
        assertThat(context.prepare(part).complaint()).isEmpty();
        assertThat(context.prepare(context.allocate("full", "gpu-0-full")).complaint()).isPresent();
    }

    private void tamper(JsonNode slice) {
        ObjectNode changed = slice.deepCopy();
        ((ObjectNode) changed.path("spec")).putArray("devices").addObject().put("name", "foreign");
        context.api.store().put(changed);
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
        context.start(options);
        context.awaitRegistered();
    }

    private void restartAfterKill() throws Exception {
        int before = context.kubelet.events().size();
        context.kill();
        context.start();
        context.awaitRegisteredAfter(before);
    }

    private ClaimResult answer(CallResult result, KubeletClaim claim) {
        assertThat(result.complaint()).as(context::log).isEmpty();
        return result.answers().get(claim.uid());
    }
}
