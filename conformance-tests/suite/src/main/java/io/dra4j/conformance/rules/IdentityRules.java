// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The hardware behind the names of devices, which the hook {@code renumber} permutes. */
@ExecutionGroup.On(ExecutionGroup.RESTARTS)
record IdentityRules(TestContext context) {

    private static final String RENUMBER = "renumber";

    @Rule("DRA-RST-11")
    void aNameDoesNotBecomeOtherHardware() throws InterruptedException {
        Untested.unless(
                context.hooks().has(RENUMBER),
                "the settings have no hook renumber, which permutes the hardware of the names");
        Publishing publishing = new Publishing(context);
        var before = publishing.settled();
        Identities identities = Identities.of(before.devices());
        List<PublishedDevice> known = context.devices().single().stream()
                .filter(identities::has)
                .limit(2)
                .toList();
        Untested.unless(
                known.size() == 2, "no two devices have string attributes that distinguish them, such as a uuid");
        KubeletClaim prepared = context.preparedClaim(known.get(0));
        KubeletClaim allocated = context.claims().allocate(known.get(1));
        Opened renumbered = context.change(this::renumber, this::renumber);
        try {
            context.driver().restarted();
            context.awaitPools();
            remains(identities, known.get(0), prepared, "prepared");
            remains(identities, known.get(1), allocated, "allocated");
        } finally {
            end(prepared);
            end(allocated);
            renumbered.close();
            context.driver().restarted();
        }
        publishing.restored(before, "a second hook renumber", context.timeouts().change());
    }

    private void renumber() {
        if (context.driver().isAlive()) {
            context.driver().kill();
        }
        context.hooks().run(RENUMBER);
    }

    private void end(KubeletClaim claim) {
        context.calls()
                .unprepared(
                        claim,
                        "after names were permuted over the hardware, Unprepare of claim %s failed: %s",
                        claim.uid());
        context.claims().deleteObject(claim);
    }

    private void remains(Identities identities, PublishedDevice device, KubeletClaim claim, String state) {
        CallResult result = context.calls().prepare(claim);
        if (result.complaint().isPresent()) {
            context.transcript().note("refused: " + result.complaint().get());
            return;
        }
        List<String> edits =
                context.cdi().edits(result.results().get(claim.uid()).devices());
        identities.other(device, context.devices().all(), edits).ifPresent(other -> {
            throw new Violation(
                    "claim %s was %s with device %s as %s, and was prepared after a restart that permuted the names, though the name means %s now"
                            .formatted(claim.uid(), state, device, identities.of(device), other));
        });
    }

    /**
     * The attributes that distinguish hardware: strings whose value no other device has, such as a uuid, a serial
     * number or a PCI address.
     */
    private record Identities(Map<String, Map<String, String>> byDevice) {

        public static Identities of(List<PublishedDevice> devices) {
            Map<String, Long> uses = devices.stream()
                    .flatMap(device -> strings(device).entrySet().stream())
                    .collect(Collectors.groupingBy(Object::toString, Collectors.counting()));
            Map<String, Map<String, String>> byDevice = new HashMap<>();
            for (PublishedDevice device : devices) {
                Map<String, String> own = strings(device);
                own.entrySet().removeIf(attribute -> uses.get(attribute.toString()) > 1);
                own.values().removeIf(value -> value.equals(device.name()));
                byDevice.put(device.toString(), own);
            }
            return new Identities(byDevice);
        }

        private static Map<String, String> strings(PublishedDevice device) {
            Map<String, String> strings = new TreeMap<>();
            for (Map.Entry<String, JsonNode> one :
                    device.json().path("attributes").properties()) {
                JsonNode value = one.getValue().path("string");
                if (value.isTextual()) {
                    strings.put(one.getKey(), value.asText());
                }
            }
            return strings;
        }

        public boolean has(PublishedDevice device) {
            return !of(device).isEmpty();
        }

        public Map<String, String> of(PublishedDevice device) {
            return byDevice.getOrDefault(device.toString(), Map.of());
        }

        /**
         * Returns the evidence that a device's name now means the hardware of another name: the attributes that are
         * published now, or what a container gets.
         */
        public Optional<String> other(PublishedDevice device, List<PublishedDevice> now, List<String> edits) {
            Optional<String> published = now.stream()
                    .filter(one -> one.toString().equals(device.toString()))
                    .flatMap(one -> strings(one).entrySet().stream())
                    .filter(attribute -> isOfAnother(device, attribute))
                    .map(Object::toString)
                    .findFirst();
            return published.or(() -> edits.stream()
                    .filter(line -> of(device).values().stream().noneMatch(line::contains))
                    .filter(line -> hasValueOfAnother(device, line))
                    .findFirst());
        }

        private boolean isOfAnother(PublishedDevice device, Map.Entry<String, String> attribute) {
            return byDevice.entrySet().stream()
                    .filter(one -> !one.getKey().equals(device.toString()))
                    .anyMatch(one -> attribute.getValue().equals(one.getValue().get(attribute.getKey())));
        }

        private boolean hasValueOfAnother(PublishedDevice device, String line) {
            return byDevice.entrySet().stream()
                    .filter(one -> !one.getKey().equals(device.toString()))
                    .flatMap(one -> one.getValue().values().stream())
                    .anyMatch(value -> value.length() > 7 && line.endsWith(value));
        }
    }
}
