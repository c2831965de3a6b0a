// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The maintenance of a node according to its files, seen from outside the driver. */
record MaintenanceView(Path directory, String driverName, MaintenanceFiles files) {

    private static final String INDENT = "  ";

    /**
     * Maintenance and the claims that block it, at one moment.
     *
     * @param holders the claims that hold devices concerned; all claims if there is no maintenance
     */
    record State(
            String driverName, Optional<Maintenance> maintenance, Optional<Answer> answer, List<HeldClaim> holders) {

        boolean isOutOfUse() {
            return holders.isEmpty() && maintenance.isPresent() && isAnswered(maintenance.get());
        }

        private boolean isAnswered(Maintenance asked) {
            return answer.filter(Answer::published).isPresent()
                    && (asked.concernsAll()
                            ? answer.get().suspended()
                            : answer.get().concerned() > 0);
        }

        /**
         * Returns all of it as text.
         *
         * @param pods names the pods of a claim
         */
        String text(ClaimPods pods) {
            StringBuilder text = new StringBuilder();
            maintenance.ifPresentOrElse(asked -> text.append(text(asked)), () -> text.append("Maintenance is off.\n"));
            boolean isOn = maintenance.isPresent();
            if (holders.isEmpty()) {
                String device = isOn ? "such a device" : "a device of " + driverName;
                return text.append("No claim holds " + device + ".\n").toString();
            }
            text.append(holders.size() == 1 ? "1 claim holds " : holders.size() + " claims hold ")
                    .append(isOn ? "such devices:\n" : "devices of " + driverName + ":\n");
            holders.forEach(claim -> text.append(text(claim, pods)));
            text.append(pods.problem().isEmpty() ? "" : "Their pods are unknown: " + pods.problem() + ".\n");
            return text.append(maintenance.map(asked -> advice(asked, pods)).orElse(""))
                    .toString();
        }

        private static String advice(Maintenance asked, ClaimPods pods) {
            return asked.evicts()
                    ? "The claims end with their pods: from Kubernetes 1.36 on, the cluster evicts"
                            + " those that do not tolerate the taint; delete or drain the others.\n" + byHand(pods)
                    : "The claims end with their pods: delete or drain these, or run `maintenance on --evict`.\n";
        }

        private static String byHand(ClaimPods pods) {
            String notEvicted =
                    "Before Kubernetes 1.38, the taint does not evict pods that got their device by an extended"
                            + " resource (resources.limits): delete these by hand";
            String commands = pods.notEvicted().entrySet().stream()
                    .filter(claim -> !claim.getValue().isEmpty())
                    .map(claim -> INDENT
                            + "kubectl -n %s delete pod %s\n"
                                    .formatted(claim.getKey().namespace(), String.join(" ", claim.getValue())))
                    .collect(Collectors.joining());
            if (commands.isEmpty()) {
                return pods.problem().isEmpty() ? "" : notEvicted + ".\n";
            }
            return notEvicted + ":\n" + commands;
        }

        private String text(Maintenance asked) {
            String which = asked.concernsAll() ? "all devices" : "devices " + String.join(",", asked.devices());
            String done = answer.isEmpty()
                    ? "The driver has not seen it yet; it will once it runs."
                    : answer.get().concerned() == 0 && !asked.concernsAll()
                            ? "No device of this node has such a name."
                            : !answer.get().published()
                                    ? "The taint is not in the cluster yet; see the driver's log and /readyz."
                                    : "The taint is in the cluster, or the devices are withdrawn.";
            return "Maintenance has been on since %s: %s of %s, taint %s with %s.\n%s\n%s"
                    .formatted(
                            asked.since(),
                            which,
                            driverName,
                            Maintenance.key(driverName),
                            asked.effect(),
                            done,
                            hardware(asked));
        }

        private String hardware(Maintenance asked) {
            if (answer.filter(Answer::suspended).isPresent()) {
                return "The driver has released its hardware.\n";
            }
            String hanging = answer.map(Answer::hanging).orElse(null);
            if (hanging != null) {
                return ("The driver can't release its hardware: %s. If this persists, restart the"
                                + " driver's pod, or reboot the node.\n")
                        .formatted(hanging);
            }
            return asked.concernsAll() && holders.isEmpty() ? "The driver has not released its hardware yet.\n" : "";
        }

        private static String text(HeldClaim claim, ClaimPods pods) {
            ClaimRef ref = claim.ref();
            return INDENT
                    + "%s/%s (%s): %s\n"
                            .formatted(
                                    ref.namespace(),
                                    ref.name(),
                                    pods.of(ref),
                                    claim.devices().stream()
                                            .map(device -> device.device().value())
                                            .collect(Collectors.joining(", ")));
        }
    }

