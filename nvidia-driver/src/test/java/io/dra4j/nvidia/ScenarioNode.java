// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.doctor.NvidiaChecks;
import io.dra4j.nvidia.standin.FabricStandIn;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A node in the words of scenarios. */
abstract class ScenarioNode extends ProviderOnBoards {

    static final int MANY = 1_000_000; // calls

    FabricStandIn manager;
    PreparedClaim prepared;
    Inventory noted;

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
