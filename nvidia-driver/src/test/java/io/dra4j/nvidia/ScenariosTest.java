// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.doctor.NvidiaChecks;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.FabricStandIn;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.runtime.ClaimPreview;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Partitions of the fabric, GPUs for virtual machines, time slices, and the doctor, by stand-ins of what they look at. */
@Tag("slow")
class ScenariosTest extends VfioOnBoards {

    private static final Path RESOURCES = Path.of("src/test/resources/io/dra4j/nvidia");

    private FabricStandIn manager;

    private PreparedClaim prepared;
    private String config = "";
    private NodeLock lock;

    private static Stream<String> scenarios(String file) throws IOException {
        return Stream.of(Files.readString(RESOURCES.resolve(file)).split("\n\n"))
                .skip(1);
    }

    private static Stream<String> ofFabric() throws IOException {
        return scenarios("fabric-scenarios.txt");
    }

    private static Stream<String> ofMachines() throws IOException {
        return Stream.concat(
                scenarios("vfio-scenarios.txt"),
                Stream.concat(scenarios("sharing-scenarios.txt"), scenarios("doctor-scenarios.txt")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ofFabric")
    void partitionsAreActivatedAndDeactivated(String scenario) throws Exception {
        shares = Shares.parse(scenario.contains("\nshares\n") ? "unlimited" : "");
        String library = scenario.contains("\nlibrary : ")
                ? scenario.split("\nlibrary : ")[1].split("\n")[0]
                : "";
        fabric = scenario.contains("\neffect\n") ? Effect.NO_EXECUTE : Effect.NONE;
        gates = "FabricManagerPartitioning=true,";
        begin("h100-80", false);
        manager = FabricStandIn.install(node, library.isEmpty() ? "fabric/now/libnvfm.so.1" : library);
        provider.inventory();
        preview = ClaimPreview.of("gpu.nvidia.com", provider);
        play(scenario);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ofMachines")
    void gpusAreTakenAndSharedAndExamined(String scenario) throws Exception {
        shares = Shares.parse(scenario.contains("\nshares\n") ? "unlimited" : "");
        begin(scenario.split("\nboards ")[1].split("\n")[0], false);
        play(scenario);
    }

    private void play(String scenario) throws Exception {
        for (String line : scenario.split("\n")) {
            String filled = line.replace("{root}", node.root().toString())
                    .replace("{library}", node.library().toString())
                    .replace("{gpu0}", gpu0)
                    .replace("{gpu1}", gpu1);
            for (int gpu = 0; gpu < kernel.gpus().size(); gpu++) {
                String address = kernel.gpus().get(gpu);
                filled = filled.replace("{pci%d}".formatted(gpu), address)
                        .replaceAll("\\{pci%d\\.(\\d)}".formatted(gpu), address.replace(".0", ".$1"));
            }
            String[] parts = filled.split(" : ", 2);
            run(parts[0].split(" "), parts.length == 1 ? "" : parts[1]);
        }
    }

    private void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "#", "library", "shares", "effect", "boards" -> {} // of the node
            case "is" -> assertThat(state(words)).isEqualTo(text);
            case "await" -> Await.until(text, SOON, () -> state(words).equals(text));
            case "has" -> assertThat(state(words)).contains(text);
            case "lacks" -> assertThat(state(words)).doesNotContain(text);
            case "config" -> config = words.length > 1 ? config(words[1], "", text) : "";
            case "prepare" -> prepared = claims.prepare(provider, allocated(words, "", text));
            case "admin" -> claims.prepare(provider, allocated(words, ", adminAccess: true", ""));
            case "error" ->
                assertThatThrownBy(() -> claims.prepare(provider, allocated(words, "", "")))
                        .hasMessageContaining(text);
            case "refuse" -> refuses(allocated(words, "", ""), text.split(" \\| "));
            case "unprepare" -> claims.unprepare(provider, ref(words[1]));
            case "keep" ->
                assertThatThrownBy(() -> claims.unprepare(provider, ref(words[1])))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining(text);
            case "crash" -> crash(Integer.parseInt(words[1]));
            case "read" -> provider.inventory();
            case "nothing-left" -> assertNothingIsLeft();
            case "lock" -> lock = context.lock(words[1], Duration.ZERO);
            case "unlock" -> lock.close();
            case "change" -> context.awaitChange();
            case "restart" -> restart();
            case "gates" -> {
                gates = text;
                restart();
            }
            case "record" -> {
                HeldClaim.Builder lost = HeldClaim.builder(ONE).phase(Phase.valueOf(text));
                claims.replace(lost.devices(claims.of(ONE).devices()).build());
            }
            case "earlier" ->
                claims.replace(claims.of(ONE).toBuilder().beforeReboot(true).build());
            case "lose" -> claims.held.removeIf(claim -> claim.ref().equals(ref(words[1])));
            default -> node(words, text);
        }
    }

    private void node(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "edit" -> manager.edit(text.split(" => ")[0], text.split(" => ")[1].replace("\\n", "\n"));
            case "fail" -> manager.edit("fault .*", "fault " + text);
            case "run" -> manager.run(Integer.parseInt(words[1]));
            case "set" -> hardware.set(Integer.parseInt(words[1]), words[2], Integer.parseInt(words[3]));
            case "mig" -> hardware.setMig(Integer.parseInt(words[1]), true);
            case "unseen" -> hardware.bound(Integer.parseInt(words[1]), false);
            case "process" -> DoctorOnBoards.process(node, Integer.parseInt(words[1]), words[2], text);
            case "open" -> Files.createSymbolicLink(folder.resolve(words[1]), Path.of(text));
            case "unloaded" -> hardware.loaded(false);
            case "reload" -> node.load(words[1]);
            case "persist" -> smi.setPersistent(words.length > 1 ? words[1] : address0);
            case "mode" -> smi.setMode(words[1], words[2]);
            case "slice" -> smi.setSlice(words[1], Integer.parseInt(words[2]));
            case "fails" -> smi.failAt(text, Integer.parseInt(words[1]));
            case "answer" -> smi.answer(text);
            case "mps" -> mps = MpsStandIn.install(node);
            case "kill" -> mps.processes().forEach(ProcessHandle::destroyForcibly);
            case "heal" -> smi.heal();
            case "forget" -> smi.forgetCalls();
            case "remove" -> smi.remove();
            case "bind" -> kernel.bindByHand(words[1], words[2]);
            case "override" -> kernel.overrideByHand(words[1], words[2]);
            case "add" -> kernel.add(words[1], words[2], words[3], words.length > 4 ? words[4] : "");
            case "made" -> kernel.madeBy(words[1], words[2]);
            case "join" -> kernel.join(words[1], words[2]);
            case "variant" -> kernel.variant(words[1], text.split(" \\| "));
            case "unload" -> kernel.unload(words[1]);
            case "unplug" -> kernel.unplug(words[1]);
            case "delete" -> Files.delete(folder.resolve(text));
            case "write" -> {
                Path file = folder.resolve(words[1]);
                if (!Files.isDirectory(file.getParent())) {
                    Files.createDirectories(file.getParent());
                }
                Files.writeString(file, text);
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static ClaimRef ref(String name) {
        return name.equals("one") ? ONE : TWO;
    }

    private AllocatedClaim allocated(String[] words, String more, String iommu) {
        String[] devices =
                Arrays.stream(words).skip(2).map(device -> device + more).toArray(String[]::new);
        return words[2].contains("vfio")
                ? machine(ref(words[1]), iommu, devices)
                : claim(ref(words[1]), config, devices);
    }

    private void crash(int checkpoint) {
        claims.crashAt(checkpoint);
        assertThatThrownBy(() -> {
                    claims.prepare(provider, machine(ONE));
                    claims.unprepare(provider, ONE);
                })
                .isInstanceOf(JournaledClaims.Crash.class);
        claims.crashAt(0);
    }

    private String state(String[] words) throws Exception {
        String of = words[words.length - 1];
        return switch (words[1]) {
            case "notices" -> context.notices.toString();
            case "claims" ->
                claims.held.stream().map(one -> one.ref().name()).toList().toString();
            case "state" -> String.valueOf(claims.of(ref(of)).state());
            case "nodes" -> nodes(prepared.devices().get(0)).toString();
            case "names" -> new TreeSet<>(devices().keySet()).toString();
            case "left" ->
                provider.inventory().leftOut().stream()
                        .map(one -> one.device() + ": " + one.reason())
                        .collect(Collectors.joining("\n"));
            case "health" -> context.health.get(of).state().name();
            case "counters" -> devices().get(of).consumesCounters().toString();
            case "taints" -> devices().get(of).taints().toString();
            case "attribute" -> String.valueOf(devices().get(of).attributes().get(words[2]));
            case "attributes" -> {
                TreeMap<String, AttributeValue> all =
                        new TreeMap<>(devices().get(of).attributes());
                all.keySet().removeIf(name -> !name.matches("gpuModuleID|partition\\d+"));
                yield all.toString().replaceAll("OfInt\\[value=(\\d+)\\]", "$1");
            }
            case "audit" -> String.valueOf(audit(of.equals("--dynamic-mig")).exitStatus());
            case "audited" -> {
                try (NvidiaAuditedNode audited = audited(false)) {
                    yield audited.inventory(claims.held).equals(provider.inventory()) ? "the same" : "another";
                }
            }
            case "found" -> {
                Report found = report(words);
                yield found.exitStatus() + " " + DoctorOnBoards.found(found);
            }
            case "finding" -> report(words).findings().toString();
            case "report" -> report(words).text().replaceAll("\\s+", " ");
            default -> hardware(words, words.length > 2 ? of : address0);
        };
    }

    /** The report of the doctor on NVIDIA's part of the node, with GPUs for virtual machines unless an option is given. */
    private Report report(String[] words) {
        List<String> more = Arrays.asList(words).subList(2, words.length);
        String[] options =
                more.isEmpty() ? new String[] {"--feature-gates=PassthroughSupport=true"} : more.toArray(String[]::new);
        return Report.of("node-1", NvidiaChecks.of(node.options(options), node.roots(), null, folder.resolve("none")));
    }

    private String hardware(String[] words, String of) throws Exception {
        String found = switch (words[1]) {
            case "active" -> manager.active().toString();
            case "calls" -> String.join(", ", manager.calls());
            case "nvidia-smi" -> String.join(", ", smi.calls());
            case "pm", "pinned_mem" ->
                smi.calls().stream().filter(it -> it.contains(words[1])).collect(Collectors.joining(", "));
            case "daemons" -> String.valueOf(mps.processes().size());
            case "preloaded" -> smi.preloaded();
            case "persistent" -> String.valueOf(smi.isPersistent(of));
            case "mode" -> smi.mode(of);
            case "slice" -> String.valueOf(smi.slice(of));
            case "bound" -> kernel.done().toString();
            case "driver" -> kernel.driverOf(of);
            case "override" -> kernel.overrideOf(of);
            case "files" -> Arrays.toString(folder.resolve(of).toFile().list());
            default ->
                NvidiaChecks.of(node.options("--feature-gates=" + gates, of), node.roots(), null, folder).stream()
                        .filter(check -> check.id().equals("fabric-manager"))
                        .map(check -> check.look().toString())
                        .findFirst()
                        .orElseThrow();
        };
        return found.isEmpty() ? "none" : found;
    }
}
