// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.health.HealthPolicy.ErrorWatch;
import io.dra4j.nvidia.health.Thresholds;
import io.dra4j.nvidia.health.XidEffects;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.FabricStandIn;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.SharingRecord;
import io.dra4j.runtime.ClaimPreview;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Providers, their claims and the doctor, on nodes with stand-ins of what they look at. */
@Execution(ExecutionMode.CONCURRENT) // one after the other, they are the longest class of the build
class ScenariosTest extends ScenarioNode {

    private static final long WHILE = Duration.ofMillis(800).toNanos(); // some intervals of the watch
    private static final Pattern HEAD = Pattern.compile("(?:#.*\n)+((?:(?:"
            + "older|watch auto|shares(?: \\w+)?|effect \\w+|xids \\S+|thresholds(?: \\w+=\\d+)*|library \\S+"
            + ")\n)*)(?:boards (\\S+)( dynamic)?\n)?");
    private static final Pattern OTHERWISE = Pattern.compile("checkpoint| (audit|exported|refusals)");
    private static final Predicate<String> FORM = forms();
    private static final boolean NIGHTLY = Boolean.getBoolean("dra4j.nightly");

    private String library = "fabric/now/libnvfm.so.1";
    private String config = "";
    private NodeLock lock;
    private HeldClaim remembered;
    private String tainted = "";

    @Scenarios({"claim-scenarios.txt", "device-scenarios.txt"})
    @Tag("counts")
    void claimsArePreparedAndUnprepared(String scenario) throws Exception {
        Matcher head = set(scenario);
        install(head.group(2), head.group(3) != null);
        play(scenario.substring(head.end()));
    }

    @Scenarios({"health-scenarios.txt", "takeover-scenarios.txt"})
    @Tag("slow")
    void faultsAreReportedAndClaimsTakenOver(String scenario) throws Exception {
        claimsArePreparedAndUnprepared(scenario);
    }

