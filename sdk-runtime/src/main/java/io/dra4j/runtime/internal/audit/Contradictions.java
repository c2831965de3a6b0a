// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** All contradictions that are looked for on a node of any driver. */
final class Contradictions {

    private static final Map<String, Function<Views, Result>> ALL = all();

    private Contradictions() {}

    private static Map<String, Function<Views, Result>> all() {
        Map<String, Function<Views, Result>> all = new LinkedHashMap<>();
        all.put("journal-damaged", JournalAlone::damaged);
        all.put("claim-damaged", JournalAlone::heldAsDamaged);
        all.put("claim-unfinished", JournalAlone::unfinished);
        all.put("earlier-boot", JournalAlone::earlierBoot);
        all.put("device-held-twice", JournalAlone::heldTwice);
        all.put("spec-missing", JournalAndSpecs::missing);
        all.put("spec-lacks-device", JournalAndSpecs::lacksDevice);
        all.put("spec-unknown", JournalAndSpecs::unknown);
        all.put("kubelet-state-damaged", JournalAndKubelet::damaged);
        all.put("kubelet-forgot", JournalAndKubelet::forgot);
        all.put("journal-lacks-claim", JournalAndKubelet::unknown);
        all.put("claim-gone", JournalAndClaims::gone);
        all.put("claim-deleted-in-use", JournalAndClaims::deletedInUse);
        all.put("claim-replaced", JournalAndClaims::replaced);
        all.put("devices-differ", JournalAndClaims::differ);
        all.put("device-gone", JournalAndHardware::gone);
        all.put("device-other-hardware", JournalAndHardware::other);
        all.put("other-checkpoint", JournalAndOther::left);
        return all;
    }

    /** Returns the ids of the checks, in their order. */
    static List<String> ids() {
        return List.copyOf(ALL.keySet());
    }

    /** Returns the checks of a node's views. */
    static List<Check> of(Views views) {
        List<Check> checks = new ArrayList<>();
        ALL.forEach((id, look) -> checks.add(new ViewCheck(id, look, views)));
        return checks;
    }

    private record ViewCheck(String id, Function<Views, Result> view, Views views) implements Check {

        @Override
        public Result look() {
            return view.apply(views);
        }
    }

    /** Contradictions between the journal and the checkpoint of a driver in Go. */
    private static final class JournalAndOther {

        private JournalAndOther() {}

        /**
         * Finds claims that only the other driver knows.
         *
         * @throws NotCheckedException if the file can't be read
         */
        static Result left(Views views) {
            OtherCheckpoint other = views.other().get();
            Path file = views.driver().checkpoint();
            if (!other.damage().isEmpty()) {
                return new Result("", List.of(damaged(views, file, other.damage())));
            }
            List<Finding> findings = other.uids().stream()
                    .filter(uid -> !views.isRecorded(uid))
                    .map(uid -> left(views, file, uid))
                    .toList();
            return Words.result(findings, other.uids().size(), "claim");
        }

        private static Finding damaged(Views views, Path file, String damage) {
            return new Finding(
                    "other-checkpoint",
                    Severity.WARNING,
                    file.toString(),
                    damage,
                    "a driver in Go that comes back does not start with it, or loses its claims",
                    removal(views, file));
        }

        private static Finding left(Views views, Path file, String uid) {
            return new Finding(
                    "other-checkpoint",
                    Severity.WARNING,
                    "claim " + uid,
                    "%s lists it as prepared by a driver in Go, and the journal does not have it".formatted(file),
                    "this driver can't refuse its devices to others; a driver in Go that comes back"
                            + " takes it for prepared",
                    removal(views, file));
        }

        /** Removes the file once no pod has a claim that it alone may list. */
        private static List<String> removal(Views views, Path file) {
            String node = views.driver().node();
            return List.of(
                    "kubectl drain %s --ignore-daemonsets --delete-emptydir-data".formatted(node),
                    "sudo rm " + file,
                    "kubectl uncordon " + node);
        }
    }
}
