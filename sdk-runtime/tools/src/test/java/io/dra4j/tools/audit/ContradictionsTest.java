// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.JournalLoss;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.testkit.Scenarios;
import io.dra4j.tools.audit.KubeletState.KubeletClaim;
import io.dra4j.tools.audit.Views.OtherCheckpoint;
import io.dra4j.tools.audit.Views.View;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each planted contradiction is found, once, and a healthy node has none. */
class ContradictionsTest {

    private static final long SEED = Long.getLong("dra4j.seed", 20);
    private static final int NODES = 1000;
    private static final String OTHER = "5f9b1c5e-0000-4000-8000-000000000001";

    private final NodeModel node = new NodeModel(new Random(SEED));

    private static final Map<String, UnaryOperator<Views>> BROKEN_VIEWS = Map.of(
            "journal-damaged",
            views -> with(
                    views, View.of(new JournalReading(views.recorded(), new JournalLoss(false, 2, Set.of(), true)))),
            "kubelet-state-damaged",
            views -> with(views, new KubeletState(List.of(), "its checksum is wrong")));

    private static final Map<String, Consumer<NodeModel>> PLANTED = planted();

    private static Map<String, Consumer<NodeModel>> planted() {
        Map<String, Consumer<NodeModel>> planted = new LinkedHashMap<>();
        planted.put("claim-damaged", node -> phase(node, Phase.DAMAGED));
        planted.put("claim-unfinished", node -> phase(node, Phase.UNPREPARING));
        planted.put("earlier-boot", ContradictionsTest::reboot);
        planted.put("device-held-twice", ContradictionsTest::holdTwice);
        planted.put("spec-missing", node -> node.specs.remove(node.first().ref().uid()));
        planted.put(
                "spec-lacks-device", node -> node.specs.put(node.first().ref().uid(), List.of("another")));
        planted.put("spec-unknown", node -> node.specs.put(OTHER, List.of(OTHER + "-gpu-0")));
        planted.put(
                "kubelet-forgot", node -> node.kubelet.remove(node.first().ref().uid()));
        planted.put("journal-lacks-claim", ContradictionsTest::lose);
        planted.put("claim-gone", ContradictionsTest::delete);
        planted.put(
                "claim-deleted-in-use", node -> node.claims.remove(node.first().ref()));
        planted.put("claim-replaced", ContradictionsTest::replace);
        planted.put("devices-differ", ContradictionsTest::reallocate);
        planted.put("device-gone", node -> node.devices.remove(0));
        planted.put("device-other-hardware", ContradictionsTest::swap);
        planted.put("other-checkpoint", node -> node.other.add(OTHER));
        return planted;
    }

    private static void lose(NodeModel node) {
        node.other.clear();
        node.journal.remove(node.first().ref().uid());
    }

    private static void phase(NodeModel node, Phase phase) {
        ClaimRecord claim = node.first();
        node.journal.put(claim.ref().uid(), copy(claim, claim.ref(), phase, NodeModel.BOOT));
    }

    private static ClaimRecord copy(ClaimRecord claim, ClaimRef ref, Phase phase, String boot) {
        return copy(claim, ref, phase, boot, claim.devices());
    }

    private static ClaimRecord copy(
            ClaimRecord claim, ClaimRef ref, Phase phase, String boot, List<HeldDevice> devices) {
        ClaimRecord.Results results = phase == Phase.PREPARED ? claim.results() : null;
        return new ClaimRecord(ref, phase, boot, devices, null, results, null, null, null);
    }

    private static ClaimRecord identified(ClaimRecord claim, @Nullable String physicalId) {
        HeldDevice device =
                claim.devices().get(0).toBuilder().physicalId(physicalId).build();
        return copy(claim, claim.ref(), claim.phase(), claim.bootId(), List.of(device));
    }

    private static void reboot(NodeModel node) {
        ClaimRecord claim = node.first();
        node.journal.put(claim.ref().uid(), copy(claim, claim.ref(), Phase.PREPARED, "boot-1"));
        node.specs.remove(claim.ref().uid());
    }

    private static void holdTwice(NodeModel node) {
        node.prepared(node.first().devices().get(0), true);
    }

    private static void delete(NodeModel node) {
        node.claims.remove(node.first().ref());
        node.kubelet.remove(node.first().ref().uid());
    }