    private static Predicate<String> forms() {
        try (Stream<String> lines = Files.lines(Path.of("src/test/resources/io/dra4j/nvidia/scenario-forms.txt"))) {
            return Pattern.compile(lines.filter(line -> !line.isEmpty() && !line.startsWith("#"))
                            .collect(Collectors.joining("|")))
                    .asMatchPredicate();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets what a scenario begins with, up to the boards. */
    private Matcher set(String scenario) {
        Matcher head = HEAD.matcher(scenario);
        assertThat(head.lookingAt()).as("a scenario begins with its title").isTrue();
        head.group(1).lines().forEach(line -> set(line.split(" ")));
        return head;
    }

    /** Changes a setting of the next provider. */
    private void set(String[] words) {
        switch (words[0]) {
            case "older" -> isOlder = true;
            case "watch" -> {
                watch = ErrorWatch.auto;
                rescan = Duration.ofMinutes(10); // longer than a wait
            }
            case "shares" -> shares = Shares.parse(words.length > 1 ? words[1] : "unlimited");
            case "effect" -> fabric = Effect.valueOf(words[1]);
            case "xids" -> effects = XidEffects.parse(words[1]);
            case "thresholds" -> {
                Map<DeviceMeasure, Integer> limits = new EnumMap<>(DeviceMeasure.class);
                Stream.of(words)
                        .skip(1)
                        .map(limit -> limit.split("="))
                        .forEach(limit -> limits.put(DeviceMeasure.valueOf(limit[0]), Integer.valueOf(limit[1])));
                thresholds = new Thresholds(limits, Duration.ofMillis(50));
            }
            case "library" -> library = words[1];
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("fabric-scenarios.txt")
    @Tag("slow")
    void partitionsAreActivatedAndDeactivated(String scenario) throws Exception {
        Matcher head = set(scenario);
        gates = "FabricManagerPartitioning=true,";
        begin("h100-80", false);
        manager = FabricStandIn.install(node, library);
        provider.inventory();
        preview = ClaimPreview.of("gpu.nvidia.com", provider);
        play(scenario.substring(head.end()));
    }

    @Scenarios({"vfio-scenarios.txt", "sharing-scenarios.txt", "doctor-scenarios.txt", "export-scenarios.txt"})
    @Tag("slow")
    void gpusAreTakenAndSharedAndExamined(String scenario) throws Exception {
        Matcher head = set(scenario);
        begin(head.group(2), head.group(3) != null);
        play(scenario.substring(head.end()));
    }

    @Scenarios("mps-scenarios.txt")
    @Tag("slow")
    @EnabledIf(
            value = "io.dra4j.nvidia.standin.MpsStandIn#canMount",
            disabledReason = "MPS daemons need root, and the right to mount")
    void gpusAreSharedByMps(String scenario) throws Exception {
        gpusAreTakenAndSharedAndExamined(scenario);
    }

    /** Unless a scenario audits its node itself, or leaves claims, it ends healthy; and is so at night with each claim. */
    private void play(String steps) throws Exception {
        boolean isHealthy = !OTHERWISE.matcher(steps).find();
        for (String line : steps.split("\n")) {
            assertThat(line).matches(FORM, "a form of scenario-forms.txt");
            String filled = line.replace("{root}", node.root().toString())
                    .replace("{folder}", folder.toString())
                    .replace("{library}", node.library().toString())
                    .replace("{gpu0}", gpu0)
                    .replace("{gpu1}", gpu1);
            for (int i = 0; filled.contains("{mig"); i++) {
                filled = filled.replace(
                        "{mig%d}".formatted(i),
                        hardware.instances().get(i).uuids().get(0));
            }
            for (int gpu = 0; machines && gpu < kernel.gpus().size(); gpu++) {
                String address = kernel.gpus().get(gpu);
                filled = filled.replace("{pci%d}".formatted(gpu), address)
                        .replaceAll("\\{pci%d\\.(\\d)}".formatted(gpu), address.replace(".0", ".$1"));
            }
            String[] parts = filled.split(" : ", 2);
            perform(parts[0].split(" "), parts.length == 1 ? "" : parts[1]);
            if (isHealthy && NIGHTLY && line.startsWith("prepare ")) {
                assertHealthy();
            }
        }
        if (isHealthy) {
            assertHealthy();
        }
    }

    private void perform(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "meanwhile" -> meanwhile = inBackground(words, 1, text);
            case "joined" -> meanwhile.get(SOON.toSeconds(), TimeUnit.SECONDS);
            case "within" -> inBackground(words, 2, text).get(Long.parseLong(words[1]), TimeUnit.SECONDS);
            default -> run(words, text);
        }
    }

    /** Begins the rest of a line in another thread. */
    private FutureTask<Void> inBackground(String[] words, int from, String text) {
        FutureTask<Void> begun = new FutureTask<>(() -> {
            run(Arrays.copyOfRange(words, from, words.length), text);
            return null;
        });
        new Thread(begun).start();
        return begun;
    }

    private void assertHealthy() {
        Report report = audit(dynamicMig);
        assertThat(report.exitStatus()).as(report.text()).isEqualTo(Report.HEALTHY);
    }

    private void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "is" -> assertThat(state(words)).isEqualTo(text);
            case "await" -> Await.until(text, SOON, () -> state(words).equals(text));
            case "has" -> assertThat(state(words)).contains(text);
            case "lacks" -> assertThat(state(words)).doesNotContain(text);
            case "adopt" -> prepared = adopt(allocated(words, "", ""));
            case "not-adopted" ->
                assertThatThrownBy(() -> adopt(allocated(words, "", "")))
                        .isInstanceOf(PrepareException.class)
                        .hasMessageContaining(text);
            case "config" -> config = words.length > 1 ? config(words[1], words.length > 2 ? words[2] : "", text) : "";
            case "no-config" -> config = " ";
            case "and" -> config += ", " + config(words[1], words[2], text);
            case "prepare" -> prepared = claims.prepare(provider, allocated(words, "", text));
            case "admin" -> claims.prepare(provider, allocated(words, ", adminAccess: true", ""));
            case "error" ->
                assertThatThrownBy(() -> claims.prepare(provider, allocated(words, "", "")))
                        .hasMessageContainingAll(text.split(" \\| "));
            case "refuse" -> refuses(allocated(words, "", ""), text.split(" \\| "));
            case "unprepare" -> claims.unprepare(provider, ref(words[1]));
            case "keep" ->
                assertThatThrownBy(() -> claims.unprepare(provider, ref(words[1])))
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            case "crash" -> crash(words);
            case "read" -> provider.inventory();
            case "nothing-left" -> assertNothingIsLeft();
            case "lock" -> lock = claims.lock(words[1].toLowerCase(Locale.ROOT), Duration.ZERO);
            case "unlock" -> lock.close();
            case "change" -> claims.awaitChange();
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
                claims.replace(claims.of(ref(words[words.length - 1])).toBuilder()
                        .beforeReboot(true)
                        .build());
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
            case "mig" -> hardware.setMig(Integer.parseInt(words[1]), !words[words.length - 1].equals("off"));
            case "processes" -> DoctorOnBoards.usual(node);
            case "process" -> DoctorOnBoards.process(node, Integer.parseInt(words[1]), words[2], text);
            case "open" -> Files.createSymbolicLink(folder.resolve(words[1]), Path.of(text));
            case "unloaded" -> hardware.loaded(false);
            case "reload" -> node.load(words[1]);
            case "persist" -> smi.setPersistent(words.length > 1 ? words[1] : address0);
            case "mode" -> smi.setMode(words[1], words[2]);
            case "slice" -> smi.setSlice(words[1], Integer.parseInt(words[2]));
            case "fails" -> smi.failAt(text, Integer.parseInt(words[1]));
            case "answer" -> smi.answer(text.replace("\\n", "\n"));
            case "mps" -> mps = MpsStandIn.install(node);
            case "kill" -> // daemons, but not their servers
                mps.processes().stream()
                        .filter(one -> one.children().findAny().isPresent())
                        .forEach(ProcessHandle::destroyForcibly);
            case "heal" -> smi.heal();
            case "forget" -> smi.forgetCalls();
            case "remove" -> smi.remove();
            case "bind" -> {
                for (String gpu : words[1].equals("all") ? kernel.gpus() : List.of(words[1])) {
                    kernel.bindByHand(gpu, words[2]);
                }
            }
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
                Files.writeString(file, text.replace("\\n", "\n"));
            }
            default -> hardware(words[0], Stream.of(words).skip(1).toList(), text);
        }
    }

