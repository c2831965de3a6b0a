// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.policy.Maintenance;
import io.dra4j.runtime.internal.policy.MaintenanceFiles;
import io.dra4j.runtime.internal.policy.MaintenanceFiles.Answer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The maintenance of a node as its files show it, from outside the driver.
 *
 * @param directory the driver's directory
 */
public record MaintenanceView(Path directory, String driverName, MaintenanceFiles files) {

    private static final String INDENT = "  ";

    /**
     * A maintenance and the claims that stand in its way, at a moment.
     *
     * @param holders the claims that hold devices concerned; all claims without a maintenance
     */
    public record State(
            String driverName, Optional<Maintenance> maintenance, Optional<Answer> answer, List<HeldClaim> holders) {

        public boolean isOutOfUse() {
            return holders.isEmpty() && maintenance.isPresent() && isAnswered(maintenance.get());
        }

        private boolean isAnswered(Maintenance asked) {
            return answer.filter(Answer::published).isPresent() && (answer.get().suspended() || !asked.concernsAll());
        }

        /**
         * Returns all of it for people.
         *
         * @param pods names the pods of a claim
         */
        public String text(ClaimPods pods) {
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
                    : "The claims end with their pods: delete or drain these, or run `maintenance" + " on --evict`.\n";
        }

        private static String byHand(ClaimPods pods) {
            String notEvicted = "Before Kubernetes 1.38, it does not evict pods that got their device by an extended"
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
                    ? "The driver has not seen it yet; it does so once it runs."
                    : !answer.get().published()
                            ? "The taint is not in the cluster yet; see the driver's log and" + " /readyz."
                            : "The taint is in the cluster, or the devices are withdrawn.";
            return "Maintenance is on since %s: %s of %s, taint %s with %s.\n%s\n%s"
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
                return "The driver has given its hardware back.\n";
            }
            String hanging = answer.map(Answer::hanging).orElse(null);
            if (hanging != null) {
                return ("The driver can't give its hardware back: %s. If that does not end, restart the"
                                + " driver's pod, or reboot the node.\n")
                        .formatted(hanging);
            }
            return asked.concernsAll() && holders.isEmpty() ? "The driver has not given its hardware back yet.\n" : "";
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

    /** Returns the state of the maintenance that there is. */
    public State now() {
        return state(files.read());
    }

    /** Returns the state of a maintenance that was asked for. */
    public State of(Maintenance asked) {
        return state(Optional.of(asked));
    }

    private State state(Optional<Maintenance> maintenance) {
        // The answer comes first: what is prepared after the taint is in the cluster, is seen.
        Optional<Answer> answer = maintenance.flatMap(files::answer);
        List<HeldClaim> held = Journal.held(directory.resolve(DataDirectory.JOURNAL));
        return new State(
                driverName,
                maintenance,
                answer,
                held.stream()
                        .filter(claim ->
                                maintenance.map(one -> one.concerns(claim)).orElse(true))
                        .toList());
    }
}
