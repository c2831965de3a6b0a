// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.Taint;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.doctor.NvidiaChecks;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.standin.FabricStandIn;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.SlicePreview;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** A node in the words of scenarios. */
abstract class ScenarioNode extends TakeOverNode {

    static final int MANY = 1_000_000; // calls

    FabricStandIn manager;
    PreparedClaim prepared;
    Inventory noted;
    volatile Future<?> meanwhile; // what another thread does

    final boolean hasSession() throws IOException {
        return node.hasSession(ProcessHandle.current().pid());
    }

    static String text(Map<String, List<Taint>> taints) {
        return taints.toString()
                .replaceAll(
                        "Taint\\[key=gpu.nvidia.com/(\\S+), value=(\\S+), effect=(\\w+), timeAdded=null]", "$1 $2 $3");
    }

    static ClaimRef ref(String name) {
        return name.equals("one") ? ONE : TWO;
    }

    /** Does what a line says about times, and what does not go on. */
    final void pace(String verb, List<String> words, String text) throws Exception {
        switch (verb) {
            case "hold" -> kernel.hold(words.isEmpty() ? "" : words.get(0));
            case "hang" -> smi.hangAt(text);
            case "timeout" -> claims.timeout = Duration.ofMillis(Long.parseLong(words.get(0)));
            case "unbind" -> unbind = Duration.ofMillis(Long.parseLong(words.get(0)));
            case "late-once" -> {
                String[] asked = ("is " + String.join(" ", words)).split(" ");
                clock = () -> Instant.now().plus(has(asked, text) ? claims.timeout : Duration.ZERO);
            }
            case "in-time" -> clock = InstantSource.system();
            case "hide-processes" -> node.hideProcesses();
            default -> checkpoint(verb, words, text);
        }
    }