    /** Returns the state of the current maintenance. */
    State now() {
        Optional<Maintenance> maintenance = files.read();
        // The answer is read first, so that claims prepared after the taint is in the cluster are seen.
        Optional<Answer> answer = maintenance.flatMap(files::answer);
        JournalReading journal = Journal.read(new DataDirectory(directory).journal(), "");
        return new State(
                driverName,
                maintenance,
                answer,
                journal.claims().stream()
                        .map(claim -> claim.held(claim.bootId()))
                        .filter(claim ->
                                maintenance.map(one -> one.concerns(claim)).orElse(true))
                        .toList());
    }

    /**
     * The pods for which claims are reserved, from the API server, if it can be reached.
     *
     * @param pods by claim, as text
     * @param notEvicted the claims whose pods this cluster does not evict, with the names of these pods
     * @param problem why some are unknown; empty if none is
     */
    record ClaimPods(Map<ClaimRef, String> pods, Map<ClaimRef, List<String>> notEvicted, String problem) {

        private static final Duration LIMIT = Duration.ofSeconds(5);
        private static final String EXTENDED_RESOURCE =
                "/metadata/annotations/resource.kubernetes.io~1extended-resource-claim";

        /** The first release that evicts pods whose claims were created for extended resources (#142289). */
        private static final int EVICTS_ALL = 38;

        private static final String NODE = "node"; // of no use here: claims have none

        /** Asks for the pods of claims. */
        static ClaimPods of(List<HeldClaim> claims, @Nullable Path kubeconfig, String driverName) {
            Map<ClaimRef, String> pods = new HashMap<>();
            Map<ClaimRef, List<String>> extended = new LinkedHashMap<>();
            if (!claims.isEmpty()) {
                try (Meters meters = Meters.global(driverName, NODE);
                        Cluster cluster = Cluster.connect(kubeconfig, driverName, NODE, meters)) {
                    for (HeldClaim claim : claims) {
                        String json = json(cluster.claimReader(), claim.ref());
                        pods.put(claim.ref(), json.isEmpty() ? "its object is deleted" : users(json));
                        if (isOfExtendedResource(json)) {
                            extended.put(claim.ref(), ClaimCodec.pods(json));
                        }
                    }
                    if (!extended.isEmpty() && evictsAll(cluster)) {
                        extended.clear();
                    }
                } catch (DraException e) {
                    String why =
                            String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                    return new ClaimPods(pods, extended, why);
                }
            }
            return new ClaimPods(pods, extended, "");
        }

        /** The pods of a claim, as text. */
        String of(ClaimRef claim) {
            return pods.getOrDefault(claim, "pods unknown");
        }

        private static boolean evictsAll(Cluster cluster) {
            return cluster.slices()
                    .kubernetes()
                    .filter(release -> !release.isBefore(1, EVICTS_ALL))
                    .isPresent();
        }

        /** Returns a claim from the API server; empty if it is deleted, and perhaps another has its name. */
        private static String json(ClaimReader reader, ClaimRef claim) {
            try {
                ClaimObject found = reader.read(claim, LIMIT);
                return found.uid().equals(claim.uid()) ? ClaimCodec.known(found.json()) : "";
            } catch (ClusterException.NotFound e) {
                return "";
            }
        }

        /** Returns what may use a claim: pods, or groups of them. */
        private static String users(String json) {
            Map<String, List<String>> names = new LinkedHashMap<>();
            for (JsonNode user : tree(json).at("/status/reservedFor")) {
                String group = user.path("apiGroup").asText();
                String resource = user.path("resource").asText();
                String kind = group.isEmpty() && resource.equals("pods") ? "pod" : resource + "." + group;
                names.computeIfAbsent(kind, key -> new ArrayList<>())
                        .add(user.path("name").asText());
            }
            return names.isEmpty()
                    ? "reserved for no pod"
                    : names.entrySet().stream()
                            .map(kind -> kind.getKey() + " " + String.join(", ", kind.getValue()))
                            .collect(Collectors.joining("; "));
        }

        private static boolean isOfExtendedResource(String json) {
            return !json.isEmpty() && tree(json).at(EXTENDED_RESOURCE).asText().equals("true");
        }

        private static JsonNode tree(String json) {
            try {
                return new JsonMapper().readTree(json);
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("The API server's claim is not JSON", e);
            }
        }
    }
}
