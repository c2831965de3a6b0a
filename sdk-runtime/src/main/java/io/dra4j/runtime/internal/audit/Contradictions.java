// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Result;
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
}