    private static void replace(NodeModel node) {
        ClaimRef old = node.first().ref();
        node.claims.remove(old);
        ClaimRef now = new ClaimRef(old.namespace(), old.name(), OTHER);
        HeldDevice device = node.first().devices().get(0);
        node.claims.put(now, NodeModel.object(now, NodeModel.DRIVER, device));
    }

    private static void reallocate(NodeModel node) {
        ClaimRef ref = node.first().ref();
        HeldDevice other = HeldDevice.builder(
                        "gpu", node.first().devices().get(0).pool(), new DeviceName("gpu-1"))
                .build();
        node.claims.put(ref, NodeModel.object(ref, NodeModel.DRIVER, other));
    }

    private static void swap(NodeModel node) {
        ClaimRecord claim = node.first();
        node.journal.put(claim.ref().uid(), identified(claim, "GPU-before"));
        node.devices.set(0, Device.builder("gpu-0").physicalId("GPU-after").build());
        // others that have the device for administration know what it is now
        node.journal.replaceAll(
                (uid, one) -> uid.equals(claim.ref().uid()) || !holdsFirst(one) ? one : identified(one, null));
    }

    private static boolean holdsFirst(ClaimRecord claim) {
        return claim.devices().get(0).device().value().equals("gpu-0");
    }

    private static Views changed(
            Views all,
            View<JournalReading> journal,
            View<KubeletState> kubelet,
            View<Map<ClaimRef, ClaimObject>> claims,
            View<OtherCheckpoint> other) {
        return new Views(all.driver(), all.bootId(), journal, all.specs(), kubelet, claims, all.hardware(), other);
    }

    private static Views with(Views all, View<JournalReading> journal) {
        return changed(all, journal, all.kubelet(), all.claims(), all.other());
    }

    private static Views with(Views all, KubeletState kubelet) {
        return changed(all, all.journal(), View.of(kubelet), all.claims(), all.other());
    }

    private static Report report(Views views) {
        return Report.of("node node-1", Contradictions.of(views));
    }

    @Test
    void healthyNodesHaveNoContradictions() {
        Random seeds = new Random(SEED);
        int claims = 0;
        for (int i = 0; i < NODES; i++) {
            NodeModel node = new NodeModel(new Random(seeds.nextLong()));
            claims += node.journal.size();
            Report report = report(node.views());
            assertThat(report.findings()).as("node %s of seed %s", i, SEED).isEmpty();
            assertThat(report.exitStatus()).isEqualTo(Report.HEALTHY);
        }
        assertThat(claims).isGreaterThan(2 * NODES);
    }

    static List<String> ids() {
        return Contradictions.ids();
    }

    @ParameterizedTest
    @MethodSource("ids")
    void aPlantedContradictionIsFoundOnce(String id) {
        Random seeds = new Random(SEED);
        for (int i = 0; i < 50; i++) {
            NodeModel node = new NodeModel(new Random(seeds.nextLong()));
            if (id.equals("device-gone") || id.equals("device-other-hardware")) {
                forgetAdmins(node);
            }
            PLANTED.getOrDefault(id, unchanged -> {}).accept(node);
            Views views = BROKEN_VIEWS.getOrDefault(id, same -> same).apply(node.views());

            List<Finding> findings = report(views).findings();

            assertThat(findings).as("node %s", i).extracting(Finding::id).containsExactly(id);
            assertThat(findings.get(0).fix().get(0)).isNotBlank();
        }
    }

    /** One device that is gone is one finding for each claim that has it. */
    private static void forgetAdmins(NodeModel node) {
        List<String> uids = node.journal.values().stream()
                .filter(claim -> holdsFirst(claim) && claim.devices().get(0).adminAccess())
                .map(claim -> claim.ref().uid())
                .toList();
        node.other.clear();
        for (String uid : uids) {
            node.claims.remove(node.journal.remove(uid).ref());
            node.specs.remove(uid);
            node.kubelet.remove(uid);
        }
    }

    /** It may list claims of running pods. */
    @Test
    void aDamagedCheckpointIsRemovedFromADrainedNode() {
        Views all = node.views();
        View<OtherCheckpoint> other = View.of(new OtherCheckpoint(List.of(), "it is not JSON"));
        Views damaged = changed(all, all.journal(), all.kubelet(), all.claims(), other);

        assertThat(onlyMend(damaged))
                .containsExactly(
                        "kubectl drain node-1 --ignore-daemonsets --delete-emptydir-data",
                        "sudo rm " + all.driver().checkpoint(),
                        "kubectl uncordon node-1");
    }

