// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.doctor.NvidiaChecks;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.FabricStandIn;
import io.dra4j.runtime.ClaimPreview;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Partitions of the fabric, by a stand-in of the fabric manager and its library. */
@Tag("slow")
class FabricPartitionsTest extends VfioOnBoards {

    private static final Path SCENARIOS = Path.of("src/test/resources/io/dra4j/nvidia/fabric-scenarios.txt");

    private FabricStandIn manager;

    private static Stream<String> scenarios() throws IOException {
        return Stream.of(Files.readString(SCENARIOS).split("\n\n")).skip(1);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void areActivatedAndDeactivated(String scenario) throws Exception {
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
        for (String line : scenario.split("\n")) {
            String filled = line.replace("{root}", node.root().toString())
                    .replace("{gpu0}", gpu0)
                    .replace("{pci0}", address0)
                    .replace("{pci1}", kernel.gpus().get(1));
            String[] parts = filled.split(" : ", 2);
            run(parts[0].split(" "), parts.length == 1 ? "" : parts[1]);
        }
    }

    private void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "#", "library", "shares", "effect" -> {} // of the node
            case "is" -> assertThat(state(words)).isEqualTo(text);
            case "await" -> Await.until(text, SOON, () -> state(words).equals(text));
            case "has" -> assertThat(state(words)).contains(text);
            case "lacks" -> assertThat(state(words)).doesNotContain(text);
            case "prepare" -> claims.prepare(provider, allocated(words, ""));
            case "admin" -> claims.prepare(provider, allocated(words, ", adminAccess: true"));
            case "refuse" -> refuses(allocated(words, ""), text.split(" \\| "));
            case "unprepare" -> claims.unprepare(provider, ref(words[1]));
            case "keep" ->
                assertThatThrownBy(() -> claims.unprepare(provider, ref(words[1])))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining(text);
            case "crash" -> crash(Integer.parseInt(words[1]));
            case "edit" -> manager.edit(text.split(" => ")[0], text.split(" => ")[1].replace("\\n", "\n"));
            case "fail" -> manager.edit("fault .*", "fault " + text);
            case "run" -> manager.run(Integer.parseInt(words[1]));
            case "persist" -> smi.setPersistent(address0);
            case "set" -> hardware.set(Integer.parseInt(words[1]), words[2], Integer.parseInt(words[3]));
            case "mig" -> hardware.setMig(Integer.parseInt(words[1]), true);
            case "read" -> provider.inventory();
            case "delete" -> Files.delete(folder.resolve(text));
            case "write" -> {
                Files.createDirectories(folder.resolve(words[1]).getParent());
                Files.writeString(folder.resolve(words[1]), text);
            }
            case "gates" -> {
                gates = text;
                restart();
            }
            case "record" -> {
                HeldClaim.Builder lost = HeldClaim.builder(ONE).phase(Phase.valueOf(text));
                claims.replace(lost.devices(claims.of(ONE).devices()).build());
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static ClaimRef ref(String name) {
        return name.equals("one") ? ONE : TWO;
    }

    private AllocatedClaim allocated(String[] words, String more) {
        String[] devices =
                Arrays.stream(words).skip(2).map(device -> device + more).toArray(String[]::new);
        return words[2].contains("vfio") ? machine(ref(words[1]), "", devices) : claim(ref(words[1]), "", devices);
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
        return switch (words[1]) {
            case "active" -> manager.active().toString();
            case "calls" -> String.join(", ", manager.calls());
            case "notices" -> context.notices.toString();
            case "smi" ->
                String.join(
                        ", ",
                        smi.calls().stream().filter(it -> it.contains("-pm")).toList());
            case "persistent" -> String.valueOf(smi.isPersistent(address0));
            case "bound" -> kernel.done().toString();
            case "driver" -> kernel.driverOf(address0);
            case "taints" -> devices().get(words[3]).taints().toString();
            case "attributes" -> {
                TreeMap<String, AttributeValue> all =
                        new TreeMap<>(devices().get(words[3]).attributes());
                all.keySet().removeIf(name -> !name.matches("gpuModuleID|partition\\d+"));
                yield all.toString().replaceAll("OfInt\\[value=(\\d+)\\]", "$1");
            }
            case "audited" -> {
                try (NvidiaAuditedNode audited = audited(false)) {
                    yield audited.inventory(List.of()).equals(provider.inventory()) ? "the same" : "another";
                }
            }
            default ->
                NvidiaChecks.of(node.options("--feature-gates=" + gates, words[2]), node.roots(), null, folder).stream()
                        .filter(check -> check.id().equals("fabric-manager"))
                        .map(check -> check.look().toString())
                        .findFirst()
                        .orElseThrow();
        };
    }
}