    private void hardware(String verb, List<String> words, String text) throws Exception {
        List<Integer> numbers = words.stream()
                .filter(word -> word.matches("-?[0-9]+"))
                .map(Integer::valueOf)
                .toList();
        switch (verb) {
            case "xid" -> hardware.xid(numbers.get(0), instance(words), numbers.get(numbers.size() - 1));
            case "xid-until-tainted" -> {
                for (int tries = 0; taints(provider).isEmpty(); tries++) {
                    assertThat(tries).isLessThan(60);
                    hardware.xid(numbers.get(0), -1, numbers.get(1)); // the first may come before a registration
                    claims.awaitChangeBriefly();
                }
            }
            case "fault" ->
                hardware.fails(words.get(0), numbers.size() > 1 ? numbers.get(1) : NodeState.ALL, numbers.get(0), MANY);
            case "no-faults" -> hardware.noneFails();
            case "scramble" -> hardware.scramble(numbers.get(0), text.getBytes(StandardCharsets.UTF_8));
            case "set-of-instance" -> hardware.setOfInstance(words.get(0), words.get(1), numbers.get(0));
            case "mode-ends-events" -> hardware.modeEndsEvents(true);
            case "reset" ->
                assertThat(node.administrator().reset(numbers.get(0))).isZero();
            case "create" ->
                node.administrator()
                        .createInstance(
                                numbers.get(0),
                                numbers.get(1),
                                numbers.get(2),
                                numbers.stream()
                                        .skip(3)
                                        .mapToInt(Integer::intValue)
                                        .toArray());
            case "destroy" -> node.administrator().destroyInstance(numbers.get(0), instance(words));
            case "create-again" -> {
                NodeState.Instance ours = hardware.instances().get(0);
                node.administrator().destroyInstance(ours.gpu(), ours.id());
                node.administrator().createInstance(ours.gpu(), ours.profileId(), ours.start(), numbers.get(0));
                assertThat(hardware.instances()).containsExactly(ours);
            }
            case "gone" -> hardware.replacing(numbers.get(0), numbers.get(0));
            case "end-module" -> assertThat(node.unload()).isZero();
            case "update" -> {
                node.update(words.get(0));
                hardware.replaced(words.get(0));
            }
            default -> provider(verb, words, text);
        }
    }

    /** The number of the GPU instance at a memory slice, or of none. */
    private int instance(List<String> words) {
        return words.get(1).startsWith("@")
                ? hardware.instanceAt(
                                Integer.parseInt(words.get(0)),
                                Integer.parseInt(words.get(1).substring(1)))
                        .id()
                : -1;
    }