    @Test
    void thePageListsAllChecks() throws Exception {
        assertThat(Files.readString(Path.of("../../docs-site/how-to/audit-a-node.md")))
                .contains(ids().stream().map(id -> "| `" + id + "` | ").toList());
    }

    @Test
    void aViewThatCannotBeReadIsNotHealthy() {
        Views all = node.views();
        Views blind = without(all, View.unread("the API server can't be reached"));

        Report report = report(blind);

        assertThat(report.findings()).isEmpty();
        assertThat(report.exitStatus()).isEqualTo(Report.INCOMPLETE);
        assertThat(report.text())
                .contains("not checked  kubelet-forgot", "there is no dra_manager_state")
                .contains("not checked  claim-replaced", "the API server can't be reached");
    }

    private static List<String> onlyMend(Views views) {
        List<Finding> findings = report(views).findings();
        assertThat(findings).hasSize(1);
        return findings.get(0).fix();
    }

    @Scenarios("contradiction-scenarios.txt")
    void theAdviceDependsOnWhatIsKnown(String scenario) {
        ClaimRef ref = node.first().ref();
        String filled = scenario.replace("{namespace}", ref.namespace())
                .replace("{name}", ref.name())
                .replace("{uid}", ref.uid())
                .replace("{other}", OTHER)
                .replace("{pod}", node.kubelet.get(ref.uid()).pods().get(0));
        UnaryOperator<Views> read = all -> all;
        for (String line : filled.split("\n")) {
            String[] words = line.split(" ", 2);
            switch (words[0]) {
                case "#" -> {} // its title
                case "plant" -> PLANTED.get(words[1]).accept(node);
                case "damage" -> damage(new ClaimRef("unknown", "unknown", ref.uid()));
                case "without-pods" -> node.kubelet.put(ref.uid(), new KubeletClaim(ref, List.of(), List.of()));
                case "object" -> object(words[1].split(" ", 2));
                case "unread" -> read = all -> blind(all, words[1].contains("claims"));
                case "fix" -> assertThat(fix(read)).containsExactly(words[1].split(" \\| "));
                case "begins" -> assertThat(fix(read).get(0)).startsWith(words[1]);
                case "ends" -> assertThat(fix(read).get(0)).endsWith(words[1]);
                case "found" -> assertFound(read.apply(node.views()), words[1].split(" ", 2));
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private void damage(ClaimRef nameless) {
        ClaimRecord damaged = copy(node.first(), nameless, Phase.DAMAGED, NodeModel.BOOT);
        node.journal.put(nameless.uid(), damaged);
    }

    private void object(String... uidAndJson) {
        node.claims.replaceAll((ref, claim) -> ref.uid().equals(uidAndJson[0])
                ? new ClaimObject(claim.uid(), claim.allocation(), claim.deviceClasses(), uidAndJson[1])
                : claim);
    }

    private List<String> fix(UnaryOperator<Views> read) {
        return onlyMend(read.apply(node.views()));
    }

    private static void assertFound(Views views, String... idAndWords) {
        assertThat(report(views).findings()).singleElement().satisfies(one -> {
            assertThat(one.id()).isEqualTo(idAndWords[0]);
            assertThat(one.toString()).contains(idAndWords);
        });
    }

    /** The views without the kubelet's record, and without the claims of the API server. */
    private static Views blind(Views all, boolean claimsToo) {
        return without(all, claimsToo ? View.unread("no API") : all.claims());
    }

    /** The views without the kubelet's record, and with these claims. */
    private static Views without(Views views, View<Map<ClaimRef, ClaimObject>> claims) {
        return changed(views, views.journal(), View.unread("there is no dra_manager_state"), claims, views.other());
    }

    @Test
    void theKubeletsClaimIsThatOfTheUid() {
        String uid = node.first().ref().uid();
        assertThat(node.views().kubeletClaim(uid))
                .contains(node.kubelet.get(uid))
                .hasValueSatisfying(one -> assertThat(one.pods()).isNotEmpty());
        assertThat(node.views().kubeletClaim(OTHER)).isEmpty();
        assertThat(blind(node.views(), false).kubeletClaim(uid)).isEmpty();
    }
}