    private boolean has(String[] asked, String text) {
        try {
            return state(asked).contains(text);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns something that is, has or lacks what a line says. */
    final String state(String[] words) throws Exception {
        String of = words[words.length - 1];
        return switch (words[1]) {
            case "notices" -> claims.notices.toString();
            case "claims" ->
                claims.held.stream().map(one -> one.ref().name()).toList().toString();
            case "changed" -> claims.changedNothing ? "nothing" : "something";
            case "state" -> String.valueOf(claims.of(ref(of)).state());
            case "names" -> new TreeSet<>(devices().keySet()).toString();
            case "left" ->
                provider.inventory().leftOut().stream()
                        .map(one -> one.device() + ": " + one.reason())
                        .collect(Collectors.joining("\n"));
            case "inventory" -> provider.inventory().equals(noted) ? "as noted" : "another";
            case "restart-reason" -> provider.restartReason().toString();
            case "sets" ->
                provider.inventory().pools().get(0).counterSets().stream()
                        .map(set -> set.name() + amounts(set.counters()))
                        .toList()
                        .toString();
            case "measured" -> measured(claims.of(ref(of)));
            case "audit" -> String.valueOf(audit(of.equals("--dynamic-mig")).exitStatus());
            case "audit-report" -> audit(of.equals("--dynamic-mig")).text().replaceAll("\\s+", " ");
            case "meanwhile" -> meanwhile.isDone() ? "done" : "waits";
            case "lent" ->
                Passthrough.lent(claims.held).stream()
                        .map(PciAddress::text)
                        .toList()
                        .toString();
            case "problems" ->
                SlicePreview.problems("gpu.nvidia.com", provider.inventory()).toString();
            case "audit-findings" ->
                audit(false).findings().stream()
                        .map(finding -> finding.id() + " " + finding.object())
                        .toList()
                        .toString();
            case "audit-fixes" -> audit(false).findings().get(0).fix().toString();
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
            default -> prepared(words, of);
        };
    }

    private String prepared(String[] words, String of) throws Exception {
        return switch (words[1]) {
            case "nodes" -> nodes(prepared.devices().get(0)).toString();
            case "status" ->
                prepared.devices().stream()
                        .map(device -> device.status() == null
                                ? "none"
                                : device.status().data())
                        .toList()
                        .toString();
            case "env" -> prepared.devices().get(0).edits().env().toString();
            case "common-env" -> prepared.edits().env().toString();
            case "metadata" -> prepared.devices().get(0).metadata().attributes().toString();
            case "mounts" -> prepared.edits().mounts().toString();
            default -> device(words, of);
        };
    }

    private String device(String[] words, String of) throws Exception {
        return switch (words[1]) {
            case "offered" ->
                provider.inventory().pools().get(0).devices().stream()
                        .map(device -> device.name().value())
                        .filter(name -> name.matches("gpu-%s(-.*)?".formatted(of)))
                        .toList()
                        .toString();
            case "message" -> claims.health.get(of).message();
            case "facts" -> facts(devices().get(of));
            case "shared" -> String.valueOf(devices().get(of).allowMultipleAllocations());
            case "capacities" -> {
                Map<String, String> texts = new TreeMap<>();
                devices().get(of).capacities().forEach((name, capacity) -> texts.put(name, text(capacity)));
                yield texts.toString();
            }
            case "health" -> claims.health.get(of).state().name();
            case "counters" -> devices().get(of).consumesCounters().toString();
            case "takes" ->
                devices().get(of).consumesCounters().stream()
                        .map(one -> one.counterSet() + amounts(one.counters()))
                        .toList()
                        .toString();
            case "taints" -> words.length > 2 ? devices().get(of).taints().toString() : text(taints(provider));
            case "attribute" -> String.valueOf(devices().get(of).attributes().get(words[2]));
            case "attributes" -> {
                TreeMap<String, AttributeValue> all =
                        new TreeMap<>(devices().get(of).attributes());
                all.keySet().removeIf(name -> !name.matches("gpuModuleID|partition\\d+"));
                yield all.toString().replaceAll("OfInt\\[value=(\\d+)\\]", "$1");
            }
            default -> hardware(words, words.length > 2 ? of : address0);
        };
    }

    private static String text(Capacity capacity) {
        RequestPolicy policy = capacity.requestPolicy();
        if (policy == null) {
            return capacity.value().text();
        }
        ValidRange range = policy.validRange();
        return "%s by default %s of %s to %s in steps of %s"
                .formatted(capacity.value(), policy.defaultValue(), range.min(), range.max(), range.step());
    }

    /** Attributes and capacities, the latter in bytes or as numbers. */
    private static String facts(Device device) {
        Map<String, String> facts = new TreeMap<>();
        device.capacities().forEach((name, amount) -> facts.put(name, amount(amount.value())));
        device.attributes()
                .forEach((name, value) -> facts.put(
                        name,
                        value.toString()
                                .replaceAll("Of(\\w+)\\[values?=(.*)]", "$1 $2")
                                .replace("String ", "")));
        return facts.toString();
    }

    private static Map<String, String> amounts(Map<String, Quantity> amounts) {
        Map<String, String> texts = new TreeMap<>();
        amounts.forEach((name, amount) -> texts.put(name, amount(amount)));
        return texts;
    }

    private static String amount(Quantity quantity) {
        return quantity.amount().toBigIntegerExact().toString();
    }

    private String measured(HeldClaim claim) throws Exception {
        try (DeviceMeter meter = provider.meter()) {
            DeviceReadings readings = meter.measure(claim, claim.devices().get(0));
            return "%s %s of %s %s"
                    .formatted(
                            readings.uuid(),
                            new TreeMap<>(readings.values()),
                            readings.parentUuid(),
                            new TreeMap<>(readings.parentValues()));
        }
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
            case "pm" -> smi.calls().stream().filter(it -> it.contains("pm")).collect(Collectors.joining(", "));
            case "pinned_mem" ->
                smi.calls().stream()
                        .filter(it -> it.contains("pinned_mem"))
                        .map(it -> it.replaceFirst(".*_limit (\\S+) ", "$1="))
                        .collect(Collectors.joining(","));
            case "daemons" -> String.valueOf(mps.processes().size());
            case "hanging" -> String.valueOf(smi.hanging().isPresent());
            case "preloaded" -> smi.preloaded();
            case "persistent" -> String.valueOf(smi.isPersistent(of));
            case "mode" -> smi.mode(of);
            case "slice" -> String.valueOf(smi.slice(of));
            case "instances" ->
                hardware.instances().stream()
                        .map(one -> "%d:%d@%d".formatted(one.gpu(), one.profileId(), one.start()))
                        .collect(Collectors.joining(" "));
            case "mig" -> String.valueOf(hardware.isMigEnabled(Integer.parseInt(of)));
            case "pending" ->
                String.valueOf(
                        nvml.read().gpus().get(Integer.parseInt(of)).mig().pending());
            case "failed" -> String.valueOf(hardware.hasFailed(MANY));
            case "count" -> hardware.calls().get(of).toString();
            case "session" -> String.valueOf(hasSession());
            case "bound" -> kernel.done().toString();
            case "driver" -> kernel.driverOf(of);
            case "override" -> kernel.overrideOf(of);
            case "files" -> Arrays.toString(folder.resolve(of).toFile().list());
            case "doctor" ->
                NvidiaChecks.of(node.options("--feature-gates=" + gates, of), node.roots(), null, folder).stream()
                        .filter(check -> check.id().equals("fabric-manager"))
                        .map(check -> check.look().toString())
                        .findFirst()
                        .orElseThrow();
            default -> checkpoint(words[1], of, prepared);
        };
        return found.isEmpty() ? "none" : found;
    }
}