    private void provider(String verb, List<String> words, String text) throws Exception {
        switch (verb) {
            case "tried", "failed" -> {
                AllocatedClaim claim = allocated((verb + " " + String.join(" ", words)).split(" "), "", "");
                assertThatThrownBy(() -> claims.begin(provider, claim))
                        .isInstanceOf(verb.equals("tried") ? PrepareException.class : DraException.class)
                        .hasMessageContaining(text);
            }
            case "held" ->
                claims.held.add(HeldClaim.builder(ref(words.get(0)))
                        .phase(Phase.valueOf(words.get(1)))
                        .devices(words.stream().skip(2).map(ScenariosTest::held).toList())
                        .state(text.isEmpty() ? null : sharedBy(text))
                        .build());
            case "remember" -> remembered = claims.of(ref(words.get(0)));
            case "recall" -> claims.held.add(remembered);
            case "restate" -> {
                HeldClaim claim = claims.of(ref(words.get(0)));
                String state = claim.state().rawJson().replace(text.split(" => ")[0], text.split(" => ")[1]);
                ProviderState changed = new ProviderState(Integer.parseInt(words.get(1)), state);
                claims.replace(claim.toBuilder().state(changed).build());
            }
            case "settle" -> {
                claims.forgetChanges();
                for (int reading = 0; reading < 3; reading++) {
                    claims.awaitChange();
                }
            }
            case "stop" -> stop();
            case "destroy-unknown" -> {
                stop();
                claims.forgetChanges();
                restart(true);
                claims.awaitChange(); // which comes after
            }
            case "thresholds" -> set(("thresholds " + String.join(" ", words)).split(" "));
            case "no-changes" -> claims.forgetChanges();
            case "changed" -> assertThat(claims.forgetChanges()).isPositive();
            case "look" -> preview = ClaimPreview.of("gpu.nvidia.com", provider);
            case "note" -> noted = provider.inventory();
            case "tainted" ->
                tainted = text(awaitTaints(
                        provider,
                        found -> words.isEmpty()
                                ? text(found).equals(text)
                                : found.size() == Integer.parseInt(words.get(0))));
            case "tainted-next" ->
                assertThat(text(awaitTaints(provider, found -> !text(found).equals(tainted))))
                        .isEqualTo(text);
            case "journal" -> claims.isUnreadable = words.get(0).equals("unreadable");
            case "suspend" -> provider.suspend();
            case "resume" -> provider.resume();
            case "left-alone" -> {
                for (long end = System.nanoTime() + WHILE; System.nanoTime() < end; ) {
                    assertThat(hasSession()).isFalse();
                }
            }
            default -> pace(verb, words, text);
        }
    }

    private static HeldDevice held(String device) {
        String[] parts = device.split("=");
        return HeldDevice.builder("r", new PoolName("node-1"), new DeviceName(parts[0]))
                .shareId(parts.length > 1 ? "00000000-0000-4000-8000-000000000001" : null)
                .build();
    }

    private static ProviderState sharedBy(String strategy) {
        SharingRecord record = new SharingRecord("group", strategy, List.of(), null);
        return new ClaimState(null, List.of(record), null, null).toProviderState();
    }

    private AllocatedClaim allocated(String[] words, String more, String iommu) {
        String share = ", shareID: 00000000-0000-4000-8000-00000000000%d, consumedCapacity: {$1: $2}"
                .formatted(words[1].equals("one") ? 1 : 2);
        String[] devices = Arrays.stream(words)
                .skip(2)
                .map(device -> device.replace("!", ", adminAccess: true").replaceFirst("=(.*)=(.*)", share) + more)
                .toArray(String[]::new);
        return words[2].contains("vfio") && config.isEmpty()
                ? machine(ref(words[1]), iommu, devices)
                : claim(ref(words[1]), config, devices);
    }

    /** Cuts off the preparation of devices, the end of a claim, or both of a virtual machine. */
    private void crash(String[] words) {
        claims.crashAt(Integer.parseInt(words[1]));
        assertThatThrownBy(() -> {
                    switch (words.length) {
                        case 2 -> {
                            claims.prepare(provider, machine(ONE));
                            claims.unprepare(provider, ONE);
                        }
                        case 3 -> claims.unprepare(provider, ref(words[2]));
                        default ->
                            claims.begin(provider, allocated(Arrays.copyOfRange(words, 1, words.length), "", ""));
                    }
                })
                .isInstanceOf(JournaledClaims.Crash.class);
        claims.crashAt(0);
    }
}
